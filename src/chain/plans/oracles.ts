import { decodeFunctionResult, zeroAddress } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import { aggregatorAbi, feedOracleAbi } from '../../abi/feeds.ts';
import { oracleAbi } from '../../abi/oracle.ts';
import { addressAt, uintAt } from '../../abi/words.ts';
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
  /** The vaults behind it; a failure when it does not name them. */
  readonly vaults: Decoded<readonly Address[]>;
}

const FEEDS = ['BASE_FEED_1', 'BASE_FEED_2', 'QUOTE_FEED_1', 'QUOTE_FEED_2'] as const;
const VAULTS = ['BASE_VAULT', 'QUOTE_VAULT'] as const;
const VIEWS = [...FEEDS, ...VAULTS].map((functionName) => encodeFunctionData({ abi: feedOracleAbi, functionName }));
const PRICE = encodeFunctionData({ abi: oracleAbi, functionName: 'price' });
const LATEST_ROUND_DATA = encodeFunctionData({ abi: aggregatorAbi, functionName: 'latestRoundData' });
const DESCRIPTION = encodeFunctionData({ abi: aggregatorAbi, functionName: 'description' });
const CALLS = VIEWS.length + 1;

/** Gas of immutables of a known contract. */
const VIEW_GAS = 8_000n;
/** Most oracles take 10,000 to 300,000 gas; one that values a vault with thirty markets takes a million. */
const PRICE_GAS = 150_000n;
/** A feed is a proxy before an aggregator. */
const FEED_GAS = 40_000n;

/** Plan the first round: the feeds, the vaults and the price of each oracle, seven calls each. */
export function planOracles(oracles: readonly Address[]): readonly Call[] {
  return oracles.flatMap((to) => [
    ...VIEWS.map((data) => ({ to, data, gas: VIEW_GAS, mayBeAbsent: true })),
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
      return [
        oracle,
        {
          feeds: addressesIn(answers.slice(0, FEEDS.length)),
          vaults: addressesIn(answers.slice(FEEDS.length, VIEWS.length)),
          price: decoded(answers.at(-1), 1, priceIn),
        },
      ];
    }),
  );
}

/** A feed with its description; `undefined` = it has none that is readable. */
export interface FeedAnswer {
  readonly feed: OracleFeed;
  readonly description: string | undefined;
}

/** Plan the second round: the update time and the description of each feed, two calls each. */
export function planFeeds(feeds: readonly Address[]): readonly Call[] {
  return feeds.flatMap((to) => [
    { to, data: LATEST_ROUND_DATA, gas: FEED_GAS },
    { to, data: DESCRIPTION, gas: FEED_GAS, mayBeAbsent: true },
  ]);
}

/** Fold the second round's answers, in the order of the feeds. A feed without a plausible time has none in the result. */
export function foldFeeds(
  feeds: readonly Address[],
  results: readonly CallResult[],
  block: BlockRef,
): ReadonlyMap<Address, FeedAnswer> {
  return new Map(
    feeds.map((address, i) => {
      const updated = decoded(results[2 * i], 5, (data) => uintAt(data, 3));
      const described = decoded(results[2 * i + 1], undefined, (data) => ({
        text: decodeFunctionResult({ abi: aggregatorAbi, functionName: 'description', data }),
      }));
      const feed = feedAt(address, updated.ok ? updated.value : undefined, block.timestamp);
      return [address, { feed, description: described.ok ? described.value.text : undefined }];
    }),
  );
}

/** An oracle of another kind does not name them. The zero address means none. */
function addressesIn(answers: readonly CallResult[]): Decoded<readonly Address[]> {
  const found = new Set<Address>();
  for (const answer of answers) {
    const one = decoded(answer, 1, (data) => ({ address: addressAt(data, 0) }));
    if (!one.ok) return one;
    if (one.value.address !== zeroAddress) found.add(one.value.address);
  }
  return { ok: true, value: [...found] };
}

/** A price of zero is implausible. */
function priceIn(data: `0x${string}`) {
  const price = BigInt(data);
  return price === 0n ? 'implausible' : price;
}
