import { parseAbi } from 'viem';

/** `contracts/product/WalletExecutor.sol`: runs calls as a wallet, where its code is put by state override. */
export const walletExecutorAbi = parseAbi([
  'struct Step { address to; uint256 value; bytes data; bool isRead; uint256 tailOf; uint256 tailWord; }',
  'struct Result { bool ok; uint256 gasUsed; bytes data; }',
  'function run(Step[] steps) returns (uint256 timestamp, Result[] results)',
]);
