// Generated from src/abi by `npm run generate`.

/** ABI of the contract that holds one position of FlashLeverage. */
export const userProxyAbi = [
  {"name":"s_user","type":"function","stateMutability":"view","inputs":[],"outputs":[{"type":"address"}]},
  {"name":"s_manualMode","type":"function","stateMutability":"view","inputs":[],"outputs":[{"type":"bool"}]},
  {"name":"execute","type":"function","stateMutability":"nonpayable","inputs":[{"type":"bytes","name":"data"}],"outputs":[{"type":"bytes"}]},
] as const;
