import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { createDatabase } from '../../../src/database/client.ts';
import { createKeyAdmin } from '../../../src/keys/admin.ts';
import { VERDICT_TTL_MS } from '../../../src/keys/verify-key.ts';
import { captureLogs } from '../../support/log-capture.ts';
import { type OwnPostgres, startOwnPostgres } from '../../support/process/own-postgres.ts';
import { startService, type TestService } from '../../support/service.ts';
import { marketOf } from '../leverage/support.ts';

const GRACE_SEC = 300;
const [account] = untouchedAccounts;
const HISTORIES = '/v1/markets/borrow-apy-history';

let postgres: OwnPostgres;
let service: TestService;
const logs = captureLogs();
const text = { partner: '', ops: '', revoked: '', unseen: '' };
const bearer = (key: keyof typeof text) => ({ authorization: `Bearer ${text[key]}` });
/** A field that needs a key and no database. */
const KEYED = `{wallet(address:"0x${'1'.repeat(40)}" chainIds:[1]){chainIds}}`;
const graphql = (key: keyof typeof text) => service.graphql(KEYED, {}, bearer(key));
const statusOf = async (key: keyof typeof text) => (await graphql(key)).status;
const metric = async (line: string): Promise<number> => {
  const body = await (await fetch(`${service.app.metricsUrl}/metrics`)).text();
  return Number(
    body
      .split('\n')
      .find((one) => one.startsWith(`${line} `))
      ?.slice(line.length + 1) ?? 0,
  );
};
const keyHealth = async () => (await service.get('/health')).body.keys;

beforeAll(async () => {
  postgres = await startOwnPostgres();
  service = await startService({
    database: postgres,
    logger: logs.logger,
    env: { METRICS_PORT: '0', KEY_GRACE_SEC: String(GRACE_SEC) },
  });
  const db = createDatabase({ url: postgres.url, poolSize: 1, statementTimeoutMs: 5_000 });
  const admin = createKeyAdmin({ db, clock: service.clock });
  for (const [name, tier] of [
    ['partner', 'partner'],
    ['ops', 'ops'],
    ['revoked', 'partner'],
    ['unseen', 'partner'],
  ] as const) {
    const issued = await admin.issue({ tier, label: name });
    text[name] = issued.text;
    if (name !== 'unseen') expect(await statusOf(name)).toBe(200);
    if (name === 'revoked') await admin.revoke(issued.key.prefix);
  }
  await db.destroy();
});
afterAll(async () => {
  await service?.stop();
  await postgres?.drop();
});
beforeEach(async () => {
  // Everything is checked anew, and the database then goes away.
  await postgres.start();
  service.clock.advance(VERDICT_TTL_MS);
  expect([await statusOf('partner'), await statusOf('ops'), await statusOf('revoked')]).toEqual([200, 200, 401]);
  await postgres.stop();
  logs.take();
});

describe('keys while Postgres is stopped', () => {
  test('behavior: accepts a partner key for the grace period, for reads and builds, then answers 503, and reports it', async () => {
    expect(await keyHealth()).toEqual({ checked: true });
    service.clock.advance(VERDICT_TTL_MS);
    const before = await metric('spiral_key_checks_total{outcome="grace"}');
    expect(await statusOf('partner')).toBe(200);
    const positions = await service.get(`/v1/partner/positions/${account?.address}`, bearer('partner'));
    expect([positions.status, positions.body.positions]).toEqual([200, []]);
    const market = marketOf(1, 'sUSDe/PYUSD 91.5');
    const order = { strategyId: market.id, payToken: market.collateral.address, amount: '1000', desiredLtv: '80' };
    const body = { ...order, userAddress: account?.address };
    const built = await service.post('/v1/partner/leverage/build', body, bearer('partner'));
    expect([built.status, built.body.path]).toEqual([200, 'leverage']);
    expect(await metric('spiral_key_checks_total{outcome="grace"}')).toBe(before + 3);
    expect(await keyHealth()).toEqual({ checked: false, since: expect.any(String) });
    service.clock.advance(GRACE_SEC * 1_000 - VERDICT_TTL_MS - 1);
    expect(await statusOf('partner')).toBe(200);
    service.clock.advance(1);
    const refused = await graphql('partner');
    expect(refused.status).toBe(503);
    expect(refused.body.errors?.[0].extensions).toMatchObject({ code: 'upstream_unavailable', retryable: true });
    await postgres.start();
    expect(await statusOf('partner')).toBe(200);
    expect(await keyHealth()).toEqual({ checked: true });
    const reported = logs.take();
    for (const message of ['keys cannot be checked', 'keys are checked again']) {
      expect(reported.filter((line) => line.includes(message))).toHaveLength(1);
    }
  });

  test('behavior: a revoked key stays refused; an unknown key and the ops tier wait for the database', async () => {
    service.clock.advance(VERDICT_TTL_MS);
    expect(await statusOf('revoked')).toBe(401);
    expect(await statusOf('unseen')).toBe(503);
    expect(await statusOf('ops')).toBe(503);
    expect((await service.get('/v1/ops/portfolios', bearer('ops'))).status).toBe(503);
  });

  test('error: upstream_unavailable of the history of drift, with the next step, to an ops key that was checked before', async () => {
    const { status, headers, body } = await service.get('/v1/ops/drift-history', bearer('ops'));
    expect([status, body.error.code, Number(headers.get('retry-after')) > 0]).toEqual([
      503,
      'upstream_unavailable',
      true,
    ]);
    expect(body.error.message).toContain('Try again shortly.');
    const asked = await service.graphql('{ ops { driftHistory { totalCount } } }', {}, bearer('ops'));
    expect(asked.body.errors?.[0].extensions).toMatchObject({ code: 'upstream_unavailable', retryable: true });
    await postgres.start();
    expect((await service.get('/v1/ops/drift-history', bearer('ops'))).body).toMatchObject({ count: 0, records: [] });
  });
});

