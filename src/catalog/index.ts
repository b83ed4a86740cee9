import ethereum from './data/ethereum.json' with { type: 'json' };
import robinhood from './data/robinhood.json' with { type: 'json' };
import type { ChainData } from './schema.ts';

export { CatalogError, createCatalog } from './catalog.ts';
export { computeMarketId } from './market-id.ts';
export * from './schema.ts';
export * from './types.ts';

/** The curated rows of the chains that the product serves. */
export const curatedChains = [ethereum, robinhood] as readonly ChainData[];
export { withSecondAggregator } from './second-aggregator.ts';
