import { Decimal, formatPct } from '../../shared/decimal.ts';
import type { LadderEntry } from '../strategy/types.ts';
import { formatLeverage, ltvPctFromLeverage } from './leveraged-apy.ts';

const LTV_PLACES = 1;

/** One rung without its APY, derived from the market's limits alone. */
export interface Rung {
  /** Rounded to one decimal; the APY is computed from this value. */
  readonly leverage: string;
  readonly times: Decimal;
  readonly ltvPct: string;
  /** Whether the leverage is the rung's index in the ladder: 1, 2, … */
  readonly isWhole?: boolean | undefined;
}

/**
 * List the rungs up to the maximum LTV (percent): leverage 1, 2, … floor(maxLeverage), then the maximum itself unless
 * the last step already is it. No rung's LTV is above the maximum.
 */
export function ladderRungs(maxLtvPct: Decimal): readonly Rung[] {
  const max = new Decimal(formatLeverage(maxLtvPct));
  const steps = Math.floor(max.toNumber());
  const rungs = Array.from({ length: steps }, (_, index) => {
    const leverage = new Decimal(index + 1);
    return { ...rung(leverage.toFixed(1), Decimal.min(ltvPctFromLeverage(leverage), maxLtvPct)), isWhole: true };
  });
  return max.eq(steps) ? rungs : [...rungs, rungAtLtv(maxLtvPct)];
}

/** Make the rung at an LTV in percent. */
export function rungAtLtv(ltvPct: Decimal): Rung {
  return rung(formatLeverage(ltvPct), ltvPct);
}

function rung(leverage: string, ltvPct: Decimal): Rung {
  return { leverage, times: new Decimal(leverage), ltvPct: formatPct(ltvPct, LTV_PLACES) };
}

/**
 * Complete rungs with the leverage APY of these rates (percent): `C * L − B * (L − 1)`, which is `B + (C − B) * L`. It grows
 * by `C − B` from one whole rung to the next, and adding is cheaper than multiplying.
 */
export function ladderEntries(
  rungs: readonly Rung[],
  collateralApyPct: Decimal,
  netBorrowApyPct: Decimal,
): readonly LadderEntry[] {
  const carryPct = collateralApyPct.minus(netBorrowApyPct);
  let wholePct = netBorrowApyPct;
  return rungs.map(({ leverage, times, ltvPct, isWhole }) => {
    if (isWhole) wholePct = wholePct.plus(carryPct);
    const apyPct = isWhole ? wholePct : carryPct.times(times).plus(netBorrowApyPct);
    return { leverage, ltvPct, leverageApyPct: formatPct(apyPct) };
  });
}
