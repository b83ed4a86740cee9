import type { AlertDelivery } from '../../domain/alerts/records.ts';
import type { AppContext } from '../common/context.ts';
import { follow } from '../strategy/subscriptions.ts';
import type { AlertsPort } from './alert-services.ts';
import { keyOf, UUID } from './alerts.ts';

const EVENTS_PER_READ = 100;
/** Events sent at once; the rest follows with the next second. */
const MAX_READS = 10;
const EVENT_ID = /^alert-(\d{1,18})$/;

/** Write the id of an event for `Last-Event-ID`. */
export function alertEventId({ seq }: Pick<AlertDelivery, 'seq'>): string {
  return `alert-${seq}`;
}

/**
 * Follow the events of the caller's alerts: those after `Last-Event-ID`, all that are kept if that is the id of no event, or
 * from now on without one. @throws UnauthorizedError,
 * RateLimitedError, NotReadyError, UpstreamUnavailableError
 */
export async function watchAlertEvents(ctx: AppContext): Promise<AsyncIterableIterator<AlertDelivery>> {
  const keyId = keyOf(ctx);
  const { alerts, changes, catalog } = ctx.live();
  const known = await alerts.newestEvent();
  let place = ctx.lastEventId === undefined ? known : await placeOf(ctx.lastEventId, known, alerts, keyId);
  const options = { caller: ctx.caller, ticking: true, groups: [] };
  return follow(changes.open('alertEvents', catalog.chainIds, options), ctx, async () => {
    const newest = await alerts.newestEvent();
    const events: AlertDelivery[] = [];
    for (let reads = 0; place < newest && reads < MAX_READS; reads += 1) {
      const page = await alerts.eventsAfter(keyId, place, EVENTS_PER_READ);
      events.push(...page);
      place = page.at(-1)?.seq ?? newest;
    }
    return events;
  });
}

/** Find the place of an id: of the stream, or of the event. An id that was never given out is of another database. */
async function placeOf(lastEventId: string, known: bigint, alerts: AlertsPort, keyId: string): Promise<bigint> {
  const id = lastEventId.trim().toLowerCase();
  const [, seq] = EVENT_ID.exec(id) ?? [];
  if (seq !== undefined) return BigInt(seq) > known ? 0n : BigInt(seq);
  return (UUID.test(id) ? await alerts.placeOf(keyId, id) : null) ?? 0n;
}
