import { cutToInteger, Decimal, formatPct } from '../../shared/decimal.ts';
import type { LadderEntry } from '../strategy/types.ts';
import { leverageApyPct, ltvPctFromLeverage, shownLeverage } from './leverage.ts';

const LTV_PLACES = 1;

/** One rung without its APY: what depends on the market's limits alone. */
export interface Rung {
  readonly leverage: string;
  readonly ltvPct: string;
  /** The shown leverage times ten, an integer. */
  readonly leverageTenths: number;
}

/**
 * List the rungs up to the maximum LTV (percent): leverage 1, 2, … floor(maxLeverage), then the maximum itself unless
 * the last step already is it. No rung's LTV is above the maximum.
 */
export function ladderRungs(maxLtvPct: Decimal): readonly Rung[] {
  const max = new Decimal(shownLeverage(maxLtvPct));
  const steps = Math.floor(max.toNumber());
  const rungs = Array.from({ length: steps }, (_, index) => {
    const leverage = new Decimal(index + 1);
    return rung(leverage.toFixed(1), Decimal.min(ltvPctFromLeverage(leverage), maxLtvPct));
  });
  return max.eq(steps) ? rungs : [...rungs, rungAtLtv(maxLtvPct)];
}

/** Make the rung that stands at an LTV in percent. */
export function rungAtLtv(ltvPct: Decimal): Rung {
  return rung(shownLeverage(ltvPct), ltvPct);
}

function rung(leverage: string, ltvPct: Decimal): Rung {
  return { leverage, ltvPct: formatPct(ltvPct, LTV_PLACES), leverageTenths: Number(leverage.replace('.', '')) };
}

/** Decimals of a percentage with which rungs are worked out first. */
const FIRST_PLACES = 9;
/** One hundredth of a percent in tenths of the last of them, because leverage is counted in tenths. */
const HUNDREDTH = 10 ** (FIRST_PLACES + 1 - 2);
/** Largest intermediate result that whole numbers hold exactly, with room for the half that rounding adds. */
const MAX_EXACT = 2 ** 52;

/**
 * Complete rungs with the leverage APY of these rates (percent), `C * L − B * (L − 1)`: the same as `leverageApyPct`, with
 * the same rounding. A chain has some ten thousand rungs, so they are worked out on the first nine decimals, as integers;
 * only where the digits cut off could decide about rounding (a few rungs in a million) all of them are used. Two decimals
 * rarely change from one block to the next: the entries of `before`, at the same rungs, that did not are used again, and
 * `before` itself when none did.
 */
export function ladderEntries(
  rungs: readonly Rung[],
  collateralApyPct: Decimal,
  netBorrowApyPct: Decimal,
  before?: readonly LadderEntry[],
): readonly LadderEntry[] {
  const collateral = cutToInteger(collateralApyPct, FIRST_PLACES) ?? Number.NaN;
  const borrow = cutToInteger(netBorrowApyPct, FIRST_PLACES) ?? Number.NaN;
  const limit = MAX_EXACT / (Math.abs(collateral) + Math.abs(borrow));
  let changed = before?.length !== rungs.length;
  const entries = rungs.map(({ leverage, ltvPct, leverageTenths: tenths }, i) => {
    const apy = collateral * tenths - borrow * (tenths - 10);
    const halfUp = Math.abs(apy) + HUNDREDTH / 2;
    const rounded = Math.floor(halfUp / HUNDREDTH);
    const rest = halfUp - rounded * HUNDREDTH;
    // Each rate was cut by less than one, which the leverage multiplies.
    const error = 2 * tenths;
    const certain = tenths < limit && rest > error && rest < HUNDREDTH - error;
    const shown = certain
      ? hundredths(apy < 0 ? -rounded : rounded)
      : formatPct(leverageApyPct(collateralApyPct, netBorrowApyPct, new Decimal(leverage)));
    const same = before?.[i];
    if (same?.leverageApyPct === shown) return same;
    changed = true;
    return { leverage, ltvPct, leverageApyPct: shown };
  });
  return before === undefined || changed ? entries : before;
}

function hundredths(count: number): string {
  const magnitude = Math.abs(count);
  const rest = magnitude % 100;
  return `${count < 0 ? '-' : ''}${(magnitude - rest) / 100}${rest < 10 ? '.0' : '.'}${rest}`;
}
