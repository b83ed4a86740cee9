import { parseAbi } from 'viem';

/**
 * ABI of `contracts/product/WalletExecutor.sol`, which runs calls as a wallet when a state override puts its code at the
 * wallet's address.
 */
export const walletExecutorAbi = parseAbi([
  'struct Step { address to; uint256 value; bytes data; bool isRead; uint256 tailOf; uint256 tailWord; }',
  'struct Result { bool ok; uint256 gasUsed; bytes data; }',
  'function run(Step[] steps) returns (uint256 timestamp, Result[] results)',
]);
