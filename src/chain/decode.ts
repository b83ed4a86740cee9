import { type Hex, size } from 'viem';
import type { FailureReason } from '../domain/facts.ts';
import type { CallResult } from './types.ts';

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: FailureReason };

const RAY = 10n ** 27n;
/** A tenfold growth in a year, ln(10) / year: no savings rate comes near. */
const MAX_RAY_RATE = RAY + (2_302_585_093n * 10n ** 18n) / 31_536_000n;

/** Read a savings rate: growth factor per second in ray, at least 1. */
export function decodeRayRate(result: CallResult): Decoded<bigint> {
  return decoded(result, (data) => {
    const rate = uintOf(data);
    return rate < RAY || rate > MAX_RAY_RATE ? 'implausible' : rate;
  });
}

/** Read an answer; whatever cannot be read is `malformed`, and `read` may name another reason. */
export function decoded<T extends object | bigint>(
  result: CallResult,
  read: (data: Hex) => T | FailureReason,
): Decoded<T> {
  if (!result.ok) return result;
  try {
    const value = read(result.data);
    return typeof value === 'string' ? { ok: false, reason: value } : { ok: true, value };
  } catch {
    return { ok: false, reason: 'malformed' };
  }
}

function uintOf(data: Hex): bigint {
  if (size(data) !== 32) throw new RangeError('expected one word');
  return BigInt(data);
}
