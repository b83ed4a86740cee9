import { parseAbi } from 'viem';

/** ABI of Morpho Blue, as far as lending state is read. */
export const morphoBlueAbi = parseAbi([
  'function market(bytes32 id) view returns (uint128 totalSupplyAssets, uint128 totalSupplyShares, uint128 totalBorrowAssets, uint128 totalBorrowShares, uint128 lastUpdate, uint128 fee)',
]);
