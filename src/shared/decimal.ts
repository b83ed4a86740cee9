import { BigNumber } from 'bignumber.js';

/**
 * Exact decimal of the product. Cloned so that nobody else's global configuration can change rounding here:
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

const NEGATIVE_ZERO = /^-0(\.0*)?$/;

/** Render with exactly `places` decimals, half-up (shown numbers). Negative zero is shown as zero. */
export function toFixedHalfUp(value: Decimal, places: number): string {
  const text = value.toFixed(places, BigNumber.ROUND_HALF_UP);
  return text.startsWith('-0') && NEGATIVE_ZERO.test(text) ? text.slice(1) : text;
}

/** Render a percentage with `places` decimals (default 2), half-up. */
export function formatPct(value: Decimal, places = 2): string {
  return toFixedHalfUp(value, places);
}

/** Powers of ten as decimals, by exponent: `shiftedBy` reads its own from text each time. */
const powers = new Map<number, Decimal>();

/** Multiply by a power of ten, exactly: `shiftedBy` for what happens with every market. */
export function shifted(value: Decimal, places: number): Decimal {
  let power = powers.get(places);
  if (!power) {
    power = new Decimal(`1e${places}`);
    powers.set(places, power);
  }
  return value.times(power);
}

/** Read base units (e.g. wei) as whole tokens, exactly. */
export function fromUnits(units: bigint, decimals: number): Decimal {
  return shifted(new Decimal(units.toString()), -decimals);
}

/** Turn whole tokens into base units, rounding down (what becomes an on-chain amount is never rounded up). */
export function toUnits(amount: Decimal, decimals: number): bigint {
  return BigInt(amount.shiftedBy(decimals).integerValue(BigNumber.ROUND_DOWN).toFixed(0));
}

/** Render base units as a plain decimal string of whole tokens, without trailing zeros and never in exponent form. */
export function formatUnitsPlain(units: bigint, decimals: number): string {
  return fromUnits(units, decimals).toFixed();
}
