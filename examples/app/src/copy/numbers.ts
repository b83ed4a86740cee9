type Decimal = string | number | null | undefined;

/** Shown for a value that the service does not know. */
export const UNKNOWN = 'unknown';
/** Keeps a number and its unit on one line. */
const SPACE = '\u00a0';
const MINUS = '\u2212';

/** Format a decimal without a detour over a float: the text is rounded as it is written. */
function formatted(value: string | number, options: Intl.NumberFormatOptions): string {
  // No sign before what is rounded to zero.
  const format = new Intl.NumberFormat('en', { signDisplay: 'negative', ...options });
  return format.format(value as Intl.StringNumericLiteral).replace('-', MINUS);
}

const isMissing = (value: Decimal): value is null | undefined | '' =>
  value === null || value === undefined || value === '' || !Number.isFinite(Number(value));

type Sign = 'negative' | 'exceptZero';

/** A rate with three digits: `24.9 %`, `6.84 %`, `0.05 %`. */
export function percent(value: Decimal, signDisplay: Sign = 'negative'): string {
  if (isMissing(value)) return UNKNOWN;
  const size = Math.abs(Number(value));
  const places = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return `${formatted(value, { minimumFractionDigits: places, maximumFractionDigits: places, signDisplay })}${SPACE}%`;
}

/** A percentage at an axis, as short as it goes. */
export const percentTick = (value: number): string => `${formatted(value, { maximumFractionDigits: 2 })}${SPACE}%`;

/** Dollars at an axis. */
export const usdTick = (value: number): string =>
  formatted(value, { style: 'currency', currency: 'USD', minimumFractionDigits: 0, maximumFractionDigits: 2 });

/** An LTV with two places: its limits lie a quarter of a point apart. */
export function ltv(value: Decimal): string {
  if (isMissing(value)) return UNKNOWN;
  return `${formatted(value, { minimumFractionDigits: 2, maximumFractionDigits: 2 })}${SPACE}%`;
}

/** Dollars: cents below 1,000, and millions from a million on. */
export function usd(value: Decimal, signDisplay: Sign = 'negative'): string {
  if (isMissing(value)) return UNKNOWN;
  const size = Math.abs(Number(value));
  const currency = { style: 'currency', currency: 'USD', signDisplay } as const;
  if (size >= 999_999.5)
    return formatted(value, { ...currency, notation: 'compact', minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return formatted(value, { ...currency, maximumFractionDigits: size >= 999.995 ? 0 : 2 });
}

/** A gain or a loss, with its sign. */
export const signedUsd = (value: Decimal): string => usd(value, 'exceptZero');
export const signedPercent = (value: Decimal): string => percent(value, 'exceptZero');

/** A change as it was asked for, as short as it goes: `−10 %`, `+2.5 %`. */
export const change = (value: string): string =>
  `${formatted(value, { maximumFractionDigits: 4, signDisplay: 'exceptZero' })}${SPACE}%`;

/** A whole number: `2,497`. */
export const whole = (value: number): string => formatted(value, { maximumFractionDigits: 0 });

const LARGE = 1_000_000;
const TINY = 0.000001;

/** An amount with at most six digits and its symbol: `2,440.07 sUSDe`, `10.03M PYUSD`. */
export function amount(value: Decimal, symbol = '', rounding: 'halfExpand' | 'trunc' = 'halfExpand'): string {
  if (isMissing(value)) return UNKNOWN;
  const size = Math.abs(Number(value));
  // Not in the types of every TypeScript: the rounding of ES2023.
  const round = { roundingMode: rounding } as Intl.NumberFormatOptions;
  // From where six digits would round up to a seventh.
  const large = rounding === 'trunc' ? LARGE : LARGE - 0.5;
  const digits =
    size >= large
      ? formatted(value, { notation: 'compact', maximumSignificantDigits: 4, ...round })
      : size > 0 && size < TINY
        ? `<${formatted(TINY, { maximumFractionDigits: 6 })}`
        : Number(
              formatted(value, { maximumSignificantDigits: 6, useGrouping: false, ...round }).replace(MINUS, '-'),
            ) === 0
          ? '0'
          : formatted(value, { maximumSignificantDigits: 6, ...round });
  return symbol === '' ? digits : `${digits}${SPACE}${symbol}`;
}

/** A balance is never shown as more than it is. */
export const balance = (value: Decimal, symbol = ''): string => amount(value, symbol, 'trunc');

export function leverage(value: Decimal): string {
  if (isMissing(value)) return UNKNOWN;
  return `${formatted(value, { minimumFractionDigits: 1, maximumFractionDigits: 2 })}x`;
}

/** Base units as a plain decimal, to be formatted or sent. */
export function fromUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${digits.slice(0, digits.length - decimals)}${decimals === 0 || fraction === '' ? '' : `.${fraction}`}`;
}

/** Base units of a plain decimal; decimals beyond those of the token are cut. */
export function toUnits(plain: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = plain.split('.');
  return BigInt(`${whole}${fraction.slice(0, decimals).padEnd(decimals, '0')}`);
}

const DAY = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const MINUTE = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
});

/** A time in UTC, as a day or to the minute. */
export const day = (ms: number): string => DAY.format(ms);
export const minute = (ms: number): string => `${MINUTE.format(ms)} UTC`;

const CLOCK = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' });
export const clock = (ms: number): string => CLOCK.format(ms);

/** How long ago a value was measured: `12 minutes`. */
export function age(seconds: number): string {
  const steps: readonly (readonly [number, string])[] = [
    [86_400, 'day'],
    [3_600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ];
  const [size, unit] = steps.find(([least]) => seconds >= least) ?? [1, 'second'];
  const count = Math.max(0, Math.floor(seconds / size));
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
}

export const shortened = (hash: string): string => `${hash.slice(0, 6)}…${hash.slice(-4)}`;
