import type { MarketId } from '../../shared/ids.ts';
import type { ChainFacts, SharedLiquidity } from '../facts.ts';
import { accrue } from './accrue.ts';

/**
 * Sum the liquidity that the public allocator can move into a market, loan base units. All vaults together can withdraw no
 * more from a source market than its idle liquidity, so the indexer's sum per source is capped by that. A source market that
 * is not in the catalog has no cap.
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
