import { getAddress } from 'viem';
import { FEED_LENS_CODE } from '../../abi/generated/feed-lens.ts';
import type { FailureReason, OracleFeed } from '../../domain/facts.ts';
import { believedUpdate } from '../../domain/market/price-age.ts';
import type { Address, Hex } from '../../shared/ids.ts';
import type { Decoded } from '../decode.ts';
import type { BlockRef } from '../types.ts';

/*
 * What `contracts/product/FeedLens.sol` takes and returns, as digits: two for a byte, behind 0x. The header and the length
 * of a row are the market lens's.
 */

const WORD_DIGITS = 64;
const ADDRESS_DIGITS = 40;
const HEADER_DIGITS = 2 + 3 * WORD_DIGITS;
const ROW_DIGITS = 5 * WORD_DIGITS;
const VIEWS = 4;
const ANSWERED = 1;
const ZERO = '0'.repeat(ADDRESS_DIGITS);

/** By status of a view: one that is not there is no fault of anybody, the oracle is of another kind. */
const REASONS = ['server_error', null, 'reverted', 'malformed'] as const satisfies readonly (FailureReason | null)[];

/** Write the question about oracles: the lens itself, their addresses, how many they are. */
export function encodeFeedLens(oracles: readonly Address[]): Hex {
  const words = oracles.map((oracle) => oracle.slice(2).toLowerCase().padStart(WORD_DIGITS, '0'));
  return `${FEED_LENS_CODE}${words.join('')}${oracles.length.toString(16).padStart(WORD_DIGITS, '0')}`;
}

/**
 * Read the feeds behind the oracle at an index. One of another kind, which does not name its feeds, fails; a feed that gives no
 * date that can be believed is there without one.
 */
export function decodeFeeds(data: Hex, index: number, block: BlockRef): Decoded<readonly OracleFeed[]> {
  const row = HEADER_DIGITS + index * ROW_DIGITS;
  const statuses = Number.parseInt(data.slice(row + WORD_DIGITS - 4, row + WORD_DIGITS), 16);
  const statusOf = (i: number) => ((statuses >> (2 * i)) & 3) as 0 | 1 | 2 | 3;
  const feeds = new Map<Address, OracleFeed>();
  for (let i = 0; i < VIEWS; i += 1) {
    const failure = REASONS[statusOf(i)];
    if (failure !== null) return { ok: false, reason: failure };
    const at = row + (i + 1) * WORD_DIGITS;
    const digits = data.slice(at, at + ADDRESS_DIGITS);
    if (digits === ZERO) continue;
    const address = getAddress(`0x${digits}`);
    const told = BigInt(`0x${data.slice(at + ADDRESS_DIGITS, at + WORD_DIGITS)}`);
    const updatedAt = statusOf(VIEWS + i) === ANSWERED ? believedUpdate(told, block.timestamp) : undefined;
    feeds.set(address, { address, ...(updatedAt === undefined ? {} : { updatedAt }) });
  }
  return { ok: true, value: [...feeds.values()] };
}
