import { type Hex, size } from 'viem';
import type { FailureReason, LendingState } from '../domain/facts.ts';
import type { CallResult } from './types.ts';
import { wordAt } from './words.ts';

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: FailureReason };

/** The stored state of a market, without its rates and block. */
export type MarketTotals = Pick<
  LendingState,
  'totalSupplyAssets' | 'totalSupplyShares' | 'totalBorrowAssets' | 'totalBorrowShares' | 'lastUpdate' | 'fee'
>;

const WAD = 10n ** 18n;
/** The protocol's own ceiling for a fee. */
const MAX_FEE = WAD / 4n;
/** Far above the model's maximum of 800 % a year: above it, a rate is no rate. */
const MAX_RATE_PER_SECOND = (100n * WAD) / 31_536_000n;

/** Read a market's totals. One that was never created is `missing`; one that lent more than it has is `implausible`. */
export function decodeMarket(result: CallResult): Decoded<MarketTotals> {
  return decoded(result, (data) => {
    const totalSupplyAssets = wordAt(data, 0);
    const totalSupplyShares = wordAt(data, 1);
    const totalBorrowAssets = wordAt(data, 2);
    const totalBorrowShares = wordAt(data, 3);
    const lastUpdate = wordAt(data, 4);
    const fee = wordAt(data, 5);
    if (lastUpdate === 0n) return 'missing';
    if (totalBorrowAssets > totalSupplyAssets || fee > MAX_FEE) return 'implausible';
    return { totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares, lastUpdate, fee };
  });
}

/** Read the rate at target utilization: per second in WAD, zero before a market's first interaction. */
export function decodeRateAtTarget(result: CallResult): Decoded<bigint> {
  return decoded(result, (data) => {
    const rate = BigInt.asIntN(256, wordAt(data, 0));
    return rate < 0n || rate > MAX_RATE_PER_SECOND ? 'implausible' : rate;
  });
}

/** Read a borrow rate: per second in WAD. */
export function decodeBorrowRate(result: CallResult): Decoded<bigint> {
  return decoded(result, (data) => {
    const rate = wordAt(data, 0);
    return rate > MAX_RATE_PER_SECOND ? 'implausible' : rate;
  });
}

/** Read an oracle's price, scaled by 1e36. Zero is no price. */
export function decodePrice(result: CallResult): Decoded<bigint> {
  return decoded(result, (data) => uintOf(data) || 'implausible');
}

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
