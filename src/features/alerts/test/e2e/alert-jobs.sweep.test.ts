import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/process/postgres.ts';
import { type Json, PARTNER, startService, type TestService } from '../../../../../test/support/service.ts';
import { OWNER } from './refused-inputs.ts';

let database: TestDatabase;
let service: TestService;
let client: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ database });
  client = new pg.Client({ connectionString: database.url });
  // The database is dropped with its sessions at the end.
  client.on('error', () => {});
  await client.connect();
});
afterAll(() => service?.stop());

const nowText = () => new Date(service.clock.now()).toISOString();
/** The health page waits for a new reading of the records when the latest is older than a minute. */
const healthNow = async (): Promise<Json> => {
  service.clock.advance(60_001);
  return (await service.get('/health')).body;
};
const jobsNow = async (): Promise<Json> => (await healthNow()).alerts;

test('default: the health page has the latest runs and the undelivered events', async () => {
  await service.refresh('alerts', 'alert-deliveries');
  const ran = { status: 'running', lastRun: nowText() };
  const before = await jobsNow();
  expect(before).toEqual({ evaluation: ran, delivery: ran, undelivered: 0, deadLetters: 1 });
  const { body } = await service.get('/v1/partner/alerts', PARTNER);
  const ping = await service.post(`/v1/partner/alerts/${body.alerts[0].id}/ping`, {}, PARTNER);
  const { occurredAt } = ping.body.delivery;
  const health = await healthNow();
  expect(health.alerts).toEqual({ ...before, undelivered: 1, oldestUndelivered: occurredAt, dueSince: occurredAt });
  expect(health.degraded).toBeUndefined();
});

test('behavior: a delivery that is due for more than 15 minutes makes the delivery late, and the service degraded', async () => {
  service.clock.advance(901_000);
  // The latest run is recent, and has not come to this event.
  await client.query("update alert_jobs set ran_at = $1 where job = 'delivery'", [new Date(service.clock.now())]);
  const health = await healthNow();
  expect(health.alerts.delivery.status).toBe('late');
  expect(health.degraded).toContain('the delivery of webhooks is late');
  await service.refresh('alert-deliveries');
  expect(await jobsNow()).toMatchObject({ delivery: { status: 'running' }, undelivered: 0 });
});

test('behavior: a failing evaluation names its reason and since when, until it has recovered', async () => {
  const { body } = await service.post(
    '/v1/partner/alerts',
    { chainId: 1, wallet: OWNER, condition: 'liquidated', webhookUrl: `${service.world.receiver.url}/hook` },
    PARTNER,
  );
  await service.refresh('alerts');
  expect((await jobsNow()).evaluation.status).toBe('running');
  // The reading of liquidations fails on one chain, the other one is evaluated.
  await client.query('alter table position_events rename to position_events_away');
  const since = nowText();
  await service.refresh('alerts');
  service.clock.advance(61_000);
  const lastRun = nowText();
  await service.refresh('alerts');
  const health = await healthNow();
  const { failure } = health.alerts.evaluation;
  expect(health.alerts.evaluation).toEqual({ status: 'failing', lastRun, failure, failingSince: since });
  expect(failure).toMatch(/^\w+$/);
  expect(health.degraded).toContain(`the evaluation of alerts fails: ${failure}`);
  await client.query('alter table position_events_away rename to position_events');
  service.clock.advance(61_000);
  const recovered = nowText();
  await service.refresh('alerts');
  expect((await jobsNow()).evaluation).toEqual({ status: 'running', lastRun: recovered });
  await fetch(`${service.url}/v1/partner/alerts/${body.alert.id}`, { method: 'DELETE', headers: PARTNER });
});

test('behavior: jobs that no process runs are stopped after ten minutes', async () => {
  await service.refresh('alerts', 'alert-deliveries');
  service.clock.advance(540_000);
  const { alerts, degraded } = await healthNow();
  expect([alerts.evaluation.status, alerts.delivery.status]).toEqual(['stopped', 'stopped']);
  expect(degraded).toEqual(
    expect.arrayContaining(['the evaluation of alerts does not run', 'the delivery of webhooks does not run']),
  );
});

test('behavior: a job whose latest run has a time in the future is unknown, with the reason, until it runs again', async () => {
  const future = new Date(service.clock.now() + 3_600_000);
  await client.query("update alert_jobs set ran_at = $1 where job = 'evaluation'", [future]);
  const { alerts, degraded } = await healthNow();
  expect(alerts.evaluation).toMatchObject({ status: 'unknown', lastRun: future.toISOString() });
  expect(alerts.evaluation.statusReason).toMatch(/time in the future.*clock/);
  expect(degraded).toContain('the evaluation of alerts has a latest run in the future: a clock is wrong');
  const ranAt = nowText();
  await service.refresh('alerts');
  expect((await jobsNow()).evaluation).toEqual({ status: 'running', lastRun: ranAt });
});

test('behavior: an event that was planned by a clock that was ahead is delivered at once', async () => {
  const { body } = await service.get('/v1/partner/alerts', PARTNER);
  const ping = await service.post(`/v1/partner/alerts/${body.alerts[0].id}/ping`, {}, PARTNER);
  const { id } = ping.body.delivery;
  const planned = (aheadMs: number) =>
    client.query('update alert_deliveries set next_attempt_at = $1 where id = $2', [
      new Date(service.clock.now() + aheadMs),
      id,
    ]);
  const statusOf = async () =>
    (await client.query('select status from alert_deliveries where id = $1', [id])).rows[0].status;
  await planned(3_600_000);
  await service.refresh('alert-deliveries');
  expect(await statusOf()).toBe('pending');
  await planned(24 * 3_600_000);
  await service.refresh('alert-deliveries');
  expect(await statusOf()).toBe('delivered');
});
