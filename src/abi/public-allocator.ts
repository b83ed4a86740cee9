import { parseAbi } from 'viem';

/** ABI of the protocol's public allocator: the functions for reallocations, and its errors for messages. */
export const publicAllocatorAbi = parseAbi([
  'function fee(address vault) view returns (uint256)',
  'function flowCaps(address vault, bytes32 id) view returns (uint128 maxIn, uint128 maxOut)',

  'error IncorrectFee()',
  'error MarketNotEnabled(bytes32 id)',
  'error WithdrawZero(bytes32 id)',
  'error InconsistentWithdrawals()',
  'error DepositMarketInWithdrawals()',
  'error MaxOutflowExceeded(bytes32 id)',
  'error MaxInflowExceeded(bytes32 id)',
  'error NotEnoughSupply(bytes32 id)',
]);
