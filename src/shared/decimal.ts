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
/** The coefficient `c` of a decimal holds this many digits per element, counted from the decimal point. */
const ELEMENT_DIGITS = 14;
/** Powers of ten up to one element. */
const POWER: readonly number[] = Array.from({ length: ELEMENT_DIGITS + 1 }, (_, n) => 10 ** n);

/** Render with exactly `places` decimals, half-up (shown numbers). Negative zero is shown as zero. */
export function toFixedHalfUp(value: Decimal, places: number): string {
  const { c, e } = value;
  if (c === null || e === null || e >= ELEMENT_DIGITS || e < -ELEMENT_DIGITS || places < 1 || places > 12) {
    return generalHalfUp(value, places);
  }
  // Below 10^14 whole part and first decimals are an element each: the digits that decide about rounding are all there.
  let whole = e >= 0 ? (c[0] ?? 0) : 0;
  const decimals = (e >= 0 ? c[1] : c[0]) ?? 0;
  const cut = POWER[ELEMENT_DIGITS - places] ?? Number.NaN;
  let shown = Math.floor(decimals / cut);
  if (2 * (decimals - shown * cut) >= cut) shown += 1;
  if (shown === POWER[places]) [whole, shown] = [whole + 1, 0];
  const sign = value.s === -1 && (whole > 0 || shown > 0) ? '-' : '';
  return `${sign}${whole}.${String(shown).padStart(places, '0')}`;
}

/**
 * Cut a decimal after `places` decimals (at most 14) and give it as a whole number of its last place: a safe integer, at
 * most one away from the exact value towards zero. `undefined` = too large for that.
 */
export function cutToInteger(value: Decimal, places: number): number | undefined {
  const { c, e } = value;
  if (c === null || e === null || e >= ELEMENT_DIGITS) return undefined;
  if (e < -ELEMENT_DIGITS) return 0;
  const whole = e >= 0 ? (c[0] ?? 0) : 0;
  const decimals = (e >= 0 ? c[1] : c[0]) ?? 0;
  const scale = POWER[places] ?? Number.NaN;
  const magnitude = whole * scale + Math.floor(decimals / (POWER[ELEMENT_DIGITS - places] ?? Number.NaN));
  if (!Number.isSafeInteger(magnitude)) return undefined;
  return value.s === -1 ? -magnitude : magnitude;
}

/** Copy a decimal that is kept: what arithmetic or text made holds room for more digits, and twice the memory. */
export function slim(value: Decimal): Decimal {
  return new Decimal(value);
}

function generalHalfUp(value: Decimal, places: number): string {
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
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  let end = digits.length;
  while (end > point && digits.charCodeAt(end - 1) === ZERO_DIGIT) end -= 1;
  const plain = end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
  return units < 0n ? `-${plain}` : plain;
}

const ZERO_DIGIT = 0x30;

/** Divide whole numbers as `Decimal.div` does, to 60 decimals and half-up: a general division works digit by digit. */
export function ratio(numerator: bigint, denominator: bigint): Decimal {
  const negative = numerator < 0n !== denominator < 0n;
  const [above, below] = [numerator < 0n ? -numerator : numerator, denominator < 0n ? -denominator : denominator];
  const rounded = (2n * above * RATIO_SCALE + below) / (2n * below);
  return shifted(new Decimal(negative ? -rounded : rounded), -RATIO_PLACES);
}

const RATIO_PLACES = 60;
const RATIO_SCALE = 10n ** BigInt(RATIO_PLACES);
