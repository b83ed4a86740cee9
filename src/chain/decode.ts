import { type Hex, size } from 'viem';
import type { FailureReason } from '../domain/facts.ts';
import type { CallResult, Readings } from './types.ts';

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: FailureReason };

const RAY = 10n ** 27n;
/** A tenfold growth in a year, ln(10) / year: far above any savings rate. */
const MAX_RAY_RATE = RAY + (2_302_585_093n * 10n ** 18n) / 31_536_000n;

/** Decode a savings rate: growth factor per second in ray, at least 1. */
export function decodeRayRate(result: CallResult | undefined): Decoded<bigint> {
  return decoded(result, 1, (data) => {
    const rate = BigInt(data);
    return rate < RAY || rate > MAX_RAY_RATE ? 'implausible' : rate;
  });
}

/**
 * Decode an answer of `words` 32-byte words; without a number, `read` checks the length. An answer that cannot be decoded is
 * `malformed`; `read` may return another reason.
 */
export function decoded<T extends object | bigint>(
  result: CallResult | undefined,
  words: number | undefined,
  read: (data: Hex) => T | FailureReason,
): Decoded<T> {
  if (result?.ok === false) return result;
  try {
    if (result === undefined || (words !== undefined && size(result.data) !== words * 32)) return MALFORMED;
    const value = read(result.data);
    return typeof value === 'string' ? { ok: false, reason: value } : { ok: true, value };
  } catch {
    return MALFORMED;
  }
}

const MALFORMED = { ok: false, reason: 'malformed' } as const;

/** Sort decoded answers into values and failures. */
export function readingsOf<K extends string, T>(rows: Iterable<readonly [K, Decoded<T>]>): Readings<K, T> {
  const values = new Map<K, T>();
  const failures = new Map<K, FailureReason>();
  for (const [key, result] of rows) {
    if (result.ok) values.set(key, result.value);
    else failures.set(key, result.reason);
  }
  return { values, failures };
}
