import type { OracleFeed } from '../../domain/facts.ts';
import type { Address } from '../../shared/ids.ts';
import { decodeFeeds, encodeFeedLens } from '../lens/feed-words.ts';
import type { LensCall } from '../lens/lens.ts';
import type { BlockRef, CallResult } from '../types.ts';

type Steps<T> = Generator<void, T, void>;

/** A call of the feed lens, and the oracles in the order of its rows. */
export interface FeedQuestion extends LensCall {
  readonly oracles: readonly Address[];
}

/**
 * A usual oracle takes some 30,000 gas and 20,000 for each feed, its row 32,000 to return: a hundred fit into the 16.7 million
 * of a transaction since Osaka (EIP-7825).
 */
const ORACLES_PER_CALL = 100;

/** Plan the calls that read the feeds behind oracles; none for no oracle. */
export function* planFeeds(
  oracles: readonly Address[],
  oraclesPerCall: number = ORACLES_PER_CALL,
): Steps<readonly FeedQuestion[]> {
  const questions: FeedQuestion[] = [];
  for (let at = 0; at < oracles.length; at += oraclesPerCall) {
    const some = oracles.slice(at, at + oraclesPerCall);
    questions.push({ oracles: some, count: some.length, data: encodeFeedLens(some) });
    yield;
  }
  return questions;
}

/** Fold the answers, in the order of the questions: the feeds of each oracle that names them. */
export function* foldFeeds(
  questions: readonly FeedQuestion[],
  results: readonly CallResult[],
  block: BlockRef,
): Steps<ReadonlyMap<Address, readonly OracleFeed[]>> {
  const known = new Map<Address, readonly OracleFeed[]>();
  for (const [call, { oracles }] of questions.entries()) {
    const result = results[call];
    if (!result?.ok) continue;
    for (const [row, oracle] of oracles.entries()) {
      const feeds = decodeFeeds(result.data, row, block);
      if (feeds.ok) known.set(oracle, feeds.value);
      yield;
    }
  }
  return known;
}
