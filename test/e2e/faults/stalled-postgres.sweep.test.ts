import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { createDatabase, type Database } from '../../../src/database/client.ts';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { migrations } from '../../../src/database/migrations/index.ts';
import { createKeyAdmin } from '../../../src/keys/admin.ts';
import { createTestDatabase, type TestDatabase } from '../../support/process/postgres.ts';
import { eventually } from '../../support/process/spawn-service.ts';
import { startTcpProxy, type TcpProxy } from '../../support/process/tcp-proxy.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { SUSDE_PYUSD } from '../known.ts';

const HOUR_MS = 3_600_000;
/** Pause between probes of a silent database. */
const PAUSE_MS = 2_000;
const HISTORY = `/v1/markets/${SUSDE_PYUSD}/borrow-apy-history`;

let line: TcpProxy;
let copy: TestDatabase;
let service: TestService;
/** The primary without the line, and the database that is given as its replica. */
let primary: Database;
let replica: Database;

beforeAll(async () => {
  copy = await createTestDatabase();
  await migrateDatabase(copy.url);
  service = await startService({
    arrange: async (world) => {
      const url = new URL(world.overrides.env.DATABASE_URL ?? '');
      line = await startTcpProxy(Number(url.port));
      primary = createDatabase({ url: url.href, poolSize: 1, statementTimeoutMs: 5_000 });
      url.port = String(line.port);
      return { DATABASE_URL: url.href, DATABASE_READ_URL: copy.url };
    },
  });
  replica = createDatabase({ url: copy.url, poolSize: 1, statementTimeoutMs: 5_000 });
});
afterAll(async () => {
  line?.set({ kind: 'pass' });
  await primary?.destroy();
  await replica?.destroy();
  await service?.stop();
  await line?.stop();
  await copy?.drop();
});

const health = async (): Promise<Json> => (await service.get('/health')).body;
const marketState = async () =>
  (await health()).chains
    .find(({ chainId }: Json) => chainId === 1)
    .groups.find(({ group }: Json) => group === 'lendingState');
/** Sampled times of a market's hours, in the primary. */
async function samples(): Promise<readonly number[]> {
  const { rows } = await sql<{ at: Date }>`
    select sampled_at as at from rate_samples where market_id = ${SUSDE_PYUSD} order by hour`.execute(primary);
  return rows.map(({ at }) => at.getTime());
}

test('behavior: market state is fresh while Postgres is silent, the health page names it, and samples are written when it answers', async () => {
  await service.refresh('lending-state:1');
  const before = await samples();
  const chain = service.world.chains.on(1);
  line.set({ kind: 'swallow' });
  service.clock.advance(HOUR_MS);
  await chain.increaseTime(HOUR_MS / 1_000);
  await chain.mine();
  const run = service.refresh('lending-state:1');
  // The state is served although the sample of this run is not written.
  expect(await eventually(marketState, ({ ageSec }) => ageSec < 60)).toMatchObject({ status: 'fresh' });
  await run;
  expect(await samples()).toEqual(before);
  const named = await health();
  expect(named.database).toMatchObject({ ok: false, problem: 'silent', since: expect.any(String) });
  expect([named.status, named.degraded]).toEqual(['degraded', expect.arrayContaining(['the database fails: silent'])]);

  // Positions are those of the chain; values of the register are absent.
  const path = `/v1/partner/positions/${seededWallet('looper').account.address}`;
  const { status, body } = await service.get(path, PARTNER);
  expect([status, body.positions.length > 0]).toEqual([200, true]);
  expect(body.positions.every((position: Json) => position.openedAt === undefined)).toBe(true);

  line.set({ kind: 'pass' });
  service.clock.advance(PAUSE_MS);
  await service.refresh('lending-state:1');
  const healed = await samples();
  expect(healed.slice(0, before.length)).toEqual(before);
  expect(healed).toHaveLength(before.length + 1);
  expect((await health()).database.ok).toBe(true);

  line.set({ kind: 'slow', ms: 100 });
  service.clock.advance(60_000);
  await chain.increaseTime(60);
  await chain.mine();
  await service.refresh('lending-state:1');
  // The same hour: its sample is replaced, and there is no second one.
  const slow = await samples();
  expect(slow).toHaveLength(healed.length);
  expect(slow.at(-1)).toBeGreaterThan(healed.at(-1) ?? 0);
  line.set({ kind: 'pass' });
});

