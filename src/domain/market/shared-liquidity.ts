import type { MarketId } from '../../shared/ids.ts';
import type { ChainFacts, SharedLiquidity } from '../facts.ts';
import { accrue } from './accrue.ts';

/**
 * Sum what the public allocator can bring into a market, loan base units. Vaults can withdraw no more from a market than it
 * has idle, all of them together: what the indexer says beyond that is not counted. A market that is not measured here
 * bounds nothing.
 */
export function sharedAssetsOf(
  { sources }: SharedLiquidity,
  states: ChainFacts['groups']['lendingState']['items'],
): bigint {
  const byMarket = new Map<MarketId, bigint>();
  for (const { withdrawMarketId, assets } of sources) {
    byMarket.set(withdrawMarketId, (byMarket.get(withdrawMarketId) ?? 0n) + assets);
  }
  let sum = 0n;
  for (const [marketId, assets] of byMarket) {
    const state = states.get(marketId)?.value;
    const totals = state && accrue(state);
    const idle = totals && totals.totalSupplyAssets - totals.totalBorrowAssets;
    sum += idle !== undefined && idle < assets ? (idle > 0n ? idle : 0n) : assets;
  }
  return sum;
}
