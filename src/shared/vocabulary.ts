/** Closed word lists of the contract, which the catalog's data, the domain and the answers share. */
export const COLLATERAL_CATEGORIES = ['stable', 'ETH', 'BTC', 'stable-PT', 'stocks', 'Other'] as const;
export const APY_SOURCES = ['yieldmarket', 'aggregator', 'incentivemarket', 'stableindex', 'onchain', 'none'] as const;
export const SWAP_SOURCES = ['AggregatorOne', 'AggregatorTwo', 'YieldMarket'] as const;
