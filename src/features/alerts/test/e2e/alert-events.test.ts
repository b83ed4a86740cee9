import { request } from 'node:http';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Json, OPS, PARTNER, startService, type TestService } from '../../../../../test/support/service.ts';
import { type EventStream, subscribe } from '../../../../../test/support/sse.ts';
import { MARKET } from './refused-inputs.ts';

/** The stream of events of alerts: a reader that returns with an id gets every event after it, or is told why not. */
const SUBSCRIPTION =
  'subscription { alertEvents { eventId alertId type occurredAt status value observedAt staleGroups terms { label subject chainId wallet positionIndex strategyId condition threshold rearmAt unit } liquidation { positionIndex strategyId blockNumber at txHash basis } } }';
const UNKNOWN_ID = '00000000-0000-4000-8000-0000000000ff';
const NEXT_STEP =
  'Send the id of the last event that this key has got, alert-0 for all events that are kept, or no Last-Event-ID for those from now on.';

let service: TestService;
let db: pg.Client;
let id: string;
const streams: EventStream[] = [];
beforeAll(async () => {
  service = await startService({ env: { METRICS_PORT: '0' } });
  db = new pg.Client({ connectionString: service.world.overrides.env.DATABASE_URL });
  await db.connect();
});
afterAll(async () => {
  await db?.end();
  await service?.stop();
});
const create = async (headers: Record<string, string>): Promise<string> => {
  const alert = {
    chainId: 1,
    webhookUrl: `${service.world.receiver.url}/hook`,
    strategyId: MARKET,
    condition: 'paused',
  };
  return (await service.post('/v1/partner/alerts', alert, headers)).body.alert.id;
};
beforeEach(async () => {
  id = await create(PARTNER);
});
afterEach(async () => {
  await Promise.all(streams.splice(0).map((stream) => stream.close()));
  await fetch(`${service.url}/v1/partner/alerts/${id}`, { method: 'DELETE', headers: PARTNER });
});

const open = async (lastEventId?: string): Promise<EventStream> => {
  const last = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const stream = await subscribe(service.url, SUBSCRIPTION, {}, { ...PARTNER, ...last });
  streams.push(stream);
  return stream;
};
const ping = async (alertId = id, headers = PARTNER): Promise<string> =>
  (await service.post(`/v1/partner/alerts/${alertId}/ping`, {}, headers)).body.delivery.id;
const seqOf = async (eventId: string): Promise<string> =>
  (await db.query('select seq from alert_deliveries where id = $1', [eventId])).rows[0].seq;
const firstAfter = async (lastEventId: string): Promise<string> => {
  const stream = await open(lastEventId);
  const first = await stream.next();
  await stream.close();
  return first?.data?.alertEvents.eventId;
};
/** The answer to a subscription with an id that is refused. */
const refusalOf = async (lastEventId: string) => {
  const answer = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...PARTNER,
      'last-event-id': lastEventId,
    },
    body: JSON.stringify({ query: SUBSCRIPTION }),
  });
  const text = await answer.text();
  const { message, extensions }: Json = JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text).errors[0];
  return { message, code: extensions.code, details: extensions.details };
};
/** Subscribe, and leave as soon as the request is sent, before the stream has begun. */
const leaveEarly = (lastEventId: string): Promise<void> =>
  new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream', 'last-event-id': lastEventId };
    const sent = request(`${service.url}/graphql`, { method: 'POST', headers: { ...headers, ...PARTNER } });
    sent.on('error', () => {});
    sent.on('close', () => resolve());
    sent.end(JSON.stringify({ query: SUBSCRIPTION }), () => setImmediate(() => sent.destroy()));
  });
/** Ids of all kept events, the oldest first. */
const kept = async (): Promise<string[]> =>
  (await service.get('/v1/partner/alerts/deliveries?limit=500', PARTNER)).body.deliveries
    .map(({ id: eventId }: Json) => eventId)
    .reverse();

test('default: sends events as they are stored, and those that a reader missed', async () => {
  const stream = await open();
  // Changes within a fifth of a second are gathered.
  service.clock.advance(1_000);
  const sent = await ping();
  const { alertEvents } = (await stream.next())?.data ?? {};
  expect(alertEvents).toMatchObject({
    eventId: sent,
    alertId: id,
    type: 'PING',
    terms: { label: expect.any(String) },
    liquidation: null,
  });
  const lastId = stream.lastId() ?? '';
  expect(lastId).toBe(`alert-${await seqOf(sent)}`);
  await stream.close();
  const missed = [await ping(), await ping()];
  const resumed = await open(lastId);
  const got = [await resumed.next(), await resumed.next()];
  expect(got.map((event) => event?.data.alertEvents.eventId)).toEqual(missed);
  // The id of the event works as well, in any case.
  expect([await firstAfter(sent), await firstAfter(sent.toUpperCase())]).toEqual([missed[0], missed[0]]);
});

