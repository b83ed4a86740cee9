import { parseAbi } from 'viem';

/** ABI of a Morpho Blue oracle: loan base units per collateral base unit, scaled by 1e36. */
export const oracleAbi = parseAbi(['function price() view returns (uint256)']);
