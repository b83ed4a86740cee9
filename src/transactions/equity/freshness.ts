import { renderStamp } from '../../domain/freshness/stamp.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import { StaleDataError } from '../errors.ts';

/** Refuse to build on market state or oracle values past their budget. @throws StaleDataError naming the first */
export function requireFreshMarkets(markets: readonly ComposedMarket[], nowMs: number): void {
  for (const { stamps } of markets) {
    for (const [group, stamp] of [
      ['lendingState', stamps.borrow],
      ['oracle', stamps.oracle],
    ] as const) {
      const { asOf, staleAfterSec, staleForSec } = renderStamp(stamp, nowMs);
      if (staleForSec !== undefined) throw new StaleDataError({ group, asOf, staleAfterSec, staleForSec });
    }
  }
}
