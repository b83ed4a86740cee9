import type { VenueCounts } from '../../transactions/index.ts';
import type { AppContext } from '../common/context.ts';

/** Read the statistics of each swap venue in this process, by chain and venue. */
export function readSwapVenues(_args: object, ctx: AppContext): readonly VenueCounts[] {
  return ctx
    .live()
    .swapVenues.counts()
    .toSorted((a, b) => a.chainId - b.chainId || a.venue.localeCompare(b.venue));
}
