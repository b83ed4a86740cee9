import { encodeFunctionData, getAbiItem, toFunctionSelector } from 'viem';
import { irmAbi } from '../../abi/irm.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import { oracleAbi } from '../../abi/oracle.ts';
import type { Market } from '../../catalog/types.ts';
import type { FailureReason, LendingState, OraclePrice } from '../../domain/facts.ts';
import { oncePer } from '../../domain/memo.ts';
import type { Address, Hex, MarketId } from '../../shared/ids.ts';
import { eachStep } from '../../shared/slices.ts';
import {
  type Decoded,
  decodeBorrowRate,
  decodeMarket,
  decodePrice,
  decodeRateAtTarget,
  type MarketTotals,
} from '../decode.ts';
import type { BlockRef, Call, CallResult, Readings } from '../types.ts';
import { wordOf, wordOfAddress } from '../words.ts';

/** Work that a large chain makes long: whoever runs it may pause between any two steps. */
type Steps<T> = Generator<void, T, void>;

/** Markets whose stored state was read and whose current rate is asked next. */
export interface StoredMarket {
  readonly market: Market;
  readonly totals: MarketTotals;
  readonly rateAtTarget: bigint;
}

export interface StoredState {
  readonly markets: readonly StoredMarket[];
  readonly failures: ReadonlyMap<MarketId, FailureReason>;
  readonly oracle: Readings<Address, OraclePrice>;
}

const MARKET = toFunctionSelector(getAbiItem({ abi: morphoBlueAbi, name: 'market' }));
const RATE_AT_TARGET = toFunctionSelector(getAbiItem({ abi: irmAbi, name: 'rateAtTarget' }));
const BORROW_RATE_VIEW = toFunctionSelector(getAbiItem({ abi: irmAbi, name: 'borrowRateView' }));
const PRICE = encodeFunctionData({ abi: oracleAbi, functionName: 'price' });
/** Fields of the protocol's `Market`, in its order. */
const TOTALS = [
  'totalSupplyAssets',
  'totalSupplyShares',
  'totalBorrowAssets',
  'totalBorrowShares',
  'lastUpdate',
  'fee',
] as const satisfies readonly (keyof MarketTotals)[];

/**
 * Plan the first round: per market its totals and rate at target, then every oracle once. Oracles stand last, because
 * they are the only code that is not the protocol's: one that burns its gas cannot take a market with it.
 */
export function* planStoredState(morphoBlue: Address, markets: readonly Market[]): Steps<readonly Call[]> {
  const totals = yield* eachStep(markets, ({ id }) => ({ to: morphoBlue, data: `${MARKET}${id.slice(2)}` as Hex }));
  const rates = yield* eachStep(markets, ({ id, irm }) => ({
    to: irm,
    data: `${RATE_AT_TARGET}${id.slice(2)}` as Hex,
  }));
  const prices = yield* eachStep(yield* oraclesOf(markets), (oracle) => ({ to: oracle, data: PRICE }));
  return [...totals, ...rates, ...prices];
}

/** Fold the first round's answers, in the order of `planStoredState`. */
export function* foldStoredState(
  markets: readonly Market[],
  results: readonly CallResult[],
  block: BlockRef,
): Steps<StoredState> {
  const stored: StoredMarket[] = [];
  const failures = new Map<MarketId, FailureReason>();
  for (const [i, market] of markets.entries()) {
    const totals = decodeMarket(at(results, i));
    const rateAtTarget = decodeRateAtTarget(at(results, markets.length + i));
    if (!totals.ok) failures.set(market.id, totals.reason);
    else if (totals.value.lastUpdate > block.timestamp) failures.set(market.id, 'implausible');
    else if (!rateAtTarget.ok) failures.set(market.id, rateAtTarget.reason);
    else stored.push({ market, totals: totals.value, rateAtTarget: rateAtTarget.value });
    yield;
  }
  const oracles = yield* eachStep(yield* oraclesOf(markets), (oracle, i) => {
    const price = decodePrice(at(results, 2 * markets.length + i));
    return [oracle, priceAt(price, block)] as const;
  });
  return { markets: stored, failures, oracle: readingsOf(oracles) };
}

/** Plan the second round: the rate now of every market whose state is known. */
export function planBorrowRates(markets: readonly StoredMarket[]): Steps<readonly Call[]> {
  return eachStep(markets, ({ market, totals }) => ({
    to: market.irm,
    data: `${BORROW_RATE_VIEW}${wordsOfParams(market)}${TOTALS.map((name) => wordOf(totals[name])).join('')}` as Hex,
  }));
}

/** The five parameters that tell one market from another, as the protocol hashes them into its id. */
const wordsOfParams: (market: Market) => string = oncePer(({ loan, collateral, oracle, irm, lltv }) =>
  [...[loan.address, collateral.address, oracle, irm].map(wordOfAddress), wordOf(lltv)].join(''),
);

/** Fold the second round's answers, in the order of `planBorrowRates`. */
export function* foldLendingState(
  stored: StoredState,
  results: readonly CallResult[],
  block: BlockRef,
): Steps<Readings<MarketId, LendingState>> {
  const decode = ({ market, totals, rateAtTarget }: StoredMarket, i: number): [MarketId, Decoded<LendingState>] => {
    const rate = decodeBorrowRate(at(results, i));
    if (!rate.ok) return [market.id, rate];
    const { number: blockNumber, timestamp: blockTimestamp } = block;
    return [
      market.id,
      { ok: true, value: { ...totals, rateAtTarget, borrowRate: rate.value, blockNumber, blockTimestamp } },
    ];
  };
  const { values, failures } = readingsOf(yield* eachStep(stored.markets, decode));
  return { values, failures: new Map([...stored.failures, ...failures]) };
}

/** Sort decoded answers into values and failures. */
export function readingsOf<K extends string, T>(decoded: readonly (readonly [K, Decoded<T>])[]): Readings<K, T> {
  const values = new Map<K, T>();
  const failures = new Map<K, FailureReason>();
  for (const [key, result] of decoded) {
    if (result.ok) values.set(key, result.value);
    else failures.set(key, result.reason);
  }
  return { values, failures };
}

function* oraclesOf(markets: readonly Market[]): Steps<readonly Address[]> {
  const oracles = new Set<Address>();
  for (const { oracle } of markets) {
    oracles.add(oracle);
    yield;
  }
  return [...oracles];
}

function priceAt(price: Decoded<bigint>, block: BlockRef): Decoded<OraclePrice> {
  return price.ok ? { ok: true, value: { price: price.value, blockNumber: block.number } } : price;
}

function at(results: readonly CallResult[], index: number): CallResult {
  return results[index] ?? { ok: false, reason: 'malformed' };
}
