import { decodeFunctionResult, zeroAddress } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import { aggregatorAbi, feedOracleAbi } from '../../abi/feeds.ts';
import { oracleAbi } from '../../abi/oracle.ts';
import type { OracleFeed } from '../../domain/facts.ts';
import { feedAt } from '../../domain/market/price-age.ts';
import type { Address } from '../../shared/ids.ts';
import { type Decoded, decoded } from '../decode.ts';
import type { BlockRef, Call, CallResult } from '../types.ts';

/** Answer of an oracle. */
export interface OracleAnswer {
  /** Scaled by 1e36. */
  readonly price: Decoded<bigint>;
  /** The feeds behind it; a failure when it does not name them. */
  readonly feeds: Decoded<readonly Address[]>;
}

const VIEWS = (['BASE_FEED_1', 'BASE_FEED_2', 'QUOTE_FEED_1', 'QUOTE_FEED_2'] as const).map((functionName) => ({
  functionName,
  data: encodeFunctionData({ abi: feedOracleAbi, functionName }),
}));
const PRICE = encodeFunctionData({ abi: oracleAbi, functionName: 'price' });
const LATEST_ROUND_DATA = encodeFunctionData({ abi: aggregatorAbi, functionName: 'latestRoundData' });
const CALLS = VIEWS.length + 1;

/** Gas of immutables of a known contract. */
const VIEW_GAS = 8_000n;
/** Most oracles take 10,000 to 300,000 gas; one that values a vault with thirty markets takes a million. */
const PRICE_GAS = 150_000n;
/** A feed is a proxy before an aggregator. */
const FEED_GAS = 40_000n;

/** Plan the first round: the feeds and the price of each oracle, five calls each. */
export function planOracles(oracles: readonly Address[]): readonly Call[] {
  return oracles.flatMap((to) => [
    ...VIEWS.map(({ data }) => ({ to, data, gas: VIEW_GAS, mayBeAbsent: true })),
    { to, data: PRICE, gas: PRICE_GAS },
  ]);
}

/** Fold the first round's answers, in the order of the oracles. */
export function foldOracles(
  oracles: readonly Address[],
  results: readonly CallResult[],
): ReadonlyMap<Address, OracleAnswer> {
  return new Map(
    oracles.map((oracle, i) => {
      const answers = results.slice(i * CALLS, (i + 1) * CALLS);
      return [oracle, { feeds: feedsIn(answers), price: decoded(answers.at(-1), 1, priceIn) }];
    }),
  );
}

/** Plan the second round: the update time of each feed, one call each. */
export function planFeedDates(feeds: readonly Address[]): readonly Call[] {
  return feeds.map((to) => ({ to, data: LATEST_ROUND_DATA, gas: FEED_GAS }));
}

/** Fold the second round's answers, in the order of the feeds. A feed without a plausible time has none in the result. */
export function foldFeedDates(
  feeds: readonly Address[],
  results: readonly CallResult[],
  block: BlockRef,
): ReadonlyMap<Address, OracleFeed> {
  return new Map(
    feeds.map((address, i) => {
      const updated = decoded(
        results[i],
        5,
        (data) => decodeFunctionResult({ abi: aggregatorAbi, functionName: 'latestRoundData', data })[3],
      );
      return [address, feedAt(address, updated.ok ? updated.value : undefined, block.timestamp)];
    }),
  );
}

/** An oracle of another kind does not name its feeds. The zero address means none. */
function feedsIn(answers: readonly CallResult[]): Decoded<readonly Address[]> {
  const feeds = new Set<Address>();
  for (const [i, { functionName }] of VIEWS.entries()) {
    const feed = decoded(answers[i], 1, (data) => ({
      address: decodeFunctionResult({ abi: feedOracleAbi, functionName, data }),
    }));
    if (!feed.ok) return feed;
    if (feed.value.address !== zeroAddress) feeds.add(feed.value.address);
  }
  return { ok: true, value: [...feeds] };
}

/** A price of zero is implausible. */
function priceIn(data: `0x${string}`) {
  const price = BigInt(data);
  return price === 0n ? 'implausible' : price;
}
