import { parseAbi } from 'viem';

/** ABI of Morpho Blue, as far as lending state, positions and authorizations are read, and authorizations built. */
export const morphoBlueAbi = parseAbi([
  'function market(bytes32 id) view returns (uint128 totalSupplyAssets, uint128 totalSupplyShares, uint128 totalBorrowAssets, uint128 totalBorrowShares, uint128 lastUpdate, uint128 fee)',
  'function position(bytes32 id, address user) view returns (uint256 supplyShares, uint128 borrowShares, uint128 collateral)',
  'function isAuthorized(address authorizer, address authorized) view returns (bool)',
  'function setAuthorization(address authorized, bool newIsAuthorized)',
  'function idToMarketParams(bytes32 id) view returns (address loanToken, address collateralToken, address oracle, address irm, uint256 lltv)',
]);
