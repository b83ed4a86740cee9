import type { Market } from '../../catalog/types.ts';
import { gap, gapOfGroup } from '../../domain/freshness/gaps.ts';
import type { Gap, Stamp } from '../../domain/freshness/types.ts';
import type { HistoryKind, HistoryRange, HistorySeries } from '../../loaders/history.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { ChainId, MarketId } from '../../shared/ids.ts';
import type { RatePoint } from '../../shared/rate-history.ts';
import { momentOf, secondOf } from '../common/age.ts';
import type { AppContext } from '../common/context.ts';
import { selectChains } from './chains.ts';
import { type Downsampling, downsample, downsampleSteps, RESOLUTIONS, type Resolution } from './downsample.ts';
import { findCatalogMarket } from './markets.ts';
import { oldestStamp } from './tokens.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The trailing averages reach back as far. */
export const DEFAULT_RANGE_DAYS = 90;
/** Samples are kept this long. */
export const MAX_RANGE_DAYS = 400;
/** Points that one field may answer: 90 days of hours for 40 markets, and some. */
export const MAX_POINTS = 100_000;

export interface HistoryArgs {
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
  readonly resolution: Resolution;
  readonly downsampling: Downsampling;
}

export interface RateHistoryRow {
  readonly kind: HistoryKind;
  readonly market: Market;
  readonly range: HistoryRange;
  readonly resolution: Resolution;
  readonly points: readonly RatePoint[];
  readonly sources: readonly string[];
  /** Of the newest point known; `null` when nothing was ever recorded. */
  readonly stamp: Stamp | null;
  readonly gap: Gap | null;
}

/** Whether nothing can be added to a history: the token has matured. It does not age. */
export function isComplete({ kind, market }: Pick<RateHistoryRow, 'kind' | 'market'>, ctx: AppContext): boolean {
  const { maturity } = market.collateral;
  return kind === 'collateralApy' && maturity !== undefined && maturity * 1_000 <= momentOf(ctx);
}

/** Whether a history is missing that could be there: it is as stale as can be. */
export function isUnknown({ stamp, gap }: Pick<RateHistoryRow, 'stamp' | 'gap'>): boolean {
  return stamp === null && gap?.reason !== 'NOT_APPLICABLE' && gap?.reason !== 'NONE';
}

export interface HistoryList {
  /** Of the history that is oldest, of those that go on; `null` when nothing was ever recorded. */
  readonly oldest: Stamp | null;
  /** Whether one of them is missing that could be there. */
  readonly hasUnknown: boolean;
  readonly items: readonly RateHistoryRow[];
}

/** Read one market's history. @throws BadRequestError, NotFoundError */
export function readHistory(
  kind: HistoryKind,
  args: HistoryArgs & { readonly id: MarketId; readonly chainId?: ChainId | null | undefined },
  ctx: AppContext,
): Promise<RateHistoryRow> {
  const market = findCatalogMarket(args, ctx);
  return loadHistory(kind, market, rangeOf(args, ctx, 1), args, ctx);
}

/** Read the histories of all markets of the asked chains, or of the named ones. @throws BadRequestError, NotFoundError */
export async function listHistories(
  kind: HistoryKind,
  args: HistoryArgs & {
    readonly chainIds?: readonly ChainId[] | null | undefined;
    readonly ids?: readonly MarketId[] | null | undefined;
  },
  ctx: AppContext,
): Promise<HistoryList> {
  const chains = selectChains(ctx, args.chainIds);
  const markets = chains.flatMap((chain) => chain.markets);
  const ids = args.ids == null ? null : new Set(args.ids);
  for (const id of ids ?? []) {
    if (!markets.some((market) => market.id === id)) findCatalogMarket({ id }, ctx);
  }
  const wanted = ids === null ? markets : markets.filter(({ id }) => ids.has(id));
  const range = rangeOf(args, ctx, wanted.length);
  const items = await Promise.all(wanted.map((market) => loadHistory(kind, market, range, args, ctx)));
  const stamps = items.flatMap((item) => (item.stamp && !isComplete(item, ctx) ? [item.stamp] : []));
  return { oldest: oldestStamp(stamps), hasUnknown: items.some(isUnknown), items };
}

async function loadHistory(
  kind: HistoryKind,
  market: Market,
  range: HistoryRange,
  { resolution, downsampling }: HistoryArgs,
  ctx: AppContext,
): Promise<RateHistoryRow> {
  const series = await ctx.loaders.history.load({ kind, chainId: market.chainId, marketId: market.id, ...range });
  const recorded = series?.points ?? [];
  const points =
    kind === 'incentiveApr'
      ? downsampleSteps(recorded, resolution, downsampling, Math.min(range.toMs, secondOf(ctx)))
      : downsample(recorded, resolution, downsampling);
  return {
    kind,
    market,
    range,
    resolution,
    points,
    sources: series?.sources ?? [],
    stamp: series?.stamp ?? null,
    gap: gapOf(kind, market, series, ctx),
  };
}

function gapOf(kind: HistoryKind, market: Market, series: HistorySeries | null, ctx: AppContext): Gap | null {
  if (series) return null;
  if (kind === 'collateralApy' && market.collateral.apySource === 'none') {
    return gap('points', 'NOT_APPLICABLE', 'The collateral earns nothing by itself.');
  }
  if (isComplete({ kind, market }, ctx)) {
    return gap('points', 'NOT_APPLICABLE', 'The token has matured.');
  }
  const { groups } = ctx.loaders.facts(market.chainId);
  if (kind === 'collateralApy') return gapOfGroup('points', groups.collateralApy, market.collateral.address);
  if (kind === 'borrowApy') return gapOfGroup('points', groups.borrowHistory, market.id);
  const live = groups.incentives.items.get(market.id);
  if (live && live.value.borrow.length === 0 && !groups.incentiveHistory.failures.has(market.id)) {
    return gap('points', 'NONE', 'No incentive is known to have run.', live.asOfMs);
  }
  return gapOfGroup('points', live ? groups.incentiveHistory : groups.incentives, market.id);
}

/** Both ends on whole hours, so that equal questions of one hour share one read. */
function rangeOf(args: HistoryArgs, ctx: AppContext, markets: number): HistoryRange {
  const toMs = args.to?.getTime() ?? Math.floor(momentOf(ctx) / HOUR_MS + 1) * HOUR_MS;
  ctx.cacheHints.until(Math.floor(momentOf(ctx) / HOUR_MS + 1) * HOUR_MS);
  const fromMs = args.from?.getTime() ?? toMs - DEFAULT_RANGE_DAYS * DAY_MS;
  const lengthMs = toMs - fromMs;
  if (lengthMs <= 0 || lengthMs > MAX_RANGE_DAYS * DAY_MS) {
    throw new BadRequestError(
      `The range must be longer than 0 and at most ${MAX_RANGE_DAYS} days. Move "from" or "to".`,
      {
        field: 'from',
        value: new Date(fromMs).toISOString(),
        limit: { before: new Date(toMs).toISOString(), maxDays: MAX_RANGE_DAYS },
      },
    );
  }
  const points = Math.ceil(lengthMs / (RESOLUTIONS[args.resolution] ?? HOUR_MS)) * markets;
  if (points > MAX_POINTS) {
    throw new BadRequestError(
      `That is up to ${points} points; at most ${MAX_POINTS} are served at once. Name fewer markets, a shorter range or a coarser resolution.`,
      { field: 'resolution', value: args.resolution, limit: { maxPoints: MAX_POINTS, asked: points } },
    );
  }
  return { fromMs, toMs };
}
