import { parseAbi } from 'viem';

/**
 * The views by which Morpho's Chainlink oracles name their feeds, those of the second version also the vaults whose conversion
 * rate is in the price. The zero address means none.
 */
export const feedOracleAbi = parseAbi([
  'function BASE_VAULT() view returns (address)',
  'function QUOTE_VAULT() view returns (address)',
  'function BASE_FEED_1() view returns (address)',
  'function BASE_FEED_2() view returns (address)',
  'function QUOTE_FEED_1() view returns (address)',
  'function QUOTE_FEED_2() view returns (address)',
]);

/** ABI of a price feed. `updatedAt` is unix seconds. */
export const aggregatorAbi = parseAbi([
  'function description() view returns (string)',
  'function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)',
]);
