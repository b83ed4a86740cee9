import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/client.ts';
import { createRecordedRateRepository } from '../../src/database/recorded-rates.ts';
import { SAMPLE_RETENTION_DAYS } from '../../src/database/samples.ts';
import type { CampaignRecord } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { parseMarketId } from '../../src/shared/ids.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 5, 10, 13);
const MARKET = parseMarketId(`0x${'1'.repeat(64)}`);
const TOKEN = '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497';

let database: MigratedDatabase;
let db: Database;
beforeAll(async () => {
  database = await openMigratedDatabase();
  db = database.db;
});
afterAll(() => database.close());

const campaign = (over: Partial<CampaignRecord> = {}): CampaignRecord => ({
  id: 'a',
  side: 'borrow',
  symbol: 'MORPHO',
  startsAtMs: NOW - 9 * DAY_MS,
  endsAtMs: NOW + DAY_MS,
  steps: [{ atMs: NOW - 9 * DAY_MS, ratePct: new Decimal('4.123456789012345678') }],
  ...over,
});

describe('campaigns', () => {
  test('default: returns the last recorded campaigns by side, exact to the digit', async () => {
    const rates = createRecordedRateRepository(db, { now: () => NOW });
    const [a, b] = [campaign(), campaign({ side: 'collateral' })];
    await rates.recordCampaigns(1, new Map([[MARKET, [a, b]]]));
    const ended = { ...a, endsAtMs: NOW };
    await rates.recordCampaigns(1, new Map([[MARKET, [ended]]]));
    expect((await rates.readCampaigns(1, NOW - DAY_MS)).get(MARKET)).toEqual([ended, b]);
    expect(await rates.readCampaigns(4663, 0)).toEqual(new Map());
    expect((await rates.readCampaigns(1, NOW)).get(MARKET)).toEqual([b]);
  });
});

describe('APYs', () => {
  test('default: the latest of each UTC day', async () => {
    const rates = createRecordedRateRepository(db, { now: () => NOW });
    const at = (atMs: number, pct: string) => ({ token: TOKEN, atMs, apyPct: new Decimal(pct) }) as const;
    await rates.recordApys(1, [at(NOW - DAY_MS, '3')]);
    await rates.recordApys(1, [at(NOW, '5')]);
    await rates.recordApys(1, [at(NOW - 1, '4')]);
    expect((await rates.readApys(1, 0)).map(({ apyPct }) => apyPct.toFixed())).toEqual(['3', '5']);
    expect((await rates.readApys(1, NOW - 14 * 3_600_000)).map(({ dayMs }) => dayMs)).toEqual([NOW - 13 * 3_600_000]);
  });
});

test('prune removes rows past the retention of samples', async () => {
  const later = NOW + (SAMPLE_RETENTION_DAYS + 2) * DAY_MS;
  const rates = createRecordedRateRepository(db, { now: () => later });
  expect(await rates.prune()).toBeGreaterThanOrEqual(4);
  expect(await rates.readApys(1, 0)).toEqual([]);
});
