import { incentiveRecord } from '../../domain/apy/campaigns.ts';
import { combineDays, leveragedHistory, withIncentives, withoutYield } from '../../domain/apy/leveraged-history.ts';
import { DAY_MS } from '../../domain/apy/series.ts';
import { equityNetApyPct } from '../../domain/equity/compose.ts';
import { gap } from '../../domain/freshness/gaps.ts';
import { earliestStale } from '../../domain/freshness/stamp.ts';
import type { Gap, Stamp } from '../../domain/freshness/types.ts';
import { incentivesGap, recordedIncentives } from '../../domain/market/incentives.ts';
import { marketsById } from '../../domain/market/lookup.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import type { Strategy } from '../../domain/strategy/types.ts';
import { Decimal } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { formatValue, type MarketId } from '../../shared/ids.ts';
import type { RateHistory } from '../../shared/rate-history.ts';
import { momentOf } from '../common/age.ts';
import type { AppContext } from '../common/context.ts';
import { type HistoryArgs, MAX_RANGE_DAYS, type RateHistoryRow, readHistory } from '../market/histories.ts';
import { marketOf, termsOf } from './strategies.ts';

export interface LeveragedHistoryArgs extends Pick<HistoryArgs, 'fromAt' | 'toAt'> {
  readonly leverage?: Decimal | null | undefined;
  /** UTC days up to the present one, which counts; instead of a range. */
  readonly days?: number | null | undefined;
}

export interface LeveragedHistoryRow extends Pick<RateHistoryRow, 'range' | 'points' | 'stamp' | 'complete' | 'gaps'> {
  readonly strategy: Strategy;
  readonly leverage: Decimal;
}

/** A daily rate of one side, as far as it is known. */
interface Side {
  readonly days: RateHistory;
  readonly stamp: Stamp | null;
  readonly complete: boolean;
  /** Reason why nothing is known of it. */
  readonly missing?: Gap | undefined;
}

/**
 * Read the leveraged APY of a strategy over time, per UTC day, from the recorded histories of its markets with the incentives of
 * each day. A vault's leverage is 1 + LTV of its stock leg; its yield leg counts at the safe LTV of today.
 * @throws BadRequestError
 */
export async function readLeveragedHistory(
  strategy: Strategy,
  { days, ...range }: LeveragedHistoryArgs,
  ctx: AppContext,
): Promise<LeveragedHistoryRow> {
  const args = days == null ? range : { ...range, fromAt: beginOf(days, range, ctx) };
  const leverage = requestedLeverage(strategy, args.leverage, ctx);
  const market = marketOf(strategy, {}, ctx);
  const [borrow, read] = await borrowSide(market, args, ctx);
  const earned =
    strategy.kind === 'loop' ? await collateralSide(market, borrow, args, ctx) : await legSide(strategy, args, ctx);
  const points =
    strategy.kind === 'loop'
      ? leveragedHistory(earned.days, borrow.days, leverage)
      : combineDays(earned.days, borrow.days, (earnedPct, paidPct) =>
          equityNetApyPct(leverage.minus(1).shiftedBy(2), earnedPct, paidPct),
        );
  const missing = earned.missing ?? borrow.missing;
  const stamp = missing || !earned.stamp || !borrow.stamp ? null : earliestStale(earned.stamp, borrow.stamp);
  return {
    strategy,
    leverage,
    range: read,
    points: missing ? [] : points,
    stamp,
    complete: earned.complete,
    gaps: gapsOf(points, missing),
  };
}

/**
 * Find the begin of the first of some UTC days, so that no point is the mean of a part of a day that is over.
 * @throws BadRequestError
 */
function beginOf(days: number, { fromAt, toAt }: LeveragedHistoryArgs, ctx: AppContext): Date {
  if (fromAt != null || toAt != null) {
    throw new BadRequestError('"days" excludes "fromAt" and "toAt". Send days or a range.', {
      field: 'days',
      value: String(days),
    });
  }
  if (days < 1 || days > MAX_RANGE_DAYS) {
    throw new BadRequestError(`"days" is from 1 to ${MAX_RANGE_DAYS}. Send a number of that range.`, {
      field: 'days',
      value: String(days),
      limit: { min: 1, max: MAX_RANGE_DAYS },
    });
  }
  return new Date((Math.floor(momentOf(ctx) / DAY_MS) - days + 1) * DAY_MS);
}