test('error: needs a key', async () => {
  const stream = await subscribe(service.url, SUBSCRIPTION);
  expect(stream.status).toBe(401);
  await stream.close();
});

describe('a Last-Event-ID', () => {
  test('behavior: that is empty begins with the next event, as none does', async () => {
    const stream = await open(' ');
    service.clock.advance(1_000);
    const sent = await ping();
    expect((await stream.next())?.data.alertEvents.eventId).toBe(sent);
  });

  test('behavior: of an event that is not kept any more gets all that are kept after it', async () => {
    const [gone, next] = [await ping(), await ping()];
    const seq = await seqOf(gone);
    await db.query('delete from alert_deliveries where id = $1', [gone]);
    const [oldest] = await kept();
    expect(await firstAfter(`alert-${seq}`)).toBe(next);
    expect([await firstAfter(gone), await firstAfter(UNKNOWN_ID)]).toEqual([oldest, oldest]);
    expect(await firstAfter('alert-0')).toBe(oldest);
  });

  test('behavior: of the last event is taken when no event is kept any more', async () => {
    const sent = await ping();
    const seq = await seqOf(sent);
    await db.query('delete from alert_deliveries');
    service.clock.advance(1_000);
    const stream = await open(`alert-${seq}`);
    service.clock.advance(1_000);
    const after = await ping();
    expect((await stream.next())?.data.alertEvents.eventId).toBe(after);
  });

  test('behavior: of an event that another process has sent within this second is taken', async () => {
    const { seq } = (
      await db.query(
        `insert into alert_deliveries (id, alert_id, owner_id, type, body, receiver, occurred_at, status, attempts)
         select gen_random_uuid(), alert_id, owner_id, type, body, receiver, occurred_at, 'dead', 0
         from alert_deliveries where id = $1 returning seq`,
        [await ping()],
      )
    ).rows[0];
    const stream = await open(`alert-${seq}`);
    service.clock.advance(1_000);
    const sent = await ping();
    expect((await stream.next())?.data.alertEvents.eventId).toBe(sent);
  });

  test.each(['garbage', 'alert-1e3', 'alert--1', 'alert-9999999999999999999', 'x'.repeat(200)])(
    'error: "%s" is refused',
    async (value) => {
      const shown = value.length > 80 ? `${value.slice(0, 77)}...` : value;
      expect(await refusalOf(value)).toMatchObject({
        code: 'bad_request',
        message: `Last-Event-ID "${shown}" is not the id of an event. ${NEXT_STEP}`,
        details: { field: 'headers.last-event-id', value: shown },
      });
    },
  );

  test('error: after the newest event is refused, and the newest is named', async () => {
    const newest = BigInt(await seqOf(await ping()));
    const value = `alert-${newest + 1n}`;
    expect(await refusalOf(value)).toMatchObject({
      code: 'bad_request',
      message: `Last-Event-ID "${value}" is after the newest event, alert-${newest}. ${NEXT_STEP}`,
    });
  });

  test('error: of an event of another key is refused, and nothing of that event is said', async () => {
    const foreign = await create(OPS);
    const eventId = await ping(foreign, OPS);
    await ping();
    for (const value of [eventId, `alert-${await seqOf(eventId)}`]) {
      expect(await refusalOf(value)).toMatchObject({
        code: 'bad_request',
        message: `Last-Event-ID "${value}" is not the id of an event of this key. ${NEXT_STEP}`,
      });
    }
    await fetch(`${service.url}/v1/partner/alerts/${foreign}`, { method: 'DELETE', headers: OPS });
  });
});

test('behavior: 300 reconnects in a row, ended at once or refused, leave no stream, timer or connection behind', async () => {
  const lastId = `alert-${await seqOf(await ping())}`;
  const openStreams = async () => {
    const text = await (await fetch(`${service.app.metricsUrl}/metrics`)).text();
    return Number(/^spiral_subscriptions_open\{field="alertEvents"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  const connections = async () =>
    (await db.query('select count(*)::integer as count from pg_stat_activity where datname = current_database()'))
      .rows[0].count;
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  await firstAfter('alert-0');
  const before = { timers: timers(), connections: await connections() };
  for (let n = 0; n < 100; n += 1) {
    await firstAfter('alert-0');
    await refusalOf('garbage');
    await leaveEarly(lastId);
  }
  await expect.poll(openStreams).toBe(0);
  await expect.poll(timers).toBeLessThanOrEqual(before.timers + 5);
  expect(await connections()).toBeLessThanOrEqual(before.connections + 10);
});