test('behavior: a problem that is over is not reported any longer, by a process without other statements', async () => {
  service.clock.advance(VERDICT_TTL_MS);
  expect(await statusOf('unseen')).toBe(503);
  const health = async () => (await service.get('/health')).body.database;
  expect(await health()).toMatchObject({ ok: false, problem: expect.any(String), since: expect.any(String) });
  await postgres.start();
  await expect.poll(health).toEqual({ ok: true });
});

describe('borrow-rate histories while Postgres is stopped', () => {
  test('behavior: serves the last good read with its age, and 503 without one', async () => {
    await postgres.start();
    const good = await service.get(HISTORIES);
    expect(good.status).toBe(200);
    expect(Object.values<unknown[]>(good.body.histories).some(({ length }) => length > 0)).toBe(true);
    const readMs = service.clock.now();
    await postgres.stop();
    service.clock.advance(90_000);
    const before = await metric('spiral_histories_from_memory_total');
    const stale = await service.get(HISTORIES);
    expect(stale.status).toBe(200);
    expect(await metric('spiral_histories_from_memory_total')).toBeGreaterThan(before);
    expect(stale.body.histories).toEqual(good.body.histories);
    expect(Date.parse(stale.body.asOf)).toBeLessThanOrEqual(readMs);
    const longer = new Date(service.clock.now() - 200 * 86_400_000).toISOString();
    const never = await service.graphql(`{chains{rateHistories(kind:BORROW_APY,fromAt:"${longer}"){complete}}}`);
    expect(never.body.errors?.[0].extensions.code).toBe('upstream_unavailable');
    await postgres.start();
    service.clock.advance(10_000);
    expect((await service.get(HISTORIES)).status).toBe(200);
  });
});

describe('a start while Postgres is stopped', () => {
  const migrated = async (statement: RawBuilder<unknown>) => {
    const db = createDatabase({ url: postgres.url, poolSize: 1, statementTimeoutMs: 5_000 });
    await statement.execute(db);
    await db.destroy();
  };
  const problem = async () => (await service.get('/health')).body.database.problem;

  test('behavior: serves public reads, answers keys with 503, and checks the schema before it uses a database that is back', async () => {
    await service.restart({ START_WAIT_SEC: '0', KEY_GRACE_SEC: '0' });
    expect((await service.get('/v1/strategies')).body.strategies.length).toBeGreaterThan(0);
    expect((await service.get('/ready')).status).toBe(200);
    expect([await statusOf('partner'), await statusOf('ops'), await problem()]).toEqual([503, 503, 'unreachable']);
    await postgres.start();
    const newer = '9999_newer';
    await migrated(sql`insert into gateway_migrations (name, requires) values (${newer}, ${newer})`);
    service.clock.advance(2_000);
    expect([await statusOf('partner'), await problem()]).toEqual([503, 'other_schema']);
    expect(logs.take().join()).toContain(`the database has the migrations ${newer}`);
    await migrated(sql`delete from gateway_migrations where name = ${newer}`);
    service.clock.advance(2_000);
    expect([await statusOf('partner'), await statusOf('revoked')]).toEqual([200, 401]);
    expect(logs.take().filter((line) => line.includes('database ready'))).toHaveLength(1);
    await service.restart({ KEY_GRACE_SEC: String(GRACE_SEC) });
  });

  test('error: a schema or a password that does not fit ends a start while Postgres answers', async () => {
    await postgres.start();
    const newer = '9999_newer';
    await migrated(sql`insert into gateway_migrations (name, requires) values (${newer}, ${newer})`);
    await expect(service.restart({ START_WAIT_SEC: '0' })).rejects.toThrow(
      'which need a version that knows 9999_newer',
    );
    await migrated(sql`delete from gateway_migrations where name = ${newer}`);
    const wrong = Object.assign(new URL(postgres.url), { pathname: '/missing' }).href;
    await expect(service.restart({ START_WAIT_SEC: '0', DATABASE_URL: wrong })).rejects.toThrow('no_such_database');
    await service.restart();
  });
});
