import { parseAbi } from 'viem';

/** Views by which savings tokens publish their growth per second in ray (1e27). The catalog names the view of each token. */
export const savingsRateAbi = parseAbi([
  'function str() view returns (uint256)',
  'function vsr() view returns (uint256)',
]);
