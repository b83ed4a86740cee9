import type { LtvLimits } from '../../domain/leverage/limits.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { LARGEST_LOSS_PCT } from '../input.ts';

/** The target of a position: an LTV, or a distance to its liquidation LTV; neither = the safe LTV. */
export interface DeleverageTarget {
  readonly targetLtvPct?: Decimal | undefined;
  /** Points of LTV below the liquidation LTV. */
  readonly targetHeadroomPct?: Decimal | undefined;
}

/** LTVs are counted in WAD: more places would be lost. */
const MAX_PLACES = 16;

/**
 * The LTV in percent that is aimed at, above 0 and at most the max LTV of the market.
 * @throws BadRequestError for both, and for one outside the limits of the market
 */
export function targetOf(
  { targetLtvPct, targetHeadroomPct }: DeleverageTarget,
  { safeLtvPct, maxLtvPct, liquidationLtvPct }: LtvLimits,
): Decimal {
  if (targetLtvPct !== undefined && targetHeadroomPct !== undefined) {
    throw new BadRequestError('targetLtvPct and targetHeadroomPct exclude each other. Send one of them, or none.', {
      field: 'targetHeadroomPct',
      value: targetHeadroomPct.toFixed(),
      limit: { exactlyOneOf: ['targetLtvPct', 'targetHeadroomPct'] },
    });
  }
  if (targetLtvPct !== undefined) {
    const max = maxLtvPct.toFixed();
    if (targetLtvPct.gt(0) && targetLtvPct.lte(maxLtvPct) && hasPlaces(targetLtvPct)) return targetLtvPct;
    throw outside('targetLtvPct', targetLtvPct, { above: '0', max, maxDecimals: MAX_PLACES });
  }
  if (targetHeadroomPct !== undefined) {
    const least = liquidationLtvPct.minus(maxLtvPct);
    const target = liquidationLtvPct.minus(targetHeadroomPct);
    if (target.gt(0) && targetHeadroomPct.gte(least) && hasPlaces(target)) return target;
    throw outside('targetHeadroomPct', targetHeadroomPct, {
      min: least.toFixed(),
      below: liquidationLtvPct.toFixed(),
      maxDecimals: MAX_PLACES,
    });
  }
  if (safeLtvPct.gt(0)) return safeLtvPct;
  throw new BadRequestError('This market has no safe LTV above 0. Send targetLtvPct.', { field: 'targetLtvPct' });
}

/** Check the loss of a sale that a caller accepts, percent of the equity. @throws BadRequestError */
export function requireLoss(maxSwapLossPct: Decimal | undefined): void {
  const max = LARGEST_LOSS_PCT.leaving;
  if (maxSwapLossPct === undefined || (maxSwapLossPct.gte(0) && maxSwapLossPct.lte(max))) return;
  const value = maxSwapLossPct.toFixed();
  throw new BadRequestError(
    `maxSwapLossPct ${value} is outside 0 to ${max.toFixed()}, percent of the equity. Send one of that range, or none.`,
    { field: 'maxSwapLossPct', value, limit: { min: '0', max: max.toFixed() } },
  );
}

function hasPlaces(target: Decimal): boolean {
  return (target.decimalPlaces() ?? 0) <= MAX_PLACES;
}

function outside(
  field: 'targetLtvPct' | 'targetHeadroomPct',
  value: Decimal,
  limit: Readonly<Record<string, string | number>>,
): BadRequestError {
  const from = limit.min === undefined ? 'above 0' : `at least ${limit.min}`;
  const to = limit.max === undefined ? `below ${limit.below}` : `at most ${limit.max}`;
  return new BadRequestError(
    `${field} ${value.toFixed()} is outside the limits of this market: ${from} and ${to} percent, with at most ${MAX_PLACES} decimals. Send one within them; to end without debt, repay all of it.`,
    { field, value: value.toFixed(), limit },
  );
}
