import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/client.ts';
import { createDatabaseWatch } from '../../src/database/connection/watch.ts';
import { createDriftSightingRepository } from '../../src/database/drift-sightings.ts';
import { createKeyRepository, LAST_USED_RESOLUTION_MS } from '../../src/database/keys.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { createRecordedRateRepository } from '../../src/database/recorded-rates.ts';
import { createReplicaReads, lagOf } from '../../src/database/replica.ts';
import { createSampleRepository, SAMPLE_RETENTION_DAYS } from '../../src/database/samples.ts';
import { driftKey } from '../../src/domain/drift/find.ts';
import { listDriftRecords } from '../../src/features/drift-history/database/records.ts';
import type { DriftRecordQuery } from '../../src/features/drift-history/domain/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { type Address, parseMarketId } from '../../src/shared/ids.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { MAX_AHEAD_MS } from '../../src/shared/observed.ts';
import { captureLogs } from '../support/log-capture.ts';
import { createTestDatabase, type TestDatabase } from '../support/process/postgres.ts';

/* Repositories exactly at their limits of time. */

const DAY_MS = 86_400_000;
const T = Date.UTC(2026, 5, 10, 12);
const WALLET: Address = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const MARKET = parseMarketId(`0x${'1'.repeat(64)}`);
const d = (value: number | string) => new Decimal(value);
const clock = { nowMs: T, now: () => clock.nowMs };

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrateDatabase(database.url);
  db = createDatabase({ url: database.url, poolSize: 4, statementTimeoutMs: 10_000 });
});
afterEach(async () => {
  clock.nowMs = T;
  const tables = [
    'drift_history',
    'drift_sightings',
    'rate_samples',
    'apy_samples',
    'incentive_campaigns',
    'api_keys',
  ] as const;
  for (const table of tables) await db.deleteFrom(table).execute();
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

describe('the history of drift', () => {
  const history = () => createDriftSightingRepository(db, clock);
  const recordsOf = (query: DriftRecordQuery) => listDriftRecords(db, query, T);
  const drift = (positionIndex = 0) => ({
    ...({ wallet: WALLET, positionIndex, kind: 'no_db_row', severity: 'high', marketId: MARKET } as const),
    vaultId: null,
  });
  const record = (atMs: number, ...found: ReturnType<typeof drift>[]) =>
    history().record({ chainId: 1, atMs, found, wallets: { except: [] } });
  const key = driftKey(drift());
  const remember = (atMs: number) =>
    sql`insert into drift_sightings (chain_id, key, wallet, first_seen) values (1, ${key}, ${WALLET.toLowerCase()}, ${new Date(atMs)})
      on conflict (chain_id, key) do update set first_seen = excluded.first_seen`.execute(db);

  test('behavior: the earlier one of two first sightings counts, in either table', async () => {
    await record(T - 500, drift());
    for (const [atMs, firstSeenMs] of [
      [T - 900, T - 900],
      [T - 100, T - 500],
    ] as const) {
      await remember(atMs);
      expect((await history().known(1)).get(key)).toEqual({ firstSeenMs, earlier: [] });
    }
  });

  test('behavior: drifts that are gone and drifts that are open are listed apart', async () => {
    await record(T - 900, drift(0), drift(1), drift(2));
    await record(T - 800, drift(2));
    const listed = async (filter: object) =>
      (await recordsOf({ filter: { chainIds: [1], ...filter }, size: 9, fromEnd: false })).records.map(
        ({ positionIndex }) => positionIndex,
      );
    expect([await listed({ isGone: true }), await listed({ isGone: false }), await listed({})]).toEqual([
      [1, 0],
      [2],
      [2, 1, 0],
    ]);
  });

  test('behavior: times that lie ahead count as now', async () => {
    await record(T + 5_000, drift());
    await record(T + 9_000);
    const { records } = await recordsOf({ filter: { chainIds: [1] }, size: 9, fromEnd: false });
    expect(records).toMatchObject([{ firstSeenMs: T, lastSeenMs: T, goneMs: T }]);
    expect((await history().known(1)).get(key)?.earlier).toEqual([{ firstSeenMs: T, lastSeenMs: T, goneMs: T }]);
  });

  test('behavior: records from further ahead than clocks differ are removed', async () => {
    await record(T - 900, drift(0), drift(1), drift(2));
    const set = (index: number, column: 'gone_at' | 'last_seen', atMs: number) =>
      sql`update drift_history set ${sql.ref(column)} = ${new Date(atMs)} where position_index = ${index}`.execute(db);
    await set(0, 'last_seen', T + MAX_AHEAD_MS);
    await set(1, 'last_seen', T + MAX_AHEAD_MS + 1);
    await set(2, 'gone_at', T + MAX_AHEAD_MS + 1);
    expect(await history().prune()).toBe(2);
    const { records } = await recordsOf({ filter: { chainIds: [1] }, size: 9, fromEnd: false });
    expect(records.map(({ positionIndex }) => positionIndex)).toEqual([0]);
  });

  test('behavior: a page from either end tells whether records lie before and after it', async () => {
    for (const n of [0, 1, 2]) await record(T - 900 + n, ...[0, 1, 2].slice(0, n + 1).map(drift));
    const page = async (query: object) => {
      const { records, hasNextPage, hasPreviousPage } = await recordsOf({
        filter: { chainIds: [1] },
        size: 3,
        fromEnd: false,
        ...query,
      });
      return [records.map(({ positionIndex }) => positionIndex), hasPreviousPage, hasNextPage];
    };
    const ids = (await recordsOf({ filter: { chainIds: [1] }, size: 9, fromEnd: false })).records.map(({ id }) => id);
    expect(await page({})).toEqual([[2, 1, 0], false, false]);
    expect(await page({ size: 2 })).toEqual([[2, 1], false, true]);
    expect(await page({ fromEnd: true })).toEqual([[2, 1, 0], false, false]);
    expect(await page({ size: 2, fromEnd: true })).toEqual([[1, 0], true, false]);
    expect(await page({ after: ids[0] })).toEqual([[1, 0], true, false]);
    expect(await page({ fromEnd: true, before: ids[2] })).toEqual([[2, 1], false, true]);
  });
});

describe('times of samples', () => {
  const sample = (atMs: number, borrowApy = '0.05') => ({
    marketId: MARKET,
    atMs,
    borrowApy: d(borrowApy),
    utilization: d('0.9'),
    supplyAssets: 10n,
    borrowAssets: 9n,
    liquidityAssets: 1n,
  });
  const apy = (atMs: number, apyPct = '5') => ({ token: WALLET, atMs, apyPct: d(apyPct) });

  test('behavior: one from ahead is read as far as clocks differ, and removed beyond that', async () => {
    const samples = createSampleRepository(db, clock);
    await samples.recordSamples(1, [sample(T + MAX_AHEAD_MS)]);
    expect((await samples.readHourly(1, [MARKET], { fromMs: T })).get(MARKET)).toHaveLength(1);
    expect([await samples.readDaily(1, { fromMs: T }), await samples.prune()]).toMatchObject([[{ hours: 1 }], 0]);
    clock.nowMs -= 1;
    expect([
      (await samples.readHourly(1, [MARKET], { fromMs: T })).size,
      await samples.readDaily(1, { fromMs: T }),
    ]).toEqual([0, []]);
    expect(await samples.prune()).toBe(1);
  });

  test('behavior: a range ends before its end, and its first hour counts', async () => {
    const samples = createSampleRepository(db, clock);
    const hour = 3_600_000;
    await samples.recordSamples(1, [sample(T - 2 * hour), sample(T - hour), sample(T)]);
    const hours = async (range: { fromMs: number; toMs?: number }) =>
      ((await samples.readHourly(1, [MARKET], range)).get(MARKET) ?? []).map(({ atMs }) => (T - atMs) / hour);
    expect(await hours({ fromMs: T - 2 * hour + 59, toMs: T })).toEqual([2, 1]);
    expect(await hours({ fromMs: T - hour, toMs: T + 1 })).toEqual([1, 0]);
    expect([(await samples.readHourly(1, [], { fromMs: 0 })).size, await hours({ fromMs: T + hour })]).toEqual([0, []]);
  });

  test('behavior: rates that providers do not keep are removed after 400 days, all of them counted', async () => {
    const rates = createRecordedRateRepository(db, clock);
    const campaign = (id: string, endsAtMs: number) => ({
      ...({ id, side: 'borrow', symbol: 'X', startsAtMs: 0 } as const),
      endsAtMs,
      steps: [],
    });
    const limit = T - SAMPLE_RETENTION_DAYS * DAY_MS;
    await rates.recordCampaigns(
      1,
      new Map([[MARKET, [campaign('a', limit), campaign('b', limit - 1), campaign('c', limit - 2)]]]),
    );
    // The day of the limit has begun before it.
    await rates.recordApys(1, [apy(limit - DAY_MS), apy(limit), apy(limit + DAY_MS)]);
    expect(await rates.prune()).toBe(4);
    expect([...(await rates.readCampaigns(1, 0)).values()].flat().map(({ id }) => id)).toEqual(['a']);
    expect((await rates.readCampaigns(1, limit)).size).toBe(0);
    expect(await rates.readApys(1, 0)).toHaveLength(1);
  });

  test('behavior: the latest APY of a day stays, and one from ahead gives way', async () => {
    const rates = createRecordedRateRepository(db, clock);
    const read = async () =>
      (await rates.readApys(1, T - DAY_MS)).map(({ dayMs, apyPct }) => [dayMs, apyPct.toFixed()]);
    const day = Math.floor(T / DAY_MS) * DAY_MS;
    await rates.recordApys(1, [apy(T - 5, '5')]);
    await rates.recordApys(1, [apy(T - 6, '4')]);
    expect(await read()).toEqual([[day, '5']]);
    await rates.recordApys(1, [apy(T - 5, '6')]);
    expect(await read()).toEqual([[day, '6']]);
    await rates.recordApys(1, [apy(T + MAX_AHEAD_MS, '7')]);
    await rates.recordApys(1, [apy(T - 1, '8')]);
    expect(await read()).toEqual([[day, '8']]);
    await rates.recordApys(1, [apy(T + MAX_AHEAD_MS + 1, '9')]);
    expect([await read(), await rates.prune()]).toEqual([[], 1]);
  });

  test('lagOf: of a copy that is no standby the age of its newest sample', async () => {
    const lag = () => lagOf(db, clock.nowMs, 60);
    expect(await lag()).toBeNull();
    await createSampleRepository(db, clock).recordSamples(1, [sample(T - 90_000)]);
    expect(await lag()).toBe(90);
    // Hours from before the hour of the permitted lag are not looked at.
    await db.deleteFrom('rate_samples').execute();
    await createSampleRepository(db, clock).recordSamples(1, [sample(T)]);
    clock.nowMs = T + 60_000 + 3_600_000;
    expect(await lag()).toBe(3_660);
    clock.nowMs += 1;
    expect(await lag()).toBeNull();
  });

  test.each([
    [60_000, true],
    [60_001, false],
    [-MAX_AHEAD_MS + 1, true],
  ])('behavior: a copy that is %i ms late is used: %s', async (lateMs, isUsed) => {
    await createSampleRepository(db, clock).recordSamples(1, [sample(T - lateMs)]);
    const watch = createDatabaseWatch(silentLogger, clock);
    const { prefer, status } = createReplicaReads({ replica: db, watch, clock, logger: silentLogger, maxLagSec: 60 });
    const read = prefer(
      async () => 'replica',
      async () => 'primary',
    );
    expect([await read(), status().problem]).toEqual(isUsed ? ['replica', null] : ['primary', 'late']);
  });
});

test('behavior: a replica with another schema is named once, until it answers', async () => {
  await createSampleRepository(db, clock).recordSamples(1, [
    {
      marketId: MARKET,
      atMs: T,
      borrowApy: d(0),
      utilization: d(0),
      supplyAssets: 0n,
      borrowAssets: 0n,
      liquidityAssets: 0n,
    },
  ]);
  const { take, logger } = captureLogs();
  const watch = createDatabaseWatch(silentLogger, clock);
  const { prefer, status } = createReplicaReads({ replica: db, watch, clock, logger, maxLagSec: 60 });
  let isOther = true;
  const read = prefer(
    async () => {
      if (isOther) throw Object.assign(new Error('no such table'), { code: '42P01' });
      return 'replica';
    },
    async () => 'primary',
  );
  for (const atMs of [T, T + 5_000]) {
    clock.nowMs = atMs;
    expect([await read(), status()]).toEqual(['primary', { problem: 'other_schema', sinceMs: T }]);
  }
  expect(take()).toEqual(['warn read replica is not used: it has another schema {}']);
  isOther = false;
  clock.nowMs += 5_000;
  expect([await read(), status()]).toEqual(['replica', { problem: null, sinceMs: null }]);
});

describe('keys', () => {
  test('behavior: a use is noted once an hour, and one that lies ahead is corrected', async () => {
    const keys = createKeyRepository(db);
    const id = '00000000-0000-4000-8000-000000000001';
    await keys.insert({
      id,
      prefix: 'p',
      secretHash: Buffer.alloc(32),
      tier: 'partner',
      label: 'l',
      createdAtMs: T,
      expiresAtMs: null,
      rotatedFrom: null,
    });
    const used = async (atMs: number) => {
      await keys.touch(id, atMs);
      return (await keys.findByPrefix('p'))?.lastUsedAtMs;
    };
    expect(await used(T)).toBe(T);
    expect(await used(T + LAST_USED_RESOLUTION_MS - 1)).toBe(T);
    expect(await used(T + LAST_USED_RESOLUTION_MS)).toBe(T + LAST_USED_RESOLUTION_MS);
    const ahead = T + LAST_USED_RESOLUTION_MS;
    expect(await used(ahead - MAX_AHEAD_MS)).toBe(ahead);
    expect(await used(ahead - MAX_AHEAD_MS - 1)).toBe(ahead - MAX_AHEAD_MS - 1);
    expect([await keys.expire('p', T + 9), await keys.expire('p', T + 10)].map((key) => key?.expiresAtMs)).toEqual([
      T + 9,
      T + 9,
    ]);
    expect([await keys.revoke('p', T + 3), await keys.revoke('p', T + 1)].map((key) => key?.revokedAtMs)).toEqual([
      T + 3,
      T + 3,
    ]);
    expect([await keys.expire('q', T), await keys.revoke('q', T), await keys.lock('q')]).toEqual([null, null, null]);
  });
});
