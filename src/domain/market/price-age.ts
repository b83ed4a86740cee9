import type { Address } from '../../shared/ids.ts';
import { isFromFuture } from '../../shared/observed.ts';
import type { OracleFeed } from '../facts.ts';
import { gap } from '../freshness/gaps.ts';
import { earliestStale, isStale, stampOf } from '../freshness/stamp.ts';
import type { Gap, Stamp } from '../freshness/types.ts';

/** Age of an oracle's price, by the feeds behind it. */
export type PriceAge =
  | {
      readonly state: 'known';
      /** Update of the oldest feed, ms. */
      readonly asOfMs: number;
      /** Stamp of the feed that exceeds its heartbeat first. */
      readonly stamp: Stamp;
      readonly feed: Address;
    }
  /** The price needs no feed: its age is that of the block. */
  | { readonly state: 'not_applicable' }
  /** The oracle does not name its feeds, or one of them has no plausible date. */
  | { readonly state: 'unknown' };

/** Maximum ages of feed answers. */
export interface FeedBudgets {
  /** Published heartbeats in seconds, by the feed's address. */
  readonly heartbeatsSec: ReadonlyMap<Address, number>;
  /** For a feed whose heartbeat is not known, seconds. */
  readonly budgetSec: number;
}

/** An answer takes some blocks to arrive after its heartbeat. */
const GRACE_SEC = 600;
/** The genesis of Ethereum: no feed was updated before. */
const FIRST_BLOCK_SEC = 1_438_269_973n;

/** Check a feed's date, unix seconds; `undefined` = it is later than the block, or before the first block of Ethereum. */
export function believedUpdate(updatedAt: bigint, blockTimestamp: bigint): bigint | undefined {
  const isAhead = isFromFuture(Number(updatedAt) * 1_000, Number(blockTimestamp) * 1_000);
  return updatedAt < FIRST_BLOCK_SEC || isAhead ? undefined : updatedAt;
}

/** Make a feed from the date that it reports at a block; `undefined` = it reported none. */
export function feedAt(address: Address, reported: bigint | undefined, blockTimestamp: bigint): OracleFeed {
  const updatedAt = reported === undefined ? undefined : believedUpdate(reported, blockTimestamp);
  if (updatedAt === undefined) return { address };
  return updatedAt === blockTimestamp ? { address, updatedAt, isOfBlock: true } : { address, updatedAt };
}

/**
 * Keep the date of a feed, or drop it: a feed that reports the time of the block in two readings at different times dates every
 * answer so, and the age of its price is not known. One such date is that of an update in the block of the reading.
 * @param known the feed at the reading before
 */
export function creditedFeed(fresh: OracleFeed, known: OracleFeed | undefined): OracleFeed {
  const isAgain = fresh.isOfBlock && known?.isOfBlock && known.updatedAt !== fresh.updatedAt;
  return isAgain ? { address: fresh.address, isOfBlock: true } : fresh;
}

/** Return the age of a price. `undefined` feeds = the oracle does not name them. */
export function priceAge(feeds: readonly OracleFeed[] | undefined, budgets: FeedBudgets): PriceAge {
  if (feeds === undefined) return { state: 'unknown' };
  const dated: { readonly feed: Address; readonly stamp: Stamp }[] = [];
  for (const { address, updatedAt } of feeds) {
    if (updatedAt === undefined) return { state: 'unknown' };
    const heartbeatSec = budgets.heartbeatsSec.get(address);
    const budgetSec = heartbeatSec === undefined ? budgets.budgetSec : heartbeatSec + GRACE_SEC;
    dated.push({ feed: address, stamp: stampOf({ asOfMs: Number(updatedAt) * 1_000 }, budgetSec) });
  }
  const [first, ...others] = dated;
  if (!first) return { state: 'not_applicable' };
  const worst = earliestStale(first.stamp, ...others.map(({ stamp }) => stamp));
  return {
    state: 'known',
    asOfMs: Math.min(...dated.map(({ stamp }) => stamp.asOfMs)),
    stamp: worst,
    feed: dated.find(({ stamp }) => stamp === worst)?.feed ?? first.feed,
  };
}

/** Return the time of the oldest feed behind a price, ms; `null` = it needs none; `undefined` = not known. */
export function priceAsOfMs(feeds: readonly OracleFeed[] | undefined): number | null | undefined {
  let oldest: bigint | null = null;
  for (const { updatedAt } of feeds ?? [{ updatedAt: undefined }]) {
    if (updatedAt === undefined) return undefined;
    if (oldest === null || updatedAt < oldest) oldest = updatedAt;
  }
  return oldest === null ? null : Number(oldest) * 1_000;
}

const NO_FEEDS = 'The oracle has no feed: its price is computed on chain, and as old as the block.';
const UNKNOWN_PRICE_AGE = 'The oracle does not name its feeds, or one of them returns no credible date.';

/** Why an `oraclePriceAsOf` is empty; `undefined` = it is not. */
export function priceAgeGap(asOfMs: number | null | undefined): Gap | undefined {
  if (asOfMs === undefined) return UNDATED_GAP;
  return asOfMs === null ? NO_FEEDS_GAP : undefined;
}

const UNDATED_GAP = gap('oraclePriceAsOf', 'NOT_MEASURED', UNKNOWN_PRICE_AGE);
const NO_FEEDS_GAP = gap('oraclePriceAsOf', 'NOT_APPLICABLE', NO_FEEDS);

/** Whether a feed behind the price is past its heartbeat. */
export function isOldPrice(age: PriceAge, nowMs: number): boolean {
  return age.state === 'known' && isStale(age.stamp, nowMs);
}
