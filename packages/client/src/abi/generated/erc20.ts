// Generated from src/abi by `npm run generate`.

/** ABI of the ERC-20 functions that plans call and previews read. */
export const erc20Abi = [
  {"name":"approve","type":"function","stateMutability":"nonpayable","inputs":[{"type":"address","name":"spender"},{"type":"uint256","name":"amount"}],"outputs":[]},
  {"name":"allowance","type":"function","stateMutability":"view","inputs":[{"type":"address","name":"owner"},{"type":"address","name":"spender"}],"outputs":[{"type":"uint256"}]},
  {"name":"balanceOf","type":"function","stateMutability":"view","inputs":[{"type":"address","name":"account"}],"outputs":[{"type":"uint256"}]},
  {"name":"decimals","type":"function","stateMutability":"view","inputs":[],"outputs":[{"type":"uint8"}]},
  {"name":"symbol","type":"function","stateMutability":"view","inputs":[],"outputs":[{"type":"string"}]},
  {"name":"Transfer","type":"event","inputs":[{"type":"address","name":"from","indexed":true},{"type":"address","name":"to","indexed":true},{"type":"uint256","name":"value"}]},
] as const;
