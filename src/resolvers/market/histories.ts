import type { Chain, Market } from '../../catalog/types.ts';
import { gap, gapOfGroup } from '../../domain/freshness/gaps.ts';
import type { Gap, Stamp } from '../../domain/freshness/types.ts';
import type { HistoryKind, HistoryRange, HistorySeries, RateKind } from '../../loaders/history.ts';
import { BadRequestError, NotFoundError } from '../../shared/errors.ts';
import { EQUITY_PREFIX, type MarketId, type StrategyId } from '../../shared/ids.ts';
import type { RatePoint } from '../../shared/rate-history.ts';
import { momentOf, secondOf } from '../common/age.ts';
import type { AppContext } from '../common/context.ts';
import { chainOfStrategy } from './chains.ts';
import { type Downsampling, downsample, downsampleSteps, RESOLUTIONS, type Resolution } from './downsample.ts';
import { findCatalogMarket } from './markets.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The trailing averages reach back as far. */
const DEFAULT_RANGE_DAYS = 90;
/** Samples are kept this long. */
export const MAX_RANGE_DAYS = 400;
/** Points that one field may answer: 90 days of hours for 40 markets, and some. */
export const MAX_POINTS = 100_000;

export interface HistoryArgs {
  readonly fromAt?: Date | null | undefined;
  readonly toAt?: Date | null | undefined;
  readonly resolution: Resolution;
  readonly downsampling: Downsampling;
}

export interface RateHistoryRow<Kind extends HistoryKind = RateKind> {
  readonly kind: Kind;
  readonly market: Market;
  readonly range: HistoryRange;
  readonly resolution: Resolution;
  readonly points: readonly RatePoint[];
  readonly sources: readonly string[];
  /** Of the newest point known; `null` when nothing was ever recorded. */
  readonly stamp: Stamp | null;
  /** Whether nothing can be added to it any more. */
  readonly complete: boolean;
  readonly gaps: readonly Gap[];
}

/** Read one market's history. @throws BadRequestError */
export function readHistory<Kind extends HistoryKind>(
  kind: Kind,
  market: Market,
  args: HistoryArgs,
  ctx: AppContext,
): Promise<RateHistoryRow<Kind>> {
  return loadHistory(kind, market, rangeOf(args, ctx, 1), args, ctx);
}

interface HistoriesArgs extends HistoryArgs {
  readonly kind: RateKind;
  readonly strategyIds?: readonly StrategyId[] | null | undefined;
}

/**
 * Read the histories of all markets of a chain, or of those of the named strategies that are on it.
 * @throws BadRequestError, NotFoundError for a strategy that is on no chain
 */
export async function listHistories(
  { markets }: Chain,
  args: HistoriesArgs,
  ctx: AppContext,
): Promise<readonly RateHistoryRow[]> {
  const ids = args.strategyIds && new Set(args.strategyIds.map((id) => marketOfStrategy(args.kind, id, ctx)));
  for (const marketId of ids ?? []) findCatalogMarket({ marketId }, ctx);
  const wanted = ids ? markets.filter(({ id }) => ids.has(id)) : markets;
  const range = rangeOf(args, ctx, wanted.length);
  return Promise.all(wanted.map((market) => loadHistory(args.kind, market, range, args, ctx)));
}

/**
 * The market whose history a strategy has: of a loop its own, of an equity vault that of its yield leg for the earned yield,
 * and its stock market for the borrow cost.
 * @throws NotFoundError for a vault that is in no catalog
 */
export function marketOfStrategy(kind: RateKind, id: StrategyId, ctx: AppContext): MarketId {
  if (!id.startsWith(EQUITY_PREFIX)) return id as string as MarketId;
  const chain = chainOfStrategy(ctx, { strategyId: id });
  const vault = chain && ctx.services.catalog.vault(chain.chainId, id);
  if (!vault) {
    throw new NotFoundError(`No strategy ${id} is known. Send an id from the strategies list.`, {
      resource: 'strategy',
      id,
    });
  }
  return kind === 'collateralApy' ? vault.yieldMarket.id : vault.stockMarket.id;
}

