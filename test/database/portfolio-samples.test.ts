import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/client.ts';
import { createPortfolioSampleRepository } from '../../src/database/portfolio-samples.ts';
import type { PortfolioSample } from '../../src/domain/portfolio/report.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';

const HOUR_MS = 3_600_000;
const T = Date.UTC(2026, 5, 10, 12);

let database: MigratedDatabase;
let db: Database;
beforeAll(async () => {
  database = await openMigratedDatabase();
  db = database.db;
});
afterEach(async () => {
  await db.deleteFrom('portfolio_samples').execute();
});
afterAll(() => database.close());

function sample(chainId: number, atMs: number, positions: number): PortfolioSample {
  const usd = new Decimal(positions);
  const amounts = { depositedUsd: usd, netValueUsd: usd, incentivesUsd: usd, totalUsd: usd };
  return { chainId, atMs, positions, ...amounts };
}

test('behavior: portfolio samples are read for the requested chains only, oldest first', async () => {
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
