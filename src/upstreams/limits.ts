import type { BudgetRules, Limits, Shares } from './budget.ts';

export const PROVIDERS = [
  'pendle',
  'defillamaYields',
  'defillamaCoins',
  'stablewatch',
  'royco',
  'merkl',
  'coingecko',
  'geckoterminal',
  'kyberswap',
  'openocean',
  'morphoApi',
] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** What a provider permits, in the unit in which it counts. */
export interface ProviderPlan {
  readonly publicName: string;
  readonly unit: 'requests' | 'computing units';
  /** Limits of its public tier, without a key. */
  readonly keyless: Limits;
  /** Limits with a key, where they are known; larger plans are stated by its headers or by the setting. */
  readonly keyed?: Limits | undefined;
  readonly shares?: Shares | undefined;
  /** Whether the limits are published; otherwise they are an estimate that is kept to. */
  readonly isPublished: boolean;
}

/**
 * The limits of every provider. Of the swap venue that also measures exits, sweeps use three tenths, so that quotes always have
 * seven. Of the prices of a month, refreshes use seven tenths and charts of readers three.
 */
export const PLANS: Readonly<Record<ProviderName, ProviderPlan>> = {
  pendle: {
    publicName: 'YieldMarket',
    unit: 'computing units',
    keyless: { minute: 100, week: 200_000 },
    shares: { background: 0.1 },
    isPublished: true,
  },
  defillamaYields: estimated('aggregator', { minute: 60 }),
  defillamaCoins: estimated('defillama', { minute: 60 }),
  stablewatch: estimated('stableindex', { minute: 60 }),
  royco: estimated('incentivemarket', { minute: 60 }),
  merkl: estimated('incentives', { minute: 120 }),
  coingecko: {
    publicName: 'coingecko',
    unit: 'requests',
    keyless: { minute: 10, month: 10_000 },
    keyed: { minute: 100, month: 10_000 },
    shares: { background: 0.7, waiting: 0.3, unlisted: 0.1 },
    isPublished: true,
  },
  geckoterminal: {
    publicName: 'geckoterminal',
    unit: 'requests',
    keyless: { minute: 30 },
    shares: { unlisted: 0.5 },
    isPublished: true,
  },
  kyberswap: {
    publicName: 'AggregatorOne',
    unit: 'requests',
    keyless: { '10s': 30 },
    shares: { background: 0.3 },
    isPublished: true,
  },
  openocean: estimated('AggregatorTwo', { minute: 600 }),
  morphoApi: estimated('indexer', { minute: 60 }),
};

function estimated(publicName: string, keyless: Limits): ProviderPlan {
  return { publicName, unit: 'requests', keyless, isPublished: false };
}

/**
 * The rules of a provider's budget.
 * @param given limits that the operator has set; the provider can lower them, not raise them
 */
export function rulesOf(name: ProviderName, apiKey: string | undefined, given: Limits | undefined): BudgetRules {
  const { keyless, keyed = keyless, shares } = PLANS[name];
  return { limits: given ?? (apiKey === undefined ? keyless : keyed), shares, isSet: given !== undefined };
}
