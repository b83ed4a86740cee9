import { getAddress } from 'viem';
import type { FailureReason } from '../domain/facts.ts';
import { compacted, Decimal } from '../shared/decimal.ts';
import { ADDRESS_PATTERN, type Address } from '../shared/ids.ts';
import { observedAt } from '../shared/observed.ts';

/** One parsed value of an answer, or the reason why it is unusable. */
export type ParsedValue<T> =
  | {
      readonly ok: true;
      readonly value: T;
      /** Measurement time, ms, if the answer has one; otherwise the time of the request counts. */
      readonly measuredMs?: number | undefined;
    }
  | { readonly ok: false; readonly reason: FailureReason };

/** Plausible range of one kind of value, in our unit. */
export interface NumericRange {
  readonly min: Decimal;
  readonly minIncluded: boolean;
  /** Included. */
  readonly max: Decimal;
}

const range = (min: string, minIncluded: boolean, max: string): NumericRange => ({
  min: new Decimal(min),
  minIncluded,
  max: new Decimal(max),
});

/** Percent a year. −100 would be a total loss; above 1000 the unit is wrong or the share price broken. */
export const APY_PCT = range('-100', false, '1000');
/** Percent a year of an incentive: never negative. */
export const APR_PCT = range('0', true, '1000');
/** Percent a year of a borrow rate: the rate model cannot go below zero. */
export const BORROW_APY_PCT = range('0', true, '1000');
/** USD per whole token. No token of the catalog comes near a billion; some feeds return zero for "unknown". */
export const PRICE_USD = range('0', false, '999999999');
/** USD in a pool or a trade; zero is an empty pool. */
export const USD_AMOUNT = range('0', false, '1000000000000');
/** Bounds of charts and candles: of the price of any coin, and of a market's total, in any currency. A larger value has a wrong unit. */
export const MAX_CHART_PRICE = 1e15;
export const MAX_CHART_AMOUNT = 1e20;

const NUMBER_TEXT = /^-?\d{1,80}(\.\d{1,80})?([eE][+-]?\d{1,3})?$/;
const UINT256_MAX = 2n ** 256n - 1n;
const failed = (reason: FailureReason): { readonly ok: false; readonly reason: FailureReason } => ({
  ok: false,
  reason,
});

/**
 * Read a JSON number, or a number in a string, exactly: a JSON number by its shortest decimal text. `decimalShift` converts
 * the unit before the range is checked (2: fraction → percent).
 */
export function readDecimal(raw: unknown, within: NumericRange, decimalShift = 0): ParsedValue<Decimal> {
  if (raw === undefined || raw === null || raw === '') return failed('missing');
  if (typeof raw !== 'number' && typeof raw !== 'string') return failed('malformed');
  const text = String(raw);
  if (!NUMBER_TEXT.test(text)) return failed(/^[+-]?(nan|inf(inity)?)$/i.test(text) ? 'implausible' : 'malformed');
  const value = compacted(new Decimal(text).shiftedBy(decimalShift));
  const aboveMin = within.minIncluded ? value.gte(within.min) : value.gt(within.min);
  return aboveMin && value.lte(within.max) ? { ok: true, value } : failed('implausible');
}

/** Read an amount in base units: digits in a string, or a JSON number small enough to be exact. */
export function readAmount(raw: unknown): ParsedValue<bigint> {
  if (raw === undefined || raw === null || raw === '') return failed('missing');
  if (typeof raw === 'number')
    return Number.isSafeInteger(raw) && raw >= 0 ? readAmount(String(raw)) : failed('implausible');
  if (typeof raw !== 'string') return failed('malformed');
  if (!/^\d{1,78}$/.test(raw)) return failed(/^-?\d+(\.\d+)?$/.test(raw) ? 'implausible' : 'malformed');
  const value = BigInt(raw);
  return value <= UINT256_MAX ? { ok: true, value } : failed('implausible');
}

/** From 2015 (before the protocols existed) to 2100. */
const EARLIEST_MS = 1_420_070_400_000;
const LATEST_MS = 4_102_444_800_000;
/** Valid times in seconds are below this number, in milliseconds above: it is March 1973 in ms, the year 5138 in seconds. */
const SECONDS_BELOW = 100_000_000_000;

export type TimeUnit = 'sec' | 'ms' | 'any';

/** Read the time of an observation, ms: at most now. A time in the future is `implausible`. */
export function readObservedMs(raw: unknown, unit: TimeUnit, nowMs: number): ParsedValue<number> {
  const time = readTimeMs(raw, unit);
  if (!time.ok) return time;
  const atMs = observedAt(time.value, nowMs);
  return atMs === null ? failed('implausible') : { ok: true, value: atMs };
}

/**
 * Read a time as ms, also a future one such as a start, an end or a maturity. `any`: an ISO date, seconds or milliseconds,
 * distinguished by form and size.
 */
export function readTimeMs(raw: unknown, unit: TimeUnit): ParsedValue<number> {
  if (raw === undefined || raw === null || raw === '') return failed('missing');
  const isDigits = typeof raw === 'string' && /^\d+(\.\d+)?$/.test(raw);
  if (typeof raw === 'string' && !isDigits) return unit === 'any' ? checkTime(parseDate(raw)) : failed('malformed');
  if (typeof raw !== 'number' && typeof raw !== 'string') return failed('malformed');
  const value = Number(raw);
  const inSeconds = unit === 'sec' || (unit === 'any' && Math.abs(value) < SECONDS_BELOW);
  return checkTime(Math.round(inSeconds ? value * 1000 : value));
}

const ISO_DATE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(?:Z|([+-]\d{2}):?(\d{2}))?)?$/;

/** Parse an ISO 8601 date, ms; without a zone it is UTC. `Date.parse` takes the zone of the machine, and 30 February as 2 March. */
function parseDate(text: string): number {
  const [, day, time = '00:00', zoneHours = '+00', zoneMinutes = '00'] = ISO_DATE.exec(text) ?? [];
  const dayMs = Date.parse(`${day}T00:00Z`);
  if (Number.isNaN(dayMs) || new Date(dayMs).toISOString().slice(0, 10) !== day) return Number.NaN;
  return Date.parse(`${day}T${time}${zoneHours}:${zoneMinutes}`);
}

function checkTime(ms: number): ParsedValue<number> {
  if (Number.isNaN(ms)) return failed('malformed');
  return ms >= EARLIEST_MS && ms < LATEST_MS ? { ok: true, value: ms } : failed('implausible');
}

/** Read an address of any hex case into its checksummed form. */
export function readAddress(raw: unknown): ParsedValue<Address> {
  if (raw === undefined || raw === null) return failed('missing');
  if (typeof raw !== 'string' || !ADDRESS_PATTERN.test(raw)) return failed('malformed');
  return { ok: true, value: getAddress(raw.toLowerCase()) };
}