function gapsOf(points: RateHistory, missing: Gap | undefined): readonly Gap[] {
  if (missing) return ['points', 'freshness'].map((field) => ({ ...missing, field }));
  return points.length > 0 ? [] : [gap('points', 'TOO_SHORT', 'No day of the range has the rates of both sides.')];
}

/**
 * The leverage of a request, or the default one; of a vault 1 + LTV of its stock leg.
 * @throws BadRequestError for a leverage that the strategy does not offer
 */
export function requestedLeverage(strategy: Strategy, requested: Decimal | null | undefined, ctx: AppContext): Decimal {
  const isVault = strategy.kind === 'equity';
  const ofLtv = (ltvPct: string) => new Decimal(ltvPct).shiftedBy(-2).plus(1);
  if (requested == null)
    return isVault ? ofLtv(termsOf(strategy, ctx).targetLtvPct) : new Decimal(strategy.defaultLeverage.leverage);
  const max = isVault ? ofLtv(termsOf(strategy, ctx).maxStockLtvPct) : new Decimal(strategy.maxLeverage);
  if (requested.gte(1) && requested.lte(max)) return requested;
  throw new BadRequestError(`The leverage of ${strategy.id} is from 1 to ${max.toFixed()}. Send one of that range.`, {
    field: 'leverage',
    value: formatValue(requested.toFixed()),
    limit: { min: '1', max: max.toFixed() },
  });
}

const daily = ({ fromAt, toAt }: LeveragedHistoryArgs): HistoryArgs => ({
  fromAt,
  toAt,
  resolution: 'DAY',
  downsampling: 'MEAN',
});

/** The net borrow APY of a market, and the range that is read. */
async function borrowSide(
  composed: ComposedMarket,
  args: LeveragedHistoryArgs,
  ctx: AppContext,
): Promise<readonly [Side, RateHistoryRow['range']]> {
  const row = await readHistory('borrowApy', composed.market, daily(args), ctx);
  return [withIncentivesOf(row, row.points, composed, 'paid', ctx), row.range];
}

/** The collateral APY of a market with its incentives. A collateral without a yield of its own earns zero. */
async function collateralSide(
  composed: ComposedMarket,
  borrow: Side,
  args: LeveragedHistoryArgs,
  ctx: AppContext,
): Promise<Side> {
  const row = await readHistory('collateralApy', composed.market, daily(args), ctx);
  if (composed.market.collateral.apySource !== 'none') {
    return withIncentivesOf(row, row.points, composed, 'earned', ctx);
  }
  const free = { ...row, stamp: borrow.stamp, gaps: borrow.missing ? [borrow.missing] : [] };
  return withIncentivesOf(free, withoutYield(borrow.days), composed, 'earned', ctx);
}

function withIncentivesOf(
  { stamp, complete, gaps: [missing] }: Pick<RateHistoryRow, 'stamp' | 'complete' | 'gaps'>,
  points: RateHistory,
  { market }: ComposedMarket,
  effect: 'earned' | 'paid',
  ctx: AppContext,
): Side {
  const facts = ctx.loaders.facts(market.chainId);
  const campaigns = recordedIncentives(facts, market.id);
  if (!campaigns) return { days: [], stamp, complete, missing: missing ?? incentivesGap('points', facts, market.id) };
  const record = incentiveRecord(campaigns, effect === 'earned' ? 'collateral' : 'borrow');
  return { days: withIncentives(points, record, effect, momentOf(ctx)), stamp, complete, missing };
}

/** The leveraged APY of a vault's yield leg at its safe LTV. */
async function legSide(strategy: Strategy, args: LeveragedHistoryArgs, ctx: AppContext): Promise<Side> {
  const id = termsOf(strategy, ctx).yieldStrategyId as string as MarketId;
  const leg = marketsById(ctx.loaders.composed(strategy.chainId)).get(id);
  if (!leg) throw new Error(`the vault ${strategy.id} is composed without its yield market`);
  const [borrow] = await borrowSide(leg, args, ctx);
  const earned = await collateralSide(leg, borrow, args, ctx);
  return {
    days: leveragedHistory(earned.days, borrow.days, leg.limits.safeRung.times),
    stamp: earned.stamp && borrow.stamp && earliestStale(earned.stamp, borrow.stamp),
    complete: earned.complete,
    missing: earned.missing ?? borrow.missing,
  };
}
