import type { Chain } from '../catalog/types.ts';
import type { BorrowHistory, FailureReason } from '../domain/facts.ts';
import { isSuspectRate } from '../domain/plausibility/suspect.ts';
import type { Clock } from '../shared/clock.ts';
import { type Decimal, HUNDRED } from '../shared/decimal.ts';
import type { RatePoint } from '../shared/rate-history.ts';
import type { Batch, LendingIndexerPort } from '../upstreams/types.ts';
import { reasonOf, refreshGroup, type Snapshot } from './refresh.ts';
import { continueSeries } from './series.ts';
import { INDEXER_SOURCE } from './shared-liquidity.ts';
import type { DailyBorrowRate, ReadBorrowHistory, Warmer } from './types.ts';

export interface BorrowHistoryDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  readonly readBorrowHistory: ReadBorrowHistory;
}

/** Public name of our own samples, which are readings of the chain. */
const SAMPLES_SOURCE = 'chain';

/**
 * Create the warmer of borrow-rate histories: our own daily means, and the indexer for days without samples. Either source
 * alone is enough. Known days are never lost when a source fails.
 */
export function createBorrowHistoryWarmer(
  deps: BorrowHistoryDeps,
  chain: Chain,
  port: LendingIndexerPort,
  everySec: number,
): Warmer {
  const { chainId } = chain;
  const keys = chain.markets.map((market) => market.id);
  return {
    name: `borrow-history:${chainId}`,
    groups: ['borrowHistory'],
    everySec,
    phase: 2,
    run: async (signal) => {
      const [samples, backfill] = await Promise.allSettled([
        deps.readBorrowHistory(chainId),
        port.borrowHistory(chain, keys, { signal }),
      ]);
      const own = ownHistories(samples.status === 'fulfilled' ? samples.value : []);
      const theirs = backfill.status === 'fulfilled' ? backfill.value : failedBatch(keys, backfill.reason);
      const report = await refreshGroup(deps, {
        everySec,
        chainId,
        group: 'borrowHistory',
        keys,
        source: INDEXER_SOURCE,
        signal,
        ask: async () => {
          if (samples.status === 'rejected' && backfill.status === 'rejected') throw backfill.reason;
          return {
            values: new Map(keys.flatMap((key) => historyOf(own.get(key), theirs.values.get(key), key))),
            failures: theirs.failures,
            sourceOf: (key) => (own.has(key) ? SAMPLES_SOURCE : INDEXER_SOURCE),
          };
        },
        doubt: (_fresh, lastGood, key) => doubtDays(theirs.values.get(key), own.get(key), lastGood),
        combine: (fresh, lastGood) => ({ points: continueSeries(fresh.points, lastGood?.points ?? fresh.points) }),
      });
      // The own samples are published; the run still counts as failed, so that the indexer is retried.
      if (backfill.status === 'rejected') throw backfill.reason;
      if (samples.status === 'rejected') throw samples.reason;
      return report;
    },
  };
}

function historyOf<K extends string>(
  own: BorrowHistory | undefined,
  theirs: BorrowHistory | undefined,
  key: K,
): readonly (readonly [K, BorrowHistory])[] {
  const points = continueSeries(own?.points, theirs?.points);
  return points === undefined ? [] : [[key, { points }]];
}

/**
 * A history awaits confirmation when it differs on known days, or, without known days, when it is far from our own newest
 * sample. The newest day of either is incomplete and may change.
 */
function doubtDays(
  theirs: BorrowHistory | undefined,
  own: BorrowHistory | undefined,
  lastGood: BorrowHistory | undefined,
): Decimal | undefined {
  const points = theirs === undefined ? [] : theirs.points;
  const newest = points.at(-1);
  if (newest === undefined) return undefined;
  const known = new Map((lastGood === undefined ? [] : lastGood.points.slice(0, -1)).map((p) => [p.atMs, p]));
  const both = points.slice(0, -1).flatMap(({ atMs, ratePct }) => {
    const before = known.get(atMs)?.ratePct;
    return before === undefined ? [] : [{ before, ratePct }];
  });
  const isContradicted = both.some(({ before, ratePct }) => isSuspectRate(ratePct, before, undefined));
  const sampled = own === undefined ? undefined : own.points.at(-1)?.ratePct;
  const isFarFromOurs = both.length === 0 && sampled !== undefined && isSuspectRate(newest.ratePct, sampled, undefined);
  return isContradicted || isFarFromOurs ? newest.ratePct : undefined;
}

function ownHistories(rates: readonly DailyBorrowRate[]): ReadonlyMap<string, BorrowHistory> {
  const points = new Map<string, RatePoint[]>();
  for (const { marketId, dayMs, borrowApy } of rates) {
    const known = points.get(marketId) ?? [];
    known.push({ atMs: dayMs, ratePct: borrowApy.times(HUNDRED) });
    points.set(marketId, known);
  }
  return new Map([...points].map(([marketId, days]) => [marketId, { points: days }]));
}

function failedBatch(keys: readonly string[], error: unknown): Batch<BorrowHistory> {
  const reason: FailureReason = reasonOf(error);
  return { values: new Map(), failures: new Map(keys.map((key) => [key, reason])) };
}
