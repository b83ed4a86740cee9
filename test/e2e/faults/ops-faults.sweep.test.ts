import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { seedRegistrations } from '../../../devnet/seed-database.ts';
import { createDatabase } from '../../../src/database/client.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { type Json, OPS, startService, type TestService } from '../../support/service.ts';

const LIST = '/v1/ops/portfolios';
const ONE = `/v1/ops/portfolio/${seededWallet('looper').account.address}`;
const MINUTE_MS = 60_000;

let service: TestService;
let proxy: RpcProxy;
beforeAll(async () => {
  service = await startService({
    fetch: globalThis.fetch,
    arrange: async (world) => {
      proxy = await startRpcProxy(world.chains.on(1).rpcUrl);
      return { RPC_URL_1: proxy.url };
    },
  });
});
afterAll(async () => {
  await service.stop();
  await proxy.stop();
});

/** Refuse connections to the service's database, or accept them again. */
async function databaseUp(isUp: boolean): Promise<void> {
  const name = new URL(service.world.overrides.env.DATABASE_URL ?? '').pathname.slice(1);
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  await client.query(`alter database ${name} allow_connections ${isUp}`);
  if (!isUp) await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  await client.end();
}

const FAULTS = [
  ['chain', () => proxy.set({ kind: 'down' }), () => proxy.set({ kind: 'pass' })],
  ['database', () => databaseUp(false), () => databaseUp(true)],
] as const;

describe.each(FAULTS)('%s down', (provider, fail, heal) => {
  afterAll(async () => {
    await heal();
  });

  test('behavior: serves the last good list as degraded, then stale, then a new one; a single wallet is 503', async () => {
    const good = await service.get(LIST, OPS);
    expect(good.body).toMatchObject({ stale: false, degraded: false });
    await fail();
    service.clock.advance(MINUTE_MS + 1);
    const degraded = await service.get(LIST, OPS);
    expect(degraded.status).toBe(200);
    expect(degraded.body).toEqual({ ...good.body, stale: true, degraded: true });

    const live = await service.get(ONE, OPS);
    expect([live.status, live.body.error.code]).toEqual([503, 'upstream_unavailable']);
    expect(live.body.error.details.provider).toBe(provider);
    expect(live.text).not.toMatch(/127\.0\.0\.1|postgres:|select /);

    const { body } = await service.graphql(
      '{ ops { reports(chainIds: [1]) { items { freshness { status } failure { provider } } } } }',
      {},
      OPS,
    );
    expect(body.data.ops.reports.items).toEqual([{ freshness: { status: 'STALE' }, failure: { provider } }]);

    await heal();
    service.clock.advance(MINUTE_MS);
    const healed = await service.get(LIST, OPS);
    expect(healed.body).toMatchObject({ stale: false, degraded: false, counts: good.body.counts });
    expect(Date.parse(healed.body.computedAt)).toBeGreaterThan(Date.parse(good.body.computedAt));
    expect((await service.get(ONE, OPS)).status).toBe(200);
  });

  test('error: UpstreamUnavailable without a last good list', async () => {
    await service.restart();
    await fail();
    const refused = await service.get(LIST, OPS);
    expect([refused.status, refused.body.error.code]).toEqual([503, 'upstream_unavailable']);
    await heal();
    service.clock.advance(MINUTE_MS);
    expect((await service.get(LIST, OPS)).status).toBe(200);
  });
});

describe('one unreadable wallet', () => {
  test('behavior: it is listed with its failure, and the others are unchanged', async () => {
    const before = (await service.get(LIST, OPS)).body;
    const poisoned = seededWallet('looper').account.address;
    const db = createDatabase({
      url: service.world.overrides.env.DATABASE_URL ?? '',
      poolSize: 1,
      statementTimeoutMs: 5_000,
    });
    try {
      await db
        .updateTable('position_registrations')
        .set({ deposited_usd: 'NaN' })
        .where('wallet', '=', poisoned.toLowerCase())
        .execute();
      service.clock.advance(MINUTE_MS);
      const { body } = await service.get(LIST, OPS);
      const reported = (users: Json[]) =>
        users
          .filter(({ address }) => address !== poisoned)
          .map(({ address, header, positions, closed }) => [address, header, positions.length, closed.length]);
      expect(reported(body.users)).toEqual(reported(before.users));
      expect(body.users.find(({ address }: Json) => address === poisoned)).toEqual({
        address: poisoned,
        chainId: 1,
        failure: { reason: 'malformed', message: expect.any(String) },
      });
      expect(body).toMatchObject({ degraded: false, counts: { users: before.counts.users, failed: 1 } });
      expect((await service.get(ONE, OPS)).status).toBe(503);
    } finally {
      await seedRegistrations(db, []);
      await db.destroy();
    }
  });
});
