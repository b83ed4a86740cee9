import { parseAbi } from 'viem';

/** Views by which savings tokens publish their growth per second in ray (1e27); which token has which is catalog data. */
export const savingsRateAbi = parseAbi([
  'function str() view returns (uint256)',
  'function vsr() view returns (uint256)',
]);
