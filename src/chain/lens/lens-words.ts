import { MARKET_LENS_CODE } from '../../abi/generated/market-lens.ts';
import type { FailureReason, LendingState } from '../../domain/facts.ts';
import type { Address, Hex, MarketId } from '../../shared/ids.ts';
import type { Decoded } from '../decode.ts';
import type { BlockRef } from '../types.ts';

/*
 * What `contracts/product/MarketLens.sol` takes and returns, as digits: two for a byte, behind 0x. Numbers are read from
 * where they stand, so that a market costs little more than the numbers themselves.
 */

const START = 2;
const WORD_DIGITS = 64;
const HALF_DIGITS = 32;
const HEADER_DIGITS = 3 * WORD_DIGITS;
const ROW_DIGITS = 5 * WORD_DIGITS;

/** Where a row's fourth word begins: the statuses, and behind them both rates. */
const STATUS_AT = 3 * WORD_DIGITS;
const STATUS_DIGITS = 4;
const RATE_DIGITS = 30;
const PRICE_AT = 4 * WORD_DIGITS;

/** By status; the second is an answer. Too little gas is the node's limit, and no fault of what was asked. */
const REASONS = ['server_error', null, 'reverted', 'malformed'] as const satisfies readonly (FailureReason | null)[];
const STATUS_BITS = 2;
/** What a status belongs to, in the order of the bits. */
const [MARKET, RATE_AT_TARGET, BORROW_RATE, PRICE] = [0, 1, 2, 3] as const;

const WAD = 10n ** 18n;
/** The protocol's own ceiling for a fee. */
const MAX_FEE = WAD / 4n;
/** Far above the model's maximum of 800 % a year: above it, a rate is no rate. */
const MAX_RATE_PER_SECOND = (100n * WAD) / 31_536_000n;

export interface LensHeader {
  /** Unix seconds. */
  readonly timestamp: bigint;
  readonly chainId: bigint;
  readonly count: number;
}

/** Write the question about markets: the lens itself, their ids, how many they are, and whom to ask. */
export function encodeLens(morphoBlue: Address, ids: readonly MarketId[]): Hex {
  const count = ids.length.toString(16).padStart(24, '0');
  return `${MARKET_LENS_CODE}${ids.map((id) => id.slice(2)).join('')}${count}${morphoBlue.slice(2).toLowerCase()}`;
}

/** Read where and about how many markets was answered. @throws RangeError for anything that the lens cannot have returned */
export function decodeLensHeader(data: Hex): LensHeader {
  if (!/^0x[0-9a-f]*$/i.test(data)) throw new RangeError('no bytes');
  const rows = data.length - START - HEADER_DIGITS;
  const count = rows < 0 ? Number.NaN : Number(numberAt(data, START + 2 * WORD_DIGITS, WORD_DIGITS));
  if (rows !== count * ROW_DIGITS) throw new RangeError('another length than it says');
  return {
    timestamp: numberAt(data, START, WORD_DIGITS),
    chainId: numberAt(data, START + WORD_DIGITS, WORD_DIGITS),
    count,
  };
}

/**
 * Read the state of the market at an index. One that was never created is `missing`; one that lent more than it has, or
 * that was updated after the block, is `implausible`.
 */
export function decodeLensState(data: Hex, index: number, block: BlockRef): Decoded<LendingState> {
  const row = rowAt(index);
  const market = reasonIn(data, row, MARKET);
  if (market) return failed(market);
  const totalSupplyAssets = numberAt(data, row, HALF_DIGITS);
  const totalSupplyShares = numberAt(data, row + HALF_DIGITS, HALF_DIGITS);
  const totalBorrowAssets = numberAt(data, row + 2 * HALF_DIGITS, HALF_DIGITS);
  const totalBorrowShares = numberAt(data, row + 3 * HALF_DIGITS, HALF_DIGITS);
  const lastUpdate = numberAt(data, row + 4 * HALF_DIGITS, HALF_DIGITS);
  const fee = numberAt(data, row + 5 * HALF_DIGITS, HALF_DIGITS);
  if (lastUpdate === 0n) return failed('missing');
  if (totalBorrowAssets > totalSupplyAssets || fee > MAX_FEE || lastUpdate > block.timestamp) {
    return failed('implausible');
  }
  const noRate = reasonIn(data, row, RATE_AT_TARGET) ?? reasonIn(data, row, BORROW_RATE);
  if (noRate) return failed(noRate);
  // A negative rate at target is a number beyond every field, and told as its largest.
  const rateAtTarget = numberAt(data, row + STATUS_AT + STATUS_DIGITS, RATE_DIGITS);
  const borrowRate = numberAt(data, row + STATUS_AT + STATUS_DIGITS + RATE_DIGITS, RATE_DIGITS);
  if (rateAtTarget > MAX_RATE_PER_SECOND || borrowRate > MAX_RATE_PER_SECOND) return failed('implausible');
  return {
    ok: true,
    value: {
      totalSupplyAssets,
      totalSupplyShares,
      totalBorrowAssets,
      totalBorrowShares,
      lastUpdate,
      fee,
      rateAtTarget,
      borrowRate,
      blockNumber: block.number,
      blockTimestamp: block.timestamp,
    },
  };
}

/** Read the price of the oracle of the market at an index, scaled by 1e36. Zero is no price. */
export function decodeLensPrice(data: Hex, index: number): Decoded<bigint> {
  const row = rowAt(index);
  const reason = reasonIn(data, row, PRICE);
  if (reason) return failed(reason);
  const price = numberAt(data, row + PRICE_AT, WORD_DIGITS);
  return price === 0n ? failed('implausible') : { ok: true, value: price };
}

function rowAt(index: number): number {
  return START + HEADER_DIGITS + index * ROW_DIGITS;
}

function reasonIn(data: Hex, row: number, value: number): FailureReason | null {
  const at = row + STATUS_AT;
  const statuses = Number.parseInt(data.slice(at, at + STATUS_DIGITS), 16);
  return REASONS[((statuses >> (value * STATUS_BITS)) & 3) as 0 | 1 | 2 | 3];
}

function numberAt(data: Hex, at: number, digits: number): bigint {
  return BigInt(`0x${data.slice(at, at + digits)}`);
}

function failed(reason: FailureReason): { readonly ok: false; readonly reason: FailureReason } {
  return { ok: false, reason };
}
