import type { SWAP_SOURCES } from '../../catalog/schema.ts';
import type { VenueReason } from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';

export const SwapSourceRef = builder.enumType('SwapSource', {
  description: 'The venue of a swap.',
  values: enumValues<(typeof SWAP_SOURCES)[number]>({
    AggregatorOne: 'The first swap aggregator.',
    AggregatorTwo: 'The second swap aggregator; on chain 4663 only where it is configured.',
    YieldMarket: 'The converter of principal tokens.',
  }),
});

export const VenueReasonRef = builder.enumType('VenueAnswerKind', {
  description: 'The answer of a swap venue that gave no usable quote.',
  values: enumValues<VenueReason>({
    no_route: 'The venue has no route for the pair at this size.',
    not_allowed: 'The contract that holds positions does not allow the router of the venue.',
    implausible: 'The quote was not believed.',
    unreachable: 'The venue could not be reached.',
    timeout: 'The venue did not answer in time.',
    rate_limited: 'The venue refused for too many requests.',
    throttled: 'Held back by our own limit on requests to the venue.',
    overloaded: 'The venue said that it has too much to do.',
    price_moved: 'The price moved between the quote and its build, twice.',
    rejected: 'The venue refused our request: its key, path or parameters are wrong.',
    server_error: 'The venue failed.',
    malformed: 'The answer could not be read.',
    missing: 'The answer did not contain a quote.',
    reverted: 'The read on chain reverted.',
    not_configured: 'The venue is not configured.',
  }),
});
