import type { Market } from '../../catalog/types.ts';
import type { FailureReason, LendingState, OraclePrice } from '../../domain/facts.ts';
import type { Address, MarketId } from '../../shared/ids.ts';
import type { Decoded } from '../decode.ts';
import type { LensCall } from '../lens/lens.ts';
import { decodeLensPrice, decodeLensState, encodeLens } from '../lens/lens-words.ts';
import type { BlockRef, CallResult, Readings } from '../types.ts';

/** Work that a large chain makes long: whoever runs it may pause between any two steps. */
type Steps<T> = Generator<void, T, void>;

/** A call of the lens, and the markets in the order of its rows. */
export interface LendingQuestion extends LensCall {
  readonly markets: readonly Market[];
}

export interface LendingReadings {
  readonly lending: Readings<MarketId, LendingState>;
  readonly oracle: Readings<Address, OraclePrice>;
}

/**
 * Three limits, of which the first counts. Gas: a market takes 34,000 to read, its oracle usually some 60,000, its row 32,000 to
 * return; with what the lens keeps for one more oracle a hundred fit into the 16.7 million of a transaction since Osaka
 * (EIP-7825), and leave room for ten oracles that burn theirs in the 50 million that geth gives a call (`--rpc.gascap`).
 * What is returned counts as code of at most 24,576 bytes (EIP-170), 153 markets; what is sent as creation code of at most
 * 49,152 bytes (EIP-3860), 1,500 markets.
 */
export const MARKETS_PER_CALL = 100;

/** Plan the calls that read all markets. At least one, which also tells the block's time: of no market, where there is none. */
export function* planLendingState(
  morphoBlue: Address,
  markets: readonly Market[],
  marketsPerCall: number = MARKETS_PER_CALL,
): Steps<readonly LendingQuestion[]> {
  const questions: LendingQuestion[] = [];
  for (let at = 0; at === 0 || at < markets.length; at += marketsPerCall) {
    const some = markets.slice(at, at + marketsPerCall);
    const ids = some.map(({ id }) => id);
    questions.push({ markets: some, count: some.length, data: encodeLens(morphoBlue, ids) });
    yield;
  }
  return questions;
}

/** Fold the answers, in the order of the questions. An oracle that several markets share has one reading. */
export function* foldLendingState(
  questions: readonly LendingQuestion[],
  results: readonly CallResult[],
  block: BlockRef,
): Steps<LendingReadings> {
  const lending = emptyReadings<MarketId, LendingState>();
  const oracle = emptyReadings<Address, OraclePrice>();
  for (const [call, { markets }] of questions.entries()) {
    const result = results[call] ?? { ok: false, reason: 'malformed' };
    for (const [row, market] of markets.entries()) {
      const state = result.ok ? decodeLensState(result.data, row, block) : result;
      put(lending, market.id, state);
      // Asked in two calls, it may have answered in one of them only.
      if (!oracle.values.has(market.oracle)) {
        const price = result.ok ? decodeLensPrice(result.data, row) : result;
        put(oracle, market.oracle, priceAt(price, state, block));
      }
      yield;
    }
  }
  return { lending, oracle };
}

/** Sort decoded answers into values and failures. */
export function readingsOf<K extends string, T>(decoded: readonly (readonly [K, Decoded<T>])[]): Readings<K, T> {
  const readings = emptyReadings<K, T>();
  for (const [key, result] of decoded) put(readings, key, result);
  return readings;
}

interface Sorted<K extends string, T> extends Readings<K, T> {
  readonly values: Map<K, T>;
  readonly failures: Map<K, FailureReason>;
}

function emptyReadings<K extends string, T>(): Sorted<K, T> {
  return { values: new Map(), failures: new Map() };
}

function put<K extends string, T>({ values, failures }: Sorted<K, T>, key: K, result: Decoded<T>): void {
  if (!result.ok) return void failures.set(key, result.reason);
  values.set(key, result.value);
  failures.delete(key);
}

/** The oracle of a market that was never created is nobody's: the lens knows it through the market alone. */
function priceAt(price: Decoded<bigint>, state: Decoded<LendingState>, block: BlockRef): Decoded<OraclePrice> {
  if (price.ok) return { ok: true, value: { price: price.value, blockNumber: block.number } };
  return !state.ok && state.reason === 'missing' ? state : price;
}
