import { Decimal, formatPct } from '../../shared/decimal.ts';
import type { LadderEntry } from '../strategy/types.ts';
import { ltvPctFromLeverage, shownLeverage } from './leverage.ts';

const LTV_PLACES = 1;

/** One rung without its APY: what depends on the market's limits alone. */
export interface Rung {
  readonly leverage: string;
  readonly ltvPct: string;
  /** The shown leverage times ten, an integer. */
  readonly leverageTenths: bigint;
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
  return { leverage, ltvPct: formatPct(ltvPct, LTV_PLACES), leverageTenths: BigInt(leverage.replace('.', '')) };
}

/**
 * Complete rungs with the leverage APY of these rates (percent). The same exact arithmetic as `leverageApyPct`, carried
 * out on integers of a common scale, because a chain has some ten thousand rungs.
 */
export function ladderEntries(
  rungs: readonly Rung[],
  collateralApyPct: Decimal,
  netBorrowApyPct: Decimal,
): readonly LadderEntry[] {
  const scale = Math.max(collateralApyPct.decimalPlaces() ?? 0, netBorrowApyPct.decimalPlaces() ?? 0, 2);
  const collateral = scaled(collateralApyPct, scale);
  const borrow = scaled(netBorrowApyPct, scale);
  const perHundredth = 10n ** BigInt(scale - 1);
  return rungs.map(({ leverage, ltvPct, leverageTenths }) => ({
    leverage,
    ltvPct,
    leverageApyPct: hundredths(collateral * leverageTenths - borrow * (leverageTenths - 10n), perHundredth),
  }));
}

function scaled(value: Decimal, scale: number): bigint {
  return BigInt(value.toFixed(scale).replace('.', ''));
}

/** Divide, round half away from zero and render with two decimals, as `formatPct` does. */
function hundredths(value: bigint, divisor: bigint): string {
  const magnitude = value < 0n ? -value : value;
  const rounded = (2n * magnitude + divisor) / (2n * divisor);
  const digits = rounded.toString().padStart(3, '0');
  return `${value < 0n && rounded > 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
