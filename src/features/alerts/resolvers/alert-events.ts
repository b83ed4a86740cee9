import { keyOf } from '../../../resolvers/common/caller.ts';
import type { AppContext } from '../../../resolvers/common/context.ts';
import { follow } from '../../../resolvers/strategy/subscriptions.ts';
import { BadRequestError } from '../../../shared/errors.ts';
import { formatValue } from '../../../shared/ids.ts';
import type { AlertDelivery } from '../domain/records.ts';
import { type AlertsPort, alertServices } from './alert-services.ts';
import { UUID } from './alerts.ts';

const EVENTS_PER_READ = 100;
/** Events sent at once; the rest follows with the next second. */
const MAX_READS = 10;
const EVENT_ID = /^alert-(\d{1,18})$/;
/** The id before every event. */
const ALL_KEPT = 'alert-0';

/** Write the id of an event for `Last-Event-ID`. */
export function alertEventId({ seq }: Pick<AlertDelivery, 'seq'>): string {
  return `alert-${seq}`;
}

/**
 * Follow the events of the caller's alerts: those after `Last-Event-ID`, or from now on without one.
 * @throws BadRequestError for an id that the caller's key cannot have got
 * @throws UnauthorizedError, RateLimitedError, NotReadyError, UpstreamUnavailableError
 */
export async function watchAlertEvents(ctx: AppContext): Promise<AsyncIterableIterator<AlertDelivery>> {
  const keyId = keyOf(ctx);
  const alerts = alertServices.of(ctx);
  const { changes, catalog } = ctx.live();
  const lastEventId = ctx.lastEventId?.trim() ?? '';
  let place = lastEventId === '' ? await alerts.newestEvent() : await placeOf(lastEventId, alerts, keyId);
  const options = { caller: ctx.caller, ticking: true, groups: [] };
  const feed = changes.open('alertEvents', catalog.chainIds, options);
  // Nobody ends the feed of a reader that left while its place was looked up.
  if (ctx.readerLeft?.aborted) feed.return();
  else ctx.readerLeft?.addEventListener('abort', () => feed.return(), { once: true });
  let isBehind = true;
  return follow(feed, ctx, async () => {
    // Events of other keys cause no reading.
    const newest = await alerts.newestEventOf(keyId);
    isBehind ||= place < newest;
    const events: AlertDelivery[] = [];
    for (let reads = 0; isBehind && reads < MAX_READS; reads += 1) {
      const page = await alerts.eventsAfter(keyId, place, EVENTS_PER_READ);
      events.push(...page);
      isBehind = page.length === EVENTS_PER_READ;
      place = page.at(-1)?.seq ?? (newest > place ? newest : place);
    }
    return events;
  });
}

/**
 * Find the place of an id: of the stream, or of the event. After an event that is not kept any more come all that are kept.
 * @throws BadRequestError for an id that the key cannot have got
 */
async function placeOf(lastEventId: string, alerts: AlertsPort, keyId: string): Promise<bigint> {
  const id = lastEventId.toLowerCase();
  const [, digits] = EVENT_ID.exec(id) ?? [];
  if (digits === undefined && !UUID.test(id)) throw refused(lastEventId, 'is not the id of an event');
  const seq = digits === undefined ? null : BigInt(digits);
  const place = await alerts.placeOf(keyId, seq ?? id);
  if (place === 'other_key') throw refused(lastEventId, 'is not the id of an event of this key');
  if (place !== null || seq === null) return place ?? 0n;
  // Another process may have sent it within the second for which the newest place is kept.
  const newest = await alerts.newestEvent('now');
  if (newest > 0n && seq > newest)
    throw refused(lastEventId, `is after the newest event, ${alertEventId({ seq: newest })}`);
  return seq > newest ? 0n : seq;
}

function refused(lastEventId: string, why: string): BadRequestError {
  const value = formatValue(lastEventId);
  return new BadRequestError(
    `Last-Event-ID "${value}" ${why}. Send the id of the last event that this key has got, ${ALL_KEPT} for all events that are kept, or no Last-Event-ID for those from now on.`,
    { field: 'headers.last-event-id', value },
  );
}
