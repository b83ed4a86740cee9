import { type Decimal, ZERO } from '../../shared/decimal.ts';
import type { RateHistory, RatePoint } from '../../shared/rate-history.ts';
import { leverageApyPct } from '../leverage/leveraged-apy.ts';
import { hasUnknown, type IncentiveRecord } from './campaigns.ts';
import { DAY_MS, stepAverage } from './series.ts';

/** A quotient need not end: as many places as the rates themselves are measured with. */
const MEAN_PLACES = 18;

/**
 * Add the mean incentive of each day to a daily history, or subtract it from a borrow APY. A day in which an incentive is not
 * known is left out. The present day counts until `nowMs`.
 * @param days one point per UTC day, at its start
 */
export function withIncentives(
  days: RateHistory,
  incentive: IncentiveRecord,
  effect: 'earned' | 'paid',
  nowMs: number,
): RateHistory {
  return days.flatMap(({ atMs, ratePct }): RatePoint[] => {
    const endMs = Math.min(atMs + DAY_MS, nowMs);
    if (endMs <= atMs || hasUnknown(incentive, atMs, endMs)) return [];
    const aprPct = stepAverage(incentive.steps, atMs, endMs).decimalPlaces(MEAN_PLACES);
    return [{ atMs, ratePct: effect === 'earned' ? ratePct.plus(aprPct) : ratePct.minus(aprPct) }];
  });
}

/** The days of a collateral without a yield of its own: it earns zero on every day of the other history. */
export function withoutYield(days: RateHistory): RateHistory {
  return days.map(({ atMs }) => ({ atMs, ratePct: ZERO }));
}

/** Combine two daily histories, both percent, on the days that both have. Other days are left out: nothing is interpolated. */
export function combineDays(
  earned: RateHistory,
  paid: RateHistory,
  combine: (earnedPct: Decimal, paidPct: Decimal) => Decimal,
): RateHistory {
  const paidOn = new Map(paid.map(({ atMs, ratePct }) => [atMs, ratePct]));
  return earned.flatMap(({ atMs, ratePct }): RatePoint[] => {
    const paidPct = paidOn.get(atMs);
    return paidPct === undefined ? [] : [{ atMs, ratePct: combine(ratePct, paidPct) }];
  });
}

/** Compute the leveraged APY of a loop per day, percent: `collateral APY * L − net borrow APY * (L − 1)`, exact and signed. */
export function leveragedHistory(collateral: RateHistory, netBorrow: RateHistory, leverage: Decimal): RateHistory {
  return combineDays(collateral, netBorrow, (earnedPct, paidPct) => leverageApyPct(earnedPct, paidPct, leverage));
}
