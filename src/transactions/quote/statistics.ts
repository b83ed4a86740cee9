import type { ChainId } from '../../shared/ids.ts';
import type { SwapQuote } from '../../upstreams/types.ts';
import type { VenueReason } from '../errors.ts';

type Venue = SwapQuote['source'];

/** The result of one request to a venue, or of its quote afterwards. */
export type VenueEvent = 'quoted' | 'no_route' | 'refused' | 'chosen' | 'failed_in_simulation';

/** Takes what became of requests to venues and of their quotes. Every request ends as a quote, no route or a refusal. */
export interface VenueStatistics {
  /** @param reason of a refusal */
  note(chainId: ChainId, venue: Venue, event: VenueEvent, reason?: VenueReason): void;
}

/** Create the statistics of one process. `onEvent` receives every event, a refusal by its reason, for metrics. */
export function createVenueStatistics(
  onEvent?: (event: { chainId: ChainId; venue: Venue; outcome: string }) => void,
): VenueStatistics {
  return {
    note: (chainId, venue, event, reason = 'missing') =>
      onEvent?.({ chainId, venue, outcome: event === 'refused' ? reason : event }),
  };
}
