import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/client.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { createPortfolioSampleRepository } from '../../src/database/portfolio-samples.ts';
import { createSightingRepository } from '../../src/database/sightings.ts';
import type { PortfolioSample } from '../../src/domain/portfolio/report.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address } from '../../src/shared/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/process/postgres.ts';

const HOUR_MS = 3_600_000;
const T = Date.UTC(2026, 5, 10, 12);
const FIRST: Address = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const SECOND: Address = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrateDatabase(database.url);
  db = createDatabase({ url: database.url, poolSize: 2, statementTimeoutMs: 10_000 });
});
afterEach(async () => {
  await db.deleteFrom('drift_sightings').execute();
  await db.deleteFrom('portfolio_samples').execute();
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

test('behavior: sightings of chains and wallets are kept apart, whatever the capitals of an address', async () => {
  const sightings = createSightingRepository(db);
  await sightings.remember(1, [{ key: 'a', wallet: FIRST }], T);
  await sightings.remember(
    4663,
    [
      { key: 'a', wallet: FIRST },
      { key: 'b', wallet: SECOND },
    ],
    T + 1_000,
  );
  expect(await sightings.firstSeen(1)).toEqual(new Map([['a', T]]));
  expect(await sightings.firstSeen(4663, [SECOND.toLowerCase() as Address])).toEqual(new Map([['b', T + 1_000]]));
  await sightings.forgetAllBut(4663, [], []);
  expect([await sightings.firstSeen(1), await sightings.firstSeen(4663)]).toEqual([new Map([['a', T]]), new Map()]);
});

test('behavior: a sighting keeps its earliest time, in any order', async () => {
  const sightings = createSightingRepository(db);
  const met = [{ key: 'a', wallet: FIRST }];
  for (const atMs of [T, T + 60_000, T - 60_000, T - 30_000]) await sightings.remember(1, met, atMs);
  expect(await sightings.firstSeen(1)).toEqual(new Map([['a', T - 60_000]]));
});

test('behavior: forgets all sightings but those of the given keys and wallets', async () => {
  const sightings = createSightingRepository(db);
  const met = [
    { key: 'a', wallet: FIRST },
    { key: 'b', wallet: FIRST },
    { key: 'c', wallet: SECOND },
  ];
  await sightings.remember(1, met, T);
  await sightings.forgetAllBut(1, ['b'], [SECOND]);
  expect([...(await sightings.firstSeen(1)).keys()].sort()).toEqual(['b', 'c']);
});

function sample(chainId: number, atMs: number, positions: number): PortfolioSample {
  const usd = new Decimal(positions);
  const amounts = { depositedUsd: usd, netValueUsd: usd, incentivesUsd: usd, totalUsd: usd };
  return { chainId, atMs, positions, ...amounts };
}

test('behavior: portfolio samples are read for the asked chains only, oldest first', async () => {
  const samples = createPortfolioSampleRepository(db, { now: () => T + 10 * HOUR_MS });
  for (const one of [sample(1, T + 2 * HOUR_MS, 3), sample(4663, T, 1), sample(1, T, 2), sample(1, T - HOUR_MS, 9)]) {
    await samples.record(one);
  }
  const read = async (chainIds: readonly number[], fromMs: number) =>
    (await samples.since(chainIds, fromMs)).map(({ chainId, atMs, positions }) => [chainId, atMs - T, positions]);
  expect(await read([1], T)).toEqual([
    [1, 0, 2],
    [1, 2 * HOUR_MS, 3],
  ]);
  expect(await read([4663], 0)).toEqual([[4663, 0, 1]]);
  expect(await read([1, 4663], T)).toEqual([
    [1, 0, 2],
    [4663, 0, 1],
    [1, 2 * HOUR_MS, 3],
  ]);
});

test('behavior: of one hour the latest portfolio sample stays, in any order', async () => {
  const samples = createPortfolioSampleRepository(db, { now: () => T + 10 * HOUR_MS });
  for (const minute of [10, 30, 20]) await samples.record(sample(1, T + minute * 60_000, minute));
  expect((await samples.since([1], T)).map(({ positions }) => positions)).toEqual([30]);
});
