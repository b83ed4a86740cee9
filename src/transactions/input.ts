import { leverageFromLtvPct, ltvPctFromLeverage } from '../domain/leverage/leveraged-apy.ts';
import type { LtvLimits } from '../domain/leverage/limits.ts';
import { Decimal, formatPct, formatUnitsPlain, ZERO } from '../shared/decimal.ts';
import { BadRequestError } from '../shared/errors.ts';
import { requireOneTarget } from '../shared/input/manage-fields.ts';
import { NAMES } from '../shared/names.ts';
import { LimitExceededError } from './errors.ts';
import type { EffectiveSlippage, PayToken } from './types.ts';

export const DEFAULT_SLIPPAGE: Decimal = new Decimal('0.005');
/** A higher slippage is lowered to it: venues would use it up. */
export const MAX_SLIPPAGE: Decimal = new Decimal('0.01');

/**
 * The most that `maxSwapLossPct` may allow: where risk is added, percent of the equity; of a repayment, percent of the payment;
 * where a position is left, percent of its equity: who would be liquidated may give up the rest.
 */
export const LARGEST_LOSS_PCT: Readonly<Record<'adding' | 'repaying' | 'leaving', Decimal>> = {
  adding: new Decimal(10),
  repaying: new Decimal(50),
  leaving: new Decimal(100),
};

/** The most base units that the protocol counts of anything. */
export const MAX_UNITS: bigint = 2n ** 128n - 1n;

/** Take the slippage ratio: the default when left out, capped at 1 %. @throws BadRequestError at or below zero */
export function effectiveSlippage(requested: Decimal | undefined): EffectiveSlippage {
  if (requested === undefined) return { value: DEFAULT_SLIPPAGE };
  if (!requested.gt(ZERO)) {
    throw new BadRequestError('slippage must be above 0. Send a ratio such as 0.005 for 0.5 %.', {
      field: 'slippage',
      value: requested.toFixed(),
      limit: { above: '0', max: MAX_SLIPPAGE.toFixed() },
    });
  }
  return requested.gt(MAX_SLIPPAGE) ? { value: MAX_SLIPPAGE, cappedFrom: requested } : { value: requested };
}

/**
 * Take the loss that a request allows, percent of the equity; `undefined` = the usual bounds.
 * @throws BadRequestError below zero; LimitExceededError above the largest
 */
export function allowedLoss(requested: Decimal | undefined, largest: Decimal): Decimal | undefined {
  if (requested === undefined) return undefined;
  const [field, value, max] = ['maxSwapLossPct', requested.toFixed(), largest.toFixed()];
  if (requested.lt(ZERO)) {
    throw new BadRequestError(`${field} must be 0 or more, percent of the equity, at most ${max}.`, {
      field,
      value,
      limit: { min: '0', max },
    });
  }
  if (requested.lte(largest)) return requested;
  throw new LimitExceededError(
    `${field} ${value} is more than can be allowed here: at most ${max}, percent of the equity.`,
    {
      field,
      value,
      limit: { maxSwapLossPct: max },
    },
  );
}

/** The least output in base units, `quote × (1 − slippage)`, rounded down as everything that becomes a minimum. */
export function leastOutput(amountOut: bigint, slippage: Decimal): bigint {
  const least = new Decimal(amountOut.toString()).times(new Decimal(1).minus(slippage));
  return BigInt(least.integerValue(Decimal.ROUND_DOWN).toFixed(0));
}

/** Turn whole tokens into base units, exactly. @throws BadRequestError for zero, or more decimals than the token has */
export function baseUnits(amount: Decimal, token: Pick<PayToken, 'symbol' | 'decimals'>, field = 'amount'): bigint {
  const value = amount.toFixed();
  if (!amount.gt(ZERO)) {
    throw new BadRequestError(`${field} must be above 0.`, { field, value, limit: { above: '0' } });
  }
  if ((amount.decimalPlaces() ?? 0) > token.decimals) {
    throw new BadRequestError(
      `${field} has more decimals than ${token.symbol} has. Send at most ${token.decimals}; nothing is rounded.`,
      { field, value, limit: { maxDecimals: token.decimals } },
    );
  }
  const units = BigInt(amount.shiftedBy(token.decimals).toFixed(0));
  if (units > MAX_UNITS) {
    const most = formatUnitsPlain(MAX_UNITS, token.decimals);
    throw new BadRequestError(`${field} is larger than any position can be. Send at most ${most}.`, {
      field,
      value: value.slice(0, 60),
      limit: { max: most },
    });
  }
  return units;
}

/** Target of a position: exactly one of the two is given. */
export interface TargetInput {
  readonly leverage?: Decimal | undefined;
  readonly desiredLtvPct?: Decimal | undefined;
}

/**
 * Turn the requested leverage or LTV into the target LTV in percent. One above the safe limit is refused, never lowered.
 * @throws BadRequestError for both, neither, or nothing to lever; LimitExceededError above the safe limit
 */
export function targetLtvPct(input: TargetInput, limits: LtvLimits): Decimal {
  const { leverage, desiredLtvPct } = input;
  requireOneTarget({ leverage, desiredLtv: desiredLtvPct });
  const field = leverage === undefined ? 'desiredLtv' : 'leverage';
  const requested = leverage ?? desiredLtvPct ?? ZERO;
  if (leverage === undefined ? !requested.gt(ZERO) : !requested.gt(1)) {
    const above = leverage === undefined ? '0' : '1';
    throw new BadRequestError(`${NAMES.input(field)} must be above ${above}: there is nothing to lever otherwise.`, {
      field,
      value: requested.toFixed(),
      limit: { above },
    });
  }
  const target = leverage === undefined ? requested : ltvPctFromLeverage(leverage);
  if (target.lte(limits.safeLtvPct) || isRoundedSafeLeverage(leverage, limits)) {
    return Decimal.min(target, limits.safeLtvPct);
  }
  const maxLeverage = safeLeverage(limits);
  throw new LimitExceededError(
    `${NAMES.input(field)} ${requested.toFixed()} is above the safe limit of this market: at most ${maxLeverage}x, that is an LTV of ${formatPct(limits.safeLtvPct)} %.`,
    { field, value: requested.toFixed(), limit: { maxLeverage, maxLtvPct: formatPct(limits.safeLtvPct) } },
  );
}

/** Name the input that set a target, for refusals. */
export function requestedOf({ leverage, desiredLtvPct }: TargetInput): {
  readonly field: string;
  readonly value: string;
} {
  return leverage === undefined
    ? { field: 'desiredLtv', value: desiredLtvPct?.toFixed() ?? '' }
    : { field: 'leverage', value: leverage.toFixed() };
}

/** The highest leverage the service opens at, with one decimal: as the strategy's `defaultLeverage` shows it. */
export function safeLeverage(limits: LtvLimits): string {
  return leverageFromLtvPct(limits.safeLtvPct).toFixed(1, Decimal.ROUND_HALF_UP);
}

/** The default leverage is shown rounded half-up: a request for the shown value gets the safe LTV itself. */
function isRoundedSafeLeverage(leverage: Decimal | undefined, limits: LtvLimits): boolean {
  return leverage?.lte(safeLeverage(limits)) ?? false;
}
