import { BigNumber } from 'bignumber.js';

/**
 * Exact decimal of the product. A clone of its own, because a global configuration by other code would change rounding here:
 * 60 significant digits for divisions, never exponent form.
 */
export const Decimal = BigNumber.clone({
  DECIMAL_PLACES: 60,
  ROUNDING_MODE: BigNumber.ROUND_HALF_UP,
  EXPONENTIAL_AT: 1e9,
});
export type Decimal = BigNumber;

export const ZERO: Decimal = new Decimal(0);
export const HUNDRED: Decimal = new Decimal(100);

/**
 * Copy a decimal that stays in memory. Parsing and arithmetic reserve room for 17 words of digits, 120 bytes more than most
 * decimals need; a copy has no room to spare.
 */
export function compacted(value: Decimal): Decimal {
  return new Decimal(value);
}

const NEGATIVE_ZERO = /^-0(\.0*)?$/;

/** Format with exactly `places` decimals, half-up (display). Negative zero becomes zero. */
export function toFixedHalfUp(value: Decimal, places: number): string {
  const text = value.toFixed(places, BigNumber.ROUND_HALF_UP);
  return text.startsWith('-0') && NEGATIVE_ZERO.test(text) ? text.slice(1) : text;
}

/** Format a percentage with `places` decimals (default 2), half-up. */
export function formatPct(value: Decimal, places = 2): string {
  return toFixedHalfUp(value, places);
}

/** Convert base units (e.g. wei) to whole tokens, exactly. */
export function fromUnits(units: bigint, decimals: number): Decimal {
  return new Decimal(units.toString()).shiftedBy(-decimals);
}

/** Convert whole tokens to base units, rounding down (an amount on chain is never rounded up). */
export function toUnits(amount: Decimal, decimals: number): bigint {
  return BigInt(amount.shiftedBy(decimals).integerValue(BigNumber.ROUND_DOWN).toFixed(0));
}

/** Format base units as a plain decimal string of whole tokens, without trailing zeros and never in exponent form. */
export function formatUnitsPlain(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  let end = digits.length;
  while (end > point && digits.charCodeAt(end - 1) === ZERO_DIGIT) end -= 1;
  const plain = end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
  return units < 0n ? `-${plain}` : plain;
}

const ZERO_DIGIT = 0x30;

/**
 * Divide integers like `Decimal.div`, to 60 decimals and half-up. Faster, because the general division works digit by digit.
 */
export function ratio(numerator: bigint, denominator: bigint): Decimal {
  const negative = numerator < 0n !== denominator < 0n;
  const [above, below] = [numerator < 0n ? -numerator : numerator, denominator < 0n ? -denominator : denominator];
  const rounded = (2n * above * RATIO_SCALE + below) / (2n * below);
  return new Decimal(negative ? -rounded : rounded).shiftedBy(-RATIO_PLACES);
}

const RATIO_PLACES = 60;
const RATIO_SCALE = 10n ** BigInt(RATIO_PLACES);
