import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/process/postgres.ts';
import { type Json, OPS, PARTNER, startService, type TestService } from '../../support/service.ts';
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

const jobsOf = async (): Promise<Json> => (await service.get('/v1/ops/alert-jobs', OPS)).body;
/** The health page reads the records beside its answers. */
const healthWith = async (isThere: (health: Json) => boolean): Promise<Json> => {
  service.clock.advance(10_000);
  await expect.poll(async () => isThere((await service.get('/health')).body)).toBe(true);
  return (await service.get('/health')).body;
};
const nowText = () => new Date(service.clock.now()).toISOString();

test('default: the latest runs and the undelivered events are in the row, in GraphQL and on the health page', async () => {
  await service.refresh('alerts', 'alert-deliveries');
  const ran = { status: 'running', lastRun: nowText() };
  const before = await jobsOf();
  expect(before).toEqual({ evaluation: ran, delivery: ran, undelivered: 0, deadLetters: 1 });
  const { body } = await service.get('/v1/partner/alerts', PARTNER);
  const ping = await service.post(`/v1/partner/alerts/${body.alerts[0].id}/ping`, {}, PARTNER);
  const { occurredAt } = ping.body.delivery;
  const waiting = { undelivered: 1, oldestUndelivered: occurredAt, dueSince: occurredAt };
  expect(await jobsOf()).toEqual({ ...before, ...waiting });
  const health = await healthWith(({ alerts }) => alerts?.undelivered === 1);
  expect(health.alerts).toEqual({ ...before, ...waiting });
  expect(health.degraded).toBeUndefined();
  const asked = await service.graphql(
    '{ ops { alertJobs { evaluation { status ranAt failureReason failingSince } undeliveredCount deadLetterCount } } }',
    {},
    OPS,
  );
  expect(asked.body.data.ops.alertJobs).toEqual({
    evaluation: { status: 'RUNNING', ranAt: ran.lastRun, failureReason: null, failingSince: null },
    undeliveredCount: 1,
    deadLetterCount: 1,
  });
});

test('error: only operators see the jobs', async () => {
  expect((await service.get('/v1/ops/alert-jobs', PARTNER)).status).toBe(401);
  const { body } = await service.graphql('{ ops { alertJobs { undeliveredCount } } }', {}, PARTNER);
  expect(body.errors?.[0].extensions.code).toBe('unauthorized');
});

test('behavior: a delivery that is due for more than 15 minutes makes the delivery late, and the service degraded', async () => {
  service.clock.advance(901_000);
  // The latest run is recent, and has not come to this event.
  await client.query("update alert_jobs set ran_at = $1 where job = 'delivery'", [new Date(service.clock.now())]);
  expect((await jobsOf()).delivery.status).toBe('late');
  const health = await healthWith(({ alerts }) => alerts?.delivery.status === 'late');
  expect(health.degraded).toContain('the delivery of webhooks is late');
  await service.refresh('alert-deliveries');
  expect(await jobsOf()).toMatchObject({ delivery: { status: 'running' }, undelivered: 0 });
});

test('behavior: a failing evaluation names its reason and since when, until it has recovered', async () => {
  const { body } = await service.post(
    '/v1/partner/alerts',
    { chainId: 1, wallet: OWNER, condition: 'liquidated', webhookUrl: `${service.world.receiver.url}/hook` },
    PARTNER,
  );
  await service.refresh('alerts');
  expect((await jobsOf()).evaluation.status).toBe('running');
  // The reading of liquidations fails on one chain, the other one is evaluated.
  await client.query('alter table position_events rename to position_events_away');
  service.clock.advance(61_000);
  const since = nowText();
  await service.refresh('alerts');
  service.clock.advance(61_000);
  await service.refresh('alerts');
  expect((await jobsOf()).evaluation).toEqual({
    status: 'failing',
    lastRun: nowText(),
    failure: expect.stringMatching(/^\w+$/),
    failingSince: since,
  });
  const health = await healthWith(({ alerts }) => alerts?.evaluation.status === 'failing');
  expect(health.alerts.evaluation.failingSince).toBe(since);
  expect(health.degraded).toContain(`the evaluation of alerts fails: ${health.alerts.evaluation.failure}`);
  await client.query('alter table position_events_away rename to position_events');
  service.clock.advance(61_000);
  await service.refresh('alerts');
  expect((await jobsOf()).evaluation).toEqual({ status: 'running', lastRun: nowText() });
  await fetch(`${service.url}/v1/partner/alerts/${body.alert.id}`, { method: 'DELETE', headers: PARTNER });
});

test('behavior: jobs that no process runs are stopped after ten minutes', async () => {
  await service.refresh('alerts', 'alert-deliveries');
  service.clock.advance(600_001);
  const { evaluation, delivery } = await jobsOf();
  expect([evaluation.status, delivery.status]).toEqual(['stopped', 'stopped']);
  const health = await healthWith(({ alerts }) => alerts?.evaluation.status === 'stopped');
  expect(health.degraded).toEqual(
    expect.arrayContaining(['the evaluation of alerts does not run', 'the delivery of webhooks does not run']),
  );
});

test('behavior: a job whose latest run has a time in the future is unknown, with the reason, until it runs again', async () => {
  const future = new Date(service.clock.now() + 3_600_000);
  await client.query("update alert_jobs set ran_at = $1 where job = 'evaluation'", [future]);
  const { evaluation } = await jobsOf();
  expect(evaluation).toMatchObject({ status: 'unknown', lastRun: future.toISOString() });
  expect(evaluation.statusReason).toMatch(/time in the future.*clock/);
  const health = await healthWith(({ alerts }) => alerts?.evaluation.status === 'unknown');
  expect(health.degraded).toContain('the evaluation of alerts has a latest run in the future: a clock is wrong');
  await service.refresh('alerts');
  expect((await jobsOf()).evaluation).toEqual({ status: 'running', lastRun: nowText() });
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
