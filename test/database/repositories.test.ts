import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { seedRegistrations } from '../../devnet/seed-database.ts';
import { createDatabase, type Database } from '../../src/database/client.ts';
import { createKeyRepository, LAST_USED_RESOLUTION_MS, type NewKeyRecord } from '../../src/database/keys.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { createPortfolioSampleRepository } from '../../src/database/portfolio-samples.ts';
import { createProxyRepository } from '../../src/database/proxies.ts';
import { createRecordedRateRepository } from '../../src/database/recorded-rates.ts';
import { createRegistrationRepository } from '../../src/database/registrations.ts';
import { createSampleRepository, SAMPLE_RETENTION_DAYS } from '../../src/database/samples.ts';
import type { CampaignRecord } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address } from '../../src/shared/ids.ts';
import { parseMarketId } from '../../src/shared/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/process/postgres.ts';

/* Edge cases of storing, reading and removing rows by the repositories. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Midnight UTC. */
const T = Date.UTC(2026, 5, 10);
const MARKET = parseMarketId(`0x${'1'.repeat(64)}`);
const TOKEN = '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497';
const WALLET: Address = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const OTHER: Address = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const d = (value: string | number) => new Decimal(value);
const at = (nowMs: number) => ({ now: () => nowMs });

let database: TestDatabase;
let db: Database;
let queries: { readonly sql: string; readonly durationMs: number; readonly failed: boolean }[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  await migrateDatabase(database.url);
  db = createDatabase(
    { url: database.url, poolSize: 2, statementTimeoutMs: 10_000 },
    { onQuery: (query) => queries.push(query) },
  );
});
const TABLES = [
  ...(['rate_samples', 'apy_samples', 'portfolio_samples', 'api_keys'] as const),
  ...(['position_proxies', 'incentive_campaigns', 'position_registrations'] as const),
];
afterEach(async () => {
  for (const table of TABLES) await db.deleteFrom(table).execute();
});
beforeEach(() => {
  queries = [];
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

test('behavior: every statement is reported with its text, its time and whether it failed', async () => {
  await sql`select 1 as one`.execute(db);
  await sql`select no_such_column`.execute(db).catch(() => {});
  expect(queries.map(({ sql: text, failed }) => [text, failed])).toEqual([
    ['select 1 as one', false],
    ['select no_such_column', true],
  ]);
  for (const { durationMs } of queries) expect(durationMs).toBeGreaterThan(0);
});

describe('hourly samples', () => {
  const sample = (atMs: number) => ({
    marketId: MARKET,
    atMs,
    borrowApy: d('0.05'),
    utilization: d('0.9'),
    supplyAssets: 1_000n,
    borrowAssets: 900n,
    liquidityAssets: 100n,
  });

  test('behavior: the end of a range is not in it, by the hour and by the day', async () => {
    const samples = createSampleRepository(db, at(T + 30 * DAY_MS));
    const times = [T, T + HOUR_MS - 1, T + HOUR_MS, T + DAY_MS - 1, T + DAY_MS];
    for (const atMs of times) await samples.recordSamples(1, [sample(atMs)]);
    const hourly = async (fromMs: number, toMs?: number) =>
      (await samples.readHourly(1, [MARKET], { fromMs, toMs })).get(MARKET)?.map(({ atMs }) => atMs - T);
    expect(await hourly(T)).toEqual([HOUR_MS - 1, HOUR_MS, DAY_MS - 1, DAY_MS]);
    expect(await hourly(T, T + HOUR_MS)).toEqual([HOUR_MS - 1]);
    expect(await hourly(T + HOUR_MS - 1, T + HOUR_MS + 1)).toEqual([HOUR_MS - 1, HOUR_MS]);
    expect(await hourly(T + HOUR_MS)).toEqual([HOUR_MS, DAY_MS - 1, DAY_MS]);
    expect((await samples.readDaily(1, { fromMs: T, toMs: T + DAY_MS })).map(({ hours }) => hours)).toEqual([3]);
    expect((await samples.readDaily(1, { fromMs: T })).map(({ hours }) => hours)).toEqual([3, 1]);
  });

  test('behavior: nothing is read without markets', async () => {
    const samples = createSampleRepository(db, at(T));
    expect([await samples.readHourly(1, [], { fromMs: 0 }), queries]).toEqual([new Map(), []]);
  });

  test('behavior: they are stored for 400 days', async () => {
    expect(SAMPLE_RETENTION_DAYS).toBe(400);
    await createSampleRepository(db, at(T)).recordSamples(1, [sample(T)]);
    expect(await createSampleRepository(db, at(T + 400 * DAY_MS)).prune()).toBe(0);
    expect(await createSampleRepository(db, at(T + 400 * DAY_MS + 1)).prune()).toBe(1);
  });
});

describe('campaigns and daily APYs', () => {
  const campaign = (over: Partial<CampaignRecord> = {}): CampaignRecord => ({
    id: 'a',
    side: 'borrow',
    symbol: 'MORPHO',
    startsAtMs: T,
    endsAtMs: T + DAY_MS,
    steps: [{ atMs: T, ratePct: d('4.5') }],
    ...over,
  });
  const rates = (nowMs = T) => createRecordedRateRepository(db, at(nowMs));

  test('behavior: nothing runs without campaigns or samples', async () => {
    await rates().recordCampaigns(1, new Map());
    await rates().recordCampaigns(1, new Map([[MARKET, []]]));
    await rates().recordApys(1, []);
    expect(queries).toEqual([]);
  });

  test('behavior: the campaigns of a market are ordered by their start, without rows that this version cannot read', async () => {
    const [late, early] = [campaign({ id: 'late', startsAtMs: T + 1 }), campaign({ id: 'early', steps: [] })];
    await rates().recordCampaigns(1, new Map([[MARKET, [late, early, campaign({ id: 'steps' })]]]));
    await sql`update incentive_campaigns set steps = 'rubbish' where campaign_id = 'steps'`.execute(db);
    expect((await rates().readCampaigns(1, T)).get(MARKET)).toEqual([early, late]);
  });

  test('behavior: a campaign that is recorded again has all of its new fields', async () => {
    await rates().recordCampaigns(1, new Map([[MARKET, [campaign()]]]));
    const next = campaign({
      symbol: 'ANY',
      startsAtMs: T - 1,
      endsAtMs: T + 5,
      steps: [{ atMs: T - 1, ratePct: d(1) }],
    });
    await rates().recordCampaigns(1, new Map([[MARKET, [next]]]));
    expect(await rates().readCampaigns(1, T)).toEqual(new Map([[MARKET, [next]]]));
    expect(await rates().readCampaigns(1, T + 5)).toEqual(new Map());
  });

  test('behavior: campaigns that ended and days that are 400 days ago are removed; both are counted', async () => {
    await rates().recordCampaigns(
      1,
      new Map([[MARKET, [campaign({ endsAtMs: T }), campaign({ id: 'b', endsAtMs: T + 1 })]]]),
    );
    await rates().recordApys(1, [{ token: TOKEN, atMs: T, apyPct: d(3) }]);
    expect(await rates(T + 400 * DAY_MS).prune()).toBe(0);
    expect(await rates(T + 400 * DAY_MS + 1).prune()).toBe(2);
    expect(await rates(T + 400 * DAY_MS + 2).prune()).toBe(1);
  });

  test('behavior: a day is of UTC, from its first millisecond to its last', async () => {
    await rates(T + DAY_MS).recordApys(1, [{ token: TOKEN, atMs: T + DAY_MS - 1, apyPct: d('3.25') }]);
    await rates(T + DAY_MS).recordApys(1, [{ token: TOKEN, atMs: T + DAY_MS, apyPct: d(4) }]);
    const read = await rates(T + DAY_MS).readApys(1, T);
    expect(read).toEqual([
      { token: TOKEN, dayMs: T, apyPct: d('3.25') },
      { token: TOKEN, dayMs: T + DAY_MS, apyPct: d(4) },
    ]);
    expect(await rates(T + DAY_MS).readApys(1, T + 1)).toHaveLength(1);
    expect(await rates(T + DAY_MS).readApys(4663, 0)).toEqual([]);
  });
});

describe('totals of portfolios', () => {
  test('behavior: are returned exactly, of the hour of their time', async () => {
    const samples = createPortfolioSampleRepository(db, at(T + DAY_MS));
    const total = (atMs: number, usd: string) => ({
      chainId: 1,
      atMs,
      positions: 2,
      depositedUsd: d(usd),
      netValueUsd: d(usd).plus(1),
      incentivesUsd: d(usd).plus(2),
      totalUsd: d(usd).plus(3),
    });
    const all = [total(T, '0.1'), total(T + HOUR_MS - 1, '123456789.123456789'), total(T + HOUR_MS, '-5')];
    for (const one of all) await samples.record(one);
    expect(await samples.since([1], 0)).toEqual(all.slice(1));
    expect(await samples.since([1], T + HOUR_MS)).toEqual(all.slice(2));
  });
});

describe('owners of proxies', () => {
  const scope = { chainId: 1, factory: OTHER, genesisHash: `0x${'a'.repeat(64)}` } as const;
  const proxies = () => createProxyRepository(db);
  const proxy = (nonce: number, owner: Address | null = WALLET, resolvedBlock = 5n) => ({
    nonce,
    owner,
    resolvedBlock,
  });

  test('default: by nonce, with those that have no owner; nothing runs without any', async () => {
    await proxies().save(scope, []);
    expect(queries).toEqual([]);
    await proxies().save(scope, [proxy(3), proxy(1, null), proxy(2, OTHER, 2n ** 60n)]);
    expect(queries).toHaveLength(1);
    expect(await proxies().read(scope)).toEqual([proxy(1, null), proxy(2, OTHER, 2n ** 60n), proxy(3)]);
  });

  test('behavior: a known owner keeps its first block, another one replaces it', async () => {
    await proxies().save(scope, [proxy(1), proxy(2), proxy(3, null)]);
    await proxies().save(scope, [proxy(1, WALLET, 9n), proxy(2, OTHER, 9n), proxy(3, WALLET, 9n)]);
    expect(await proxies().read(scope)).toEqual([proxy(1), proxy(2, OTHER, 9n), proxy(3, WALLET, 9n)]);
  });

  test('behavior: chains, factories and chains of one id are separate', async () => {
    await proxies().save(scope, [proxy(1)]);
    for (const other of [
      { ...scope, chainId: 4663 },
      { ...scope, factory: WALLET },
      { ...scope, genesisHash: `0x${'b'.repeat(64)}` as const },
    ]) {
      expect(await proxies().read(other)).toEqual([]);
    }
    expect(await proxies().read({ ...scope, factory: scope.factory.toLowerCase() as Address })).toHaveLength(1);
  });

  test('behavior: any number is read', async () => {
    await proxies().save(
      scope,
      Array.from({ length: 1_001 }, (_, nonce) => proxy(nonce + 1)),
    );
    expect((await proxies().read(scope)).map(({ nonce }) => nonce)).toEqual(
      Array.from({ length: 1_001 }, (_, i) => i + 1),
    );
  });
});

describe('registrations', () => {
  const row = (positionIndex: number) => ({
    wallet: WALLET,
    chainId: 1,
    marketId: MARKET,
    positionIndex,
    isOpen: true,
    equityVaultId: null,
    depositedUsd: d(1),
    addedUsd: d(2),
    removedUsd: d(3),
    returnedUsd: d(4),
    collateralApyPctAtOpen: null,
    borrowApyPctAtOpen: null,
    leverageApyPctAtOpen: null,
    desiredLtvPct: null,
    entryPrice: null,
    exitPrice: null,
    createdAtMs: T,
    updatedAtMs: T,
    closedAtMs: null,
  });

  test('behavior: pages begin where the one before ended, also without a cursor', async () => {
    await seedRegistrations(db, [0, 1, 2].map(row));
    const repository = createRegistrationRepository(db);
    const first = await repository.pageOfChain(1, { limit: 2, after: null });
    expect([first.rows.map(({ positionIndex }) => positionIndex), first.next]).toEqual([
      [0, 1],
      { wallet: WALLET, positionIndex: 1 },
    ]);
    const last = await repository.pageOfChain(1, { limit: 2, after: first.next });
    expect([last.rows, last.next]).toEqual([[row(2)], null]);
    expect(await repository.pageOfChain(1, { limit: 3 })).toMatchObject({ next: null });
    expect(await repository.pageOfChain(5, { limit: 1 })).toEqual({ rows: [], next: null });
  });
});

describe('keys', () => {
  const keys = () => createKeyRepository(db);
  const key: NewKeyRecord = {
    id: '5f0f9e5e-7f5c-4d0e-9a57-0d6f9b6f7a11',
    prefix: 'sg_partner_abcdefgh',
    secretHash: Buffer.alloc(32, 7),
    tier: 'partner',
    label: 'a',
    createdAtMs: T,
    expiresAtMs: T + 9,
    rotatedFrom: null,
  };

  test('behavior: a use is recorded once an hour has passed since the last one', async () => {
    await keys().insert(key);
    const used = async (atMs: number) => {
      await keys().touch(key.id, atMs);
      return (await keys().findByPrefix(key.prefix))?.lastUsedAtMs;
    };
    expect(LAST_USED_RESOLUTION_MS).toBe(HOUR_MS);
    expect([await used(T), await used(T + HOUR_MS - 1), await used(T + HOUR_MS)]).toEqual([T, T, T + HOUR_MS]);
    expect(await used(T + HOUR_MS - 120_000)).toBe(T + HOUR_MS);
    expect(await used(T + HOUR_MS - 120_001)).toBe(T + HOUR_MS - 120_001);
  });

  test('behavior: an expiry is only moved forward in time, a revocation keeps its first time', async () => {
    await keys().insert(key);
    expect(await keys().findByPrefix(key.prefix)).toEqual({ ...key, revokedAtMs: null, lastUsedAtMs: null });
    expect((await keys().expire(key.prefix, T + 20))?.expiresAtMs).toBe(T + 9);
    expect((await keys().expire(key.prefix, T + 5))?.expiresAtMs).toBe(T + 5);
    expect((await keys().revoke(key.prefix, T + 2))?.revokedAtMs).toBe(T + 2);
    expect((await keys().revoke(key.prefix, T + 1))?.revokedAtMs).toBe(T + 2);
    for (const missing of [keys().findByPrefix('x'), keys().lock('x'), keys().expire('x', T), keys().revoke('x', T)]) {
      expect(await missing).toBeNull();
    }
    expect((await keys().lock(key.prefix))?.id).toBe(key.id);
  });

  test('behavior: a key without an expiry gets the first one; keys are listed from the newest; a failure undoes all', async () => {
    const other: NewKeyRecord = {
      ...key,
      id: '5f0f9e5e-7f5c-4d0e-9a57-0d6f9b6f7a12',
      prefix: 'b',
      expiresAtMs: null,
      createdAtMs: T + 1,
    };
    await keys().insert(key);
    await keys().insert({ ...other, rotatedFrom: key.id });
    expect((await keys().list()).map(({ prefix, rotatedFrom }) => [prefix, rotatedFrom])).toEqual([
      ['b', key.id],
      [key.prefix, null],
    ]);
    const failing = keys().atomically(async (inside) => {
      await inside.expire('b', T + 50);
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    expect((await keys().findByPrefix('b'))?.expiresAtMs).toBeNull();
    expect((await keys().expire('b', T + 50))?.expiresAtMs).toBe(T + 50);
  });
});
