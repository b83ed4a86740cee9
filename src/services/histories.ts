import type { Catalog } from '../catalog/types.ts';
import { incentiveRecord } from '../domain/apy/campaigns.ts';
import type { FreshnessBudgets } from '../domain/facts.ts';
import type { HistoryRange, HistorySeries, HistorySource } from '../loaders/history.ts';
import { HUNDRED } from '../shared/decimal.ts';
import type { ChainId, MarketId } from '../shared/ids.ts';
import { pointsOf, type RatePoint } from '../shared/rate-history.ts';
import type { SnapshotReader } from '../snapshot/types.ts';
import type { RecordedRates } from './recorded-rates.ts';

export interface HistoriesDeps {
  readonly catalog: Pick<Catalog, 'market'>;
  readonly snapshot: Pick<SnapshotReader, 'facts'>;
  readonly recorded: RecordedRates;
  readonly budgets: FreshnessBudgets;
}

const DAY_MS = 86_400_000;

/**
 * Read recorded histories. Borrow APY: our own hourly samples, and for days without any the daily points of the snapshot,
 * which the indexer back-filled. Collateral APY and incentive APR: the series that their sources publish.
 */
export function createHistories({ catalog, snapshot, recorded, budgets }: HistoriesDeps): HistorySource {
  const collateralApy = (chainId: ChainId, id: MarketId, range: HistoryRange): HistorySeries | null => {
    const token = catalog.market(chainId, id)?.collateral;
    const fact = token && snapshot.facts(chainId).groups.collateralApy.items.get(token.address);
    if (!token || !fact) return null;
    const { apyPct, history } = fact.value;
    return {
      points: within(history === undefined ? [{ atMs: fact.asOfMs, ratePct: apyPct }] : pointsOf(history), range),
      sources: [fact.source],
      stamp: { asOfMs: fact.asOfMs, staleAfterSec: budgets.collateralApy[token.apySource] },
    };
  };

  const incentiveApr = (chainId: ChainId, id: MarketId, range: HistoryRange): HistorySeries | null => {
    const fact = snapshot.facts(chainId).groups.incentiveHistory.items.get(id);
    if (!fact) return null;
    const { steps, unknown } = incentiveRecord(fact.value, 'borrow');
    // An end that is only announced is not recorded yet, and a step where some campaign is not known would say too little.
    const known = steps.filter(
      ({ atMs }) => atMs <= fact.asOfMs && !unknown.some((span) => span.fromMs <= atMs && atMs < span.toMs),
    );
    return {
      points: within(
        known.map(({ atMs, aprPct }) => ({ atMs, ratePct: aprPct })),
        range,
      ),
      sources: [fact.source],
      stamp: { asOfMs: fact.asOfMs, staleAfterSec: budgets.incentiveHistory },
    };
  };

  const borrowApy = async (
    chainId: ChainId,
    ids: readonly MarketId[],
    range: HistoryRange,
  ): Promise<ReadonlyMap<MarketId, HistorySeries>> => {
    const recordings = await recorded.read(chainId, ids, range);
    const { borrowHistory, lendingState } = snapshot.facts(chainId).groups;
    const series = new Map<MarketId, HistorySeries>();
    for (const id of ids) {
      const recording = recordings.get(id);
      const own = (recording?.rates ?? []).map(({ atMs, borrowApy: fraction }) => ({
        atMs,
        ratePct: fraction.times(HUNDRED),
      }));
      const fact = borrowHistory.items.get(id);
      const ownDays = new Set(own.map(({ atMs }) => dayOf(atMs)));
      const filled = (fact ? pointsOf(fact.value.points) : []).filter(({ atMs }) => !ownDays.has(dayOf(atMs)));
      const points = within(
        [...filled, ...own].sort((a, b) => a.atMs - b.atMs),
        range,
      );
      const newest = lendingState.items.get(id);
      if (points.length === 0 && !newest) continue;
      series.set(id, {
        points,
        sources: [
          ...new Set([...(filled.length > 0 && fact ? [fact.source] : []), ...(own.length > 0 ? ['chain'] : [])]),
        ],
        stamp: {
          // Of a series that was read before, nothing is known since.
          asOfMs: Math.min(
            recording?.rememberedAtMs ?? Number.POSITIVE_INFINITY,
            newest?.asOfMs ?? points.at(-1)?.atMs ?? 0,
          ),
          staleAfterSec: budgets.borrowHistory,
        },
      });
    }
    return series;
  };

  return {
    async read(kind, chainId, marketIds, range) {
      if (kind === 'borrowApy') return borrowApy(chainId, marketIds, range);
      const read = kind === 'collateralApy' ? collateralApy : incentiveApr;
      const entries = marketIds.flatMap((id) => {
        const found = read(chainId, id, range);
        return found ? [[id, found] as const] : [];
      });
      return new Map(entries);
    },
  };
}

function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

function within(points: readonly RatePoint[], { fromMs, toMs }: HistoryRange): RatePoint[] {
  return points.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
}
