import type { Market } from '../../catalog/types.ts';
import type { HistoryKind } from '../../loaders/history.ts';
import type { StrategyId } from '../../shared/ids.ts';
import type { AppContext } from '../common/context.ts';
import { type HistoryArgs, marketOfStrategy, type RateHistoryRow, readHistory } from './histories.ts';
import { findCatalogMarket } from './markets.ts';

/** A value of a market that people compare over time, by the name of its record. */
const METRICS = {
  borrow_apy: 'borrowApy',
  utilization: 'utilization',
  liquidity: 'liquidity',
  collateral_price: 'collateralPrice',
} as const satisfies Readonly<Record<string, HistoryKind>>;
export type MarketMetric = keyof typeof METRICS;

/** A metric of a market over time; `ratePct` of its points is the value in the unit of the metric. */
export interface SeriesRow extends RateHistoryRow<HistoryKind> {
  readonly metric: MarketMetric;
}

/** Read a metric of a market over time. @throws BadRequestError, UpstreamUnavailableError */
export async function readSeries(
  market: Market,
  { metric, ...args }: HistoryArgs & { readonly metric: MarketMetric },
  ctx: AppContext,
): Promise<SeriesRow> {
  return { ...(await readHistory(METRICS[metric], market, args, ctx)), metric };
}

/**
 * Read a metric of the market of a strategy, of an equity vault of its stock market.
 * @throws BadRequestError, NotFoundError, UpstreamUnavailableError
 */
export function readSeriesOfStrategy(
  { id, ...args }: HistoryArgs & { readonly metric: MarketMetric; readonly id: StrategyId },
  ctx: AppContext,
): Promise<SeriesRow> {
  return readSeries(findCatalogMarket({ marketId: marketOfStrategy('borrowApy', id, ctx) }, ctx), args, ctx);
}