test('behavior: keys and registrations are read from the primary, and a replica that is days behind is not read', async () => {
  const admin = createKeyAdmin({ db: primary, clock: service.clock });
  const { text } = await admin.issue({ tier: 'partner', label: 'made a moment ago' });
  const bearer = { authorization: `Bearer ${text}` };
  expect((await service.graphql('{chains{chainId}}', {}, bearer)).status).toBe(200);
  // The replica has no rows: registered values can only come from the primary.
  const wallet = seededWallet('looper').account.address;
  const { body } = await service.get(`/v1/partner/positions/${wallet}`, PARTNER);
  expect(body.positions.length).toBeGreaterThan(0);

  await sql`insert into rate_samples values (1, ${SUSDE_PYUSD}, date_trunc('hour', ${new Date(service.clock.now() - 72 * HOUR_MS)}::timestamptz),
    ${new Date(service.clock.now() - 72 * HOUR_MS)}, 0.9, 0.9, 10, 9, 1)`.execute(replica);
  service.clock.advance(5_000);
  const late = await service.get(HISTORY);
  expect(late.status).toBe(200);
  expect(late.text).not.toContain('"90"');
  expect((await health()).database).toMatchObject({ ok: true, replica: { ok: false, problem: 'late' } });

  // One that says to be in time is read, and the answer has the age of its newest point.
  const sampledMs = service.clock.now() - 60_000;
  await sql`insert into rate_samples values (1, ${SUSDE_PYUSD}, date_trunc('hour', ${new Date(sampledMs)}::timestamptz),
    ${new Date(sampledMs)}, 0.9, 0.9, 10, 9, 1)`.execute(replica);
  service.clock.advance(90_000);
  const asOf = async () => Date.parse((await service.get(HISTORY)).body.asOf);
  const shown = await asOf();
  expect((await health()).database.replica).toEqual({ ok: true });
  expect(Math.abs(shown - sampledMs)).toBeLessThan(60_000);
});

test('behavior: this version starts on the schema of a later one, serves and writes', async () => {
  const later = {
    name: '9999_later',
    up: [
      sql`alter table api_keys add column note text`,
      sql`alter table rate_samples add column confidence numeric not null default 1`,
      sql`create table tomorrow (id integer primary key)`,
    ],
  };
  const url = new URL(service.world.overrides.env.DATABASE_URL ?? '').href;
  await migrateDatabase(url, { known: [...migrations, later] });
  for (const MIGRATE_ON_START of ['true', 'false']) {
    await service.restart({ MIGRATE_ON_START });
    await service.app.warmed;
    const before = await samples();
    service.clock.advance(HOUR_MS);
    await service.world.chains.on(1).increaseTime(HOUR_MS / 1_000);
    await service.world.chains.on(1).mine();
    await service.refresh('lending-state:1');
    expect(await samples()).toHaveLength(before.length + 1);
    const { text } = await createKeyAdmin({ db: primary, clock: service.clock }).issue({ tier: 'partner', label: 'x' });
    const answers = await Promise.all([
      service.get('/v1/strategies'),
      service.get(HISTORY),
      service.get(`/v1/partner/positions/${seededWallet('looper').account.address}`, {
        authorization: `Bearer ${text}`,
      }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  }
  const { rows } = await sql<{ name: string }>`select name from gateway_migrations order by name desc limit 1`.execute(
    primary,
  );
  expect(rows).toEqual([{ name: later.name }]);
});
