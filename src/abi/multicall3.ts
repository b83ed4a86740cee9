import { parseAbi } from 'viem';

/** ABI of Multicall3: many reads in one call, each of which may fail alone, and the block of the call. */
export const multicall3Abi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
  'function getCurrentBlockTimestamp() view returns (uint256 timestamp)',
  'function getEthBalance(address addr) view returns (uint256 balance)',
  'function getChainId() view returns (uint256 chainid)',
]);
