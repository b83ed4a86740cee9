import type { Catalog } from '../catalog/types.ts';
import type { MarketSampleRepository } from '../database/market-samples.ts';
import type { RateSample, SampleRepository } from '../database/samples.ts';
import { incentiveRecord } from '../domain/apy/campaigns.ts';
import type { FreshnessBudgets } from '../domain/facts.ts';
import { wholePrice } from '../domain/position/valuation.ts';
import type { HistoryRange, HistorySeries, HistorySource } from '../loaders/history.ts';
import { fromUnits, HUNDRED, ZERO } from '../shared/decimal.ts';
import type { ChainId, MarketId } from '../shared/ids.ts';
import type { RatePoint } from '../shared/rate-history.ts';
import type { SnapshotReader } from '../snapshot/types.ts';
import type { RecordedRates } from './recorded-rates.ts';

export interface HistoriesDeps {
  readonly catalog: Pick<Catalog, 'market'>;
  readonly snapshot: Pick<SnapshotReader, 'facts'>;
  readonly recorded: RecordedRates;
  readonly samples: Pick<SampleRepository, 'readHourly'>;
  readonly marketSamples: Pick<MarketSampleRepository, 'since'>;
  readonly budgets: FreshnessBudgets;
}

const DAY_MS = 86_400_000;

/**
 * Read recorded histories. Borrow APY: our own hourly samples, and on days without any the daily points of the snapshot from
 * the indexer. Collateral APY and incentive APR: the series of their sources. Everything else: our own hourly samples. The age
 * of a history is that of its newest point, not of its request.
 */
export function createHistories(deps: HistoriesDeps): HistorySource {
  const { catalog, snapshot, recorded, budgets } = deps;
  const collateralApy = (chainId: ChainId, id: MarketId, range: HistoryRange): HistorySeries | null => {
    const token = catalog.market(chainId, id)?.collateral;
    const fact = token && snapshot.facts(chainId).groups.collateralApy.items.get(token.address);
    if (!token || !fact) return null;
    const { apyPct, history } = fact.value;
    return {
      points: within(history === undefined ? [{ atMs: fact.asOfMs, ratePct: apyPct }] : history, range),
      sources: [fact.source],
      stamp: {
        asOfMs: history?.at(-1)?.atMs ?? fact.asOfMs,
        staleAfterSec: history === undefined ? budgets.collateralApy[token.apySource] : budgets.dailyHistory,
      },
    };
  };

  const incentiveApr = (chainId: ChainId, id: MarketId, range: HistoryRange): HistorySeries | null => {
    const { incentiveHistory, incentives } = snapshot.facts(chainId).groups;
    const fact = incentiveHistory.items.get(id);
    if (!fact) return null;
    const live = incentives.items.get(id);
    const observedMs = Math.max(fact.asOfMs, live?.asOfMs ?? 0);
    const { steps, unknown } = incentiveRecord(fact.value, 'borrow');
    // An announced end is not recorded yet, and a step during an unknown campaign would be too low.
    const known = steps.filter(
      ({ atMs }) => atMs <= observedMs && !unknown.some((span) => span.fromMs <= atMs && atMs < span.toMs),
    );
    // A step holds until the next one: its age is that of the listing that confirms it, otherwise its own.
    const paid = live?.value.borrow.reduce((sum, { aprPct }) => sum.plus(aprPct), ZERO);
    const confirmedMs = live && paid?.eq(known.at(-1)?.aprPct ?? ZERO) ? live.asOfMs : null;
    return {
      points: within(
        known.map(({ atMs, aprPct }) => ({ atMs, ratePct: aprPct })),
        range,
      ),
      sources: [fact.source],
      stamp:
        confirmedMs === null
          ? { asOfMs: known.at(-1)?.atMs ?? fact.asOfMs, staleAfterSec: budgets.dailyHistory }
          : { asOfMs: Math.min(confirmedMs, fact.asOfMs), staleAfterSec: budgets.incentiveHistory },
    };
  };

  const borrowApy = async (
    chainId: ChainId,
    ids: readonly MarketId[],
    range: HistoryRange,
  ): Promise<ReadonlyMap<MarketId, HistorySeries>> => {
    const recordings = await recorded.read(chainId, ids, range);
    const { borrowHistory } = snapshot.facts(chainId).groups;
    const series = new Map<MarketId, HistorySeries>();
    for (const id of ids) {
      const own = (recordings.get(id) ?? []).map(({ atMs, borrowApy: fraction }) => ({
        atMs,
        ratePct: fraction.times(HUNDRED),
      }));
      const fact = borrowHistory.items.get(id);
      const ownDays = new Set(own.map(({ atMs }) => dayOf(atMs)));
      const daily = fact ? fact.value.points : [];
      const filled = daily.filter(({ atMs }) => !ownDays.has(dayOf(atMs)));
      const hourlyMs = own.at(-1)?.atMs ?? 0;
      const dailyMs = fact?.value.points.at(-1)?.atMs ?? 0;
      if (hourlyMs === 0 && dailyMs === 0) continue;
      series.set(id, {
        points: within(
          [...filled, ...own].sort((a, b) => a.atMs - b.atMs),
          range,
        ),
        sources: [
          ...new Set([...(filled.length > 0 && fact ? [fact.source] : []), ...(own.length > 0 ? ['chain'] : [])]),
        ],
        stamp: {
          asOfMs: Math.max(hourlyMs, dailyMs),
          staleAfterSec: hourlyMs > dailyMs ? budgets.borrowHistory : budgets.dailyHistory,
        },
      });
    }
    return series;
  };

  return {
    async read(kind, chainId, marketIds, range) {
      if (kind === 'borrowApy') return borrowApy(chainId, marketIds, range);
      if (kind === 'utilization' || kind === 'liquidity') return ofState(deps, kind, chainId, marketIds, range);
      if (kind === 'collateralPrice') return ofPrice(deps, chainId, marketIds, range);
      const read = kind === 'collateralApy' ? collateralApy : incentiveApr;
      const entries = marketIds.flatMap((id) => {
        const found = read(chainId, id, range);
        return found ? [[id, found] as const] : [];
      });
      return new Map(entries);
    },
  };
}

