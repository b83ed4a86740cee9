import type { VenueCounts } from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { SwapSourceRef, VENUE_REASON_COUNT, VenueReasonRef } from '../transaction/swap-source.ts';

const RefusalCountRef = builder.objectRef<VenueCounts['refused'][number]>('SwapVenueRefusals').implement({
  description: 'Number of questions that a swap venue refused for one reason.',
  fields: (t) => ({
    reason: t.expose('reason', {
      type: VenueReasonRef,
      description: 'The reason; `IMPLAUSIBLE` also for a router outside the allow-list of the catalog.',
    }),
    count: t.exposeInt('count', { description: 'Questions that ended so.' }),
  }),
});

/** Statistics of a swap venue in one process. */
export const SwapVenueRef = builder.objectRef<VenueCounts>('SwapVenue').implement({
  description:
    'Counts of a swap venue on one chain for the process that answers, since it started. Other processes count for themselves; `spiral_swap_quotes_total` has them all.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    venue: t.expose('venue', { type: SwapSourceRef, description: 'The venue.' }),
    asked: t.exposeInt('asked', { description: 'Requests for a quote.' }),
    quoted: t.exposeInt('quoted', { description: 'Questions answered with a quote.' }),
    noRoute: t.exposeInt('noRoute', { description: 'Questions answered with "no route".' }),
    refused: t.expose('refused', {
      type: [RefusalCountRef],
      complexity: { field: 1, multiplier: 5 },
      description: `Questions without a usable answer, by reason; one entry per reason, at most ${VENUE_REASON_COUNT}.`,
    }),
    chosen: t.exposeInt('chosen', { description: 'Quotes that were the best and went into a preview or a build.' }),
    failedInSimulation: t.exposeInt('failedInSimulation', {
      description: 'Chosen quotes of builds that reverted in simulation, or gave less than quoted there.',
    }),
  }),
});
