import type { Catalog, Chain, Market } from '../../catalog/types.ts';
import type { MarketId } from '../../shared/ids.ts';
import type { Sightings } from '../drift/types.ts';
import type { ChainFacts } from '../facts.ts';
import type { Gap } from '../freshness/types.ts';
import { type MarketValues, marketsAtReadings } from '../market/at-block.ts';
import type { ComposedChain } from '../market/types.ts';
import type { WalletHoldings } from '../position/types.ts';
import { type MarketRewards, marketRewards } from './incentives.ts';

/** Input for composing any wallet of a chain, made once per reading. */
export interface PortfolioContext {
  readonly chain: Chain;
  /** The values of markets at the block of a reading. */
  marketsAt(at: WalletHoldings['markets']): MarketValues;
  /** Whether a market is configured on another chain. */
  isElsewhere(marketId: MarketId): boolean;
  market(id: MarketId): Market | undefined;
  rewards(marketId: MarketId): MarketRewards | Gap;
  readonly sightings: Sightings;
}

/** Gather the input for composing the wallets of a chain from one version of its facts. */
export function portfolioContext(
  catalog: Catalog,
  chain: Chain,
  composed: ComposedChain,
  facts: ChainFacts,
  sightings: Sightings,
): PortfolioContext {
  const others = catalog.chainIds.filter((chainId) => chainId !== chain.chainId);
  const markets = new Map(chain.markets.map((market) => [market.id, market] as const));
  const rewards = new Map<MarketId, MarketRewards | Gap>();
  return {
    chain,
    marketsAt: marketsAtReadings(composed),
    isElsewhere: (marketId) => others.some((chainId) => catalog.market(chainId, marketId) !== undefined),
    market: (marketId) => markets.get(marketId),
    rewards: (marketId) => {
      const found = rewards.get(marketId) ?? marketRewards(facts, marketId);
      rewards.set(marketId, found);
      return found;
    },
    sightings,
  };
}
