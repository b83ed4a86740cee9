import { decodeFunctionResult } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import { aggregatorAbi } from '../../abi/feeds.ts';
import { multicall3Abi } from '../../abi/multicall3.ts';
import type { Chain } from '../../catalog/types.ts';
import type { OracleFeed } from '../../domain/facts.ts';
import { creditedFeed, feedAt } from '../../domain/market/price-age.ts';
import type { Read } from './reads.ts';

/** Dates as the feeds report them, unix seconds, plausible or not. */
export type FeedDates = readonly { readonly feed: OracleFeed; readonly reported: bigint | undefined }[];

const LATEST = encodeFunctionData({ abi: aggregatorAbi, functionName: 'latestRoundData' });

/**
 * Plan when the feeds behind an oracle were updated, in one read. Which feeds they are is known from the last refresh, and
 * never changes; `undefined` = the oracle does not name them, and nothing is answered.
 */
export function planBuildFeedDates(
  { contracts }: Chain,
  feeds: readonly OracleFeed[] | undefined,
): Read<FeedDates | undefined> {
  const calls = (feeds ?? []).map(({ address }) => ({ target: address, allowFailure: true, callData: LATEST }));
  return {
    to: contracts.multicall3,
    data: encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] }),
    decode: (data) => {
      const rows = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data });
      return feeds?.map((feed, i) => {
        const row = rows[i];
        return { feed, reported: row?.success ? updatedAtIn(row.returnData) : undefined };
      });
    },
  };
}

/** Keep the dates that are credible at a block, beside those of the last refresh. */
export function datedFeeds(dates: FeedDates | undefined, blockTimestamp: bigint): readonly OracleFeed[] | undefined {
  return dates?.map(({ feed, reported }) => creditedFeed(feedAt(feed.address, reported, blockTimestamp), feed));
}

function updatedAtIn(data: `0x${string}`): bigint | undefined {
  try {
    return decodeFunctionResult({ abi: aggregatorAbi, functionName: 'latestRoundData', data })[3];
  } catch {
    return undefined;
  }
}