type Series = ReadonlyMap<MarketId, HistorySeries>;

/** A series of our own samples; `null` = none was kept since the begin of the range. */
function ownSeries(points: readonly RatePoint[], range: HistoryRange, budgets: FreshnessBudgets): HistorySeries | null {
  const newest = points.at(-1);
  if (!newest) return null;
  return {
    points: within(points, range),
    sources: ['chain'],
    stamp: { asOfMs: newest.atMs, staleAfterSec: budgets.borrowHistory },
  };
}

/** Utilization or liquidity of markets, in one statement. Samples after the range are read for its age. */
async function ofState(
  { samples, catalog, budgets }: HistoriesDeps,
  kind: 'utilization' | 'liquidity',
  chainId: ChainId,
  ids: readonly MarketId[],
  range: HistoryRange,
): Promise<Series> {
  const read = await samples.readHourly(chainId, ids, { fromMs: range.fromMs });
  return present(ids, (id) => {
    const decimals = catalog.market(chainId, id)?.loan.decimals;
    if (decimals === undefined) return null;
    const shownOf = ({ utilization, liquidityAssets }: RateSample) =>
      kind === 'utilization' ? utilization.times(HUNDRED) : fromUnits(liquidityAssets, decimals);
    const points = (read.get(id) ?? []).map((sample) => ({ atMs: sample.atMs, ratePct: shownOf(sample) }));
    return ownSeries(points, range, budgets);
  });
}

/** Oracle price of the collateral of markets. */
async function ofPrice(
  { marketSamples, catalog, budgets }: HistoriesDeps,
  chainId: ChainId,
  ids: readonly MarketId[],
  range: HistoryRange,
): Promise<Series> {
  const read = new Map(
    await Promise.all(ids.map(async (id) => [id, await marketSamples.since(chainId, id, range.fromMs)] as const)),
  );
  return present(ids, (id) => {
    const market = catalog.market(chainId, id);
    if (!market) return null;
    const points = (read.get(id) ?? []).map(({ atMs, price }) => ({ atMs, ratePct: wholePrice(price, market) }));
    return ownSeries(points, range, budgets);
  });
}

function present(ids: readonly MarketId[], of: (id: MarketId) => HistorySeries | null): Series {
  return new Map(
    ids.flatMap((id) => {
      const series = of(id);
      return series ? [[id, series] as const] : [];
    }),
  );
}

function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

function within(points: readonly RatePoint[], { fromMs, toMs }: HistoryRange): RatePoint[] {
  return points.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
}