/** Whether nothing can be added to a history: the token has matured. It does not age. */
function isComplete(kind: HistoryKind, market: Market, ctx: AppContext): boolean {
  const { maturity } = market.collateral;
  return kind === 'collateralApy' && maturity !== undefined && maturity * 1_000 <= momentOf(ctx);
}

async function loadHistory<Kind extends HistoryKind>(
  kind: Kind,
  market: Market,
  range: HistoryRange,
  { resolution, downsampling }: HistoryArgs,
  ctx: AppContext,
): Promise<RateHistoryRow<Kind>> {
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
    complete: isComplete(kind, market, ctx),
    gaps: gapsOf(kind, market, series, ctx),
  };
}

function gapsOf(kind: HistoryKind, market: Market, series: HistorySeries | null, ctx: AppContext): readonly Gap[] {
  return series ? [] : ['points', 'freshness'].map((field) => ({ ...gapOf(kind, market, ctx), field }));
}

function gapOf(kind: HistoryKind, market: Market, ctx: AppContext): Gap {
  if (kind === 'collateralApy' && market.collateral.apySource === 'none') {
    return gap('points', 'NOT_APPLICABLE', 'The collateral earns nothing by itself.');
  }
  if (isComplete(kind, market, ctx)) {
    return gap('points', 'NOT_APPLICABLE', 'The token has matured.');
  }
  if (kind !== 'borrowApy' && kind !== 'collateralApy' && kind !== 'incentiveApr') return NO_SAMPLE;
  const { groups } = ctx.loaders.facts(market.chainId);
  if (kind === 'collateralApy') return gapOfGroup('points', groups.collateralApy, market.collateral.address);
  if (kind === 'borrowApy') return gapOfGroup('points', groups.borrowHistory, market.id);
  const live = groups.incentives.items.get(market.id);
  if (live && live.value.borrow.length === 0 && !groups.incentiveHistory.failures.has(market.id)) {
    return gap('points', 'NONE', 'No incentive is known to have run.', live.asOfMs);
  }
  return gapOfGroup('points', live ? groups.incentiveHistory : groups.incentives, market.id);
}

const NO_SAMPLE = gap('points', 'NOT_MEASURED', 'No sample of it was kept since the begin of the range.');

/** Both ends on whole hours, so that equal questions of one hour share one read. */
export function rangeOf(args: HistoryArgs, ctx: AppContext, markets: number): HistoryRange {
  const toMs = args.toAt?.getTime() ?? Math.floor(momentOf(ctx) / HOUR_MS + 1) * HOUR_MS;
  ctx.cacheHints.until(Math.floor(momentOf(ctx) / HOUR_MS + 1) * HOUR_MS);
  const fromMs = args.fromAt?.getTime() ?? toMs - DEFAULT_RANGE_DAYS * DAY_MS;
  const lengthMs = toMs - fromMs;
  if (lengthMs <= 0 || lengthMs > MAX_RANGE_DAYS * DAY_MS) {
    throw new BadRequestError(
      `The range must be longer than 0 and at most ${MAX_RANGE_DAYS} days. Move "fromAt" or "toAt".`,
      {
        field: 'fromAt',
        value: new Date(fromMs).toISOString(),
        limit: { before: new Date(toMs).toISOString(), maxDays: MAX_RANGE_DAYS },
      },
    );
  }
  const points = Math.ceil(lengthMs / (RESOLUTIONS[args.resolution] ?? HOUR_MS)) * markets;
  if (points > MAX_POINTS) {
    throw new BadRequestError(
      `That is up to ${points} points; at most ${MAX_POINTS} are served at once. Name fewer markets, a shorter range or a coarser resolution.`,
      { field: 'resolution', value: args.resolution, limit: { maxPoints: MAX_POINTS, requested: points } },
    );
  }
  return { fromMs, toMs };
}
