import { parseAbi } from 'viem';

/* The contracts as the chain has them, apart from those of the product's sources. */

export const morphoAbi = parseAbi([
  'function market(bytes32) view returns (uint128 totalSupplyAssets, uint128 totalSupplyShares, uint128 totalBorrowAssets, uint128 totalBorrowShares, uint128 lastUpdate, uint128 fee)',
  'function position(bytes32, address) view returns (uint256 supplyShares, uint128 borrowShares, uint128 collateral)',
]);
export const irmAbi = parseAbi(['function rateAtTarget(bytes32) view returns (int256)']);
export const oracleAbi = parseAbi(['function price() view returns (uint256)']);
export const behindAbi = parseAbi([
  'function BASE_VAULT() view returns (address)',
  'function BASE_FEED_1() view returns (address)',
  'function description() view returns (string)',
]);
export const proxyAbi = parseAbi(['function s_user() view returns (address)']);
export const flashLeverageAbi = parseAbi([
  'function LIQUIDATION_BUFFER() view returns (uint256)',
  'function s_yieldFee() view returns (uint256)',
  'function s_depositFee() view returns (uint256)',
  'function s_isCorrelated(bytes32) view returns (bool)',
  'function getUserLeveragePositions(address) view returns ((bool open, bytes32 marketId, address userProxy, uint256 amountDepositedInLoanToken, uint256 amountReturnedInLoanToken)[])',
]);
export const rateAbi = parseAbi(['function str() view returns (uint256)', 'function vsr() view returns (uint256)']);
