import type { ChainId } from '../../shared/ids.ts';
import type { SwapQuote } from '../../upstreams/types.ts';
import type { VenueReason } from '../errors.ts';

type Venue = SwapQuote['source'];

/** The result of one request to a venue, or of its quote afterwards. */
export type VenueEvent = 'quoted' | 'no_route' | 'refused' | 'chosen' | 'failed_in_simulation';

/** Requests to a venue since the process started. Every request ends as a quote, no route or a refusal. */
export interface VenueCounts {
  readonly chainId: ChainId;
  readonly venue: Venue;
  readonly asked: number;
  readonly quoted: number;
  readonly noRoute: number;
  /** By reason, e.g. `timeout`; also a quote that names a router outside the allow-list (`implausible`). */
  readonly refused: readonly { readonly reason: VenueReason; readonly count: number }[];
  /** Its quote was the best and went into a preview or a build. */
  readonly chosen: number;
  /** A build that held its quote reverted or gave less than quoted when it was simulated. */
  readonly failedInSimulation: number;
}

export interface VenueStatistics {
  /** @param reason of a refusal */
  note(chainId: ChainId, venue: Venue, event: VenueEvent, reason?: VenueReason): void;
  /** One row per chain and venue with a request. */
  counts(): readonly VenueCounts[];
}

/** Create the counts of one process. `onEvent` receives every event, for metrics. */
export function createVenueStatistics(
  onEvent?: (event: { chainId: ChainId; venue: Venue; outcome: string }) => void,
): VenueStatistics {
  const rows = new Map<
    string,
    { chainId: ChainId; venue: Venue; events: Map<VenueEvent, number>; reasons: Map<VenueReason, number> }
  >();
  return {
    note(chainId, venue, event, reason = 'missing') {
      const key = `${chainId}:${venue}`;
      const row = rows.get(key) ?? { chainId, venue, events: new Map(), reasons: new Map() };
      rows.set(key, row);
      row.events.set(event, (row.events.get(event) ?? 0) + 1);
      if (event === 'refused') row.reasons.set(reason, (row.reasons.get(reason) ?? 0) + 1);
      onEvent?.({ chainId, venue, outcome: event === 'refused' ? reason : event });
    },
    counts: () =>
      [...rows.values()].map(({ chainId, venue, events, reasons }) => {
        const of = (event: VenueEvent) => events.get(event) ?? 0;
        return {
          chainId,
          venue,
          asked: of('quoted') + of('no_route') + of('refused'),
          quoted: of('quoted'),
          noRoute: of('no_route'),
          refused: [...reasons].map(([reason, count]) => ({ reason, count })),
          chosen: of('chosen'),
          failedInSimulation: of('failed_in_simulation'),
        };
      }),
  };
}
