import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/client.ts';
import { createMarketSampleRepository } from '../../src/database/market-samples.ts';
import { createPositionHistoryRepository } from '../../src/database/position-history.ts';
import { createSampleRepository, type RateSample, SAMPLE_RETENTION_DAYS } from '../../src/database/samples.ts';
import type { IndexerRunRecord } from '../../src/domain/history/indexer-state.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { parseMarketId } from '../../src/shared/ids.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Midnight UTC. */
const DAY_START = Date.UTC(2026, 5, 10);
const FIRST = parseMarketId(`0x${'1'.repeat(64)}`);
const SECOND = parseMarketId(`0x${'2'.repeat(64)}`);

/** After all that is sampled here. */
const clock = { now: () => DAY_START + 30 * DAY_MS };

let database: MigratedDatabase;
let db: Database;
beforeAll(async () => {
  database = await openMigratedDatabase(4);
  db = database.db;
});
beforeEach(() => {
  database.statements.length = 0;
});
afterEach(async () => {
  await db.deleteFrom('rate_samples').execute();
  await db.deleteFrom('market_samples').execute();
});
afterAll(() => database.close());

function sample(over: Partial<RateSample> = {}): RateSample {
  return {
    marketId: FIRST,
    atMs: DAY_START,
    borrowApy: new Decimal('0.05'),
    utilization: new Decimal('0.9'),
    supplyAssets: 1_000n,
    borrowAssets: 900n,
    liquidityAssets: 100n,
    ...over,
  };
}

function apys(rows: readonly { readonly borrowApy: Decimal }[]): string[] {
  return rows.map((row) => row.borrowApy.toFixed());
}

describe('recordSamples', () => {
  test('default', async () => {
    const samples = createSampleRepository(db, clock);
    const given = [sample(), sample({ marketId: SECOND, atMs: DAY_START + 5 })];
    await samples.recordSamples(1, given);
    expect((await samples.readHourly(1, [FIRST], { fromMs: DAY_START })).get(FIRST)).toEqual([given[0]]);
    expect((await samples.readHourly(1, [SECOND], { fromMs: DAY_START })).get(SECOND)).toEqual([given[1]]);
    expect((await samples.readHourly(4663, [FIRST], { fromMs: 0 })).get(FIRST)).toBeUndefined();
  });

  test('behavior: finds a sample by its time', async () => {
    const samples = createSampleRepository(db, clock);
    const given = sample({ atMs: DAY_START + 59 * 60_000 });
    await samples.recordSamples(1, [given]);
    expect((await samples.readHourly(1, [FIRST], { fromMs: given.atMs })).get(FIRST)).toEqual([given]);
    expect((await samples.readHourly(1, [FIRST], { fromMs: DAY_START + HOUR_MS })).get(FIRST)).toBeUndefined();
  });

  test('behavior: one statement for any number of markets', async () => {
    const samples = createSampleRepository(db, clock);
    const many = Array.from({ length: 500 }, (_, index) =>
      sample({ marketId: parseMarketId(`0x${index.toString(16).padStart(64, '0')}`) }),
    );
    await samples.recordSamples(1, many);
    expect(database.statements).toHaveLength(1);
    expect(await samples.readDaily(1, { fromMs: DAY_START })).toHaveLength(500);
  });

  test('behavior: runs no statement without samples', async () => {
    await createSampleRepository(db, clock).recordSamples(1, []);
    expect(database.statements).toEqual([]);
  });

  test('behavior: the latest sample of the hour wins in any order', async () => {
    const samples = createSampleRepository(db, clock);
    const at = (minute: number, apy: string) =>
      sample({ atMs: DAY_START + minute * 60_000, borrowApy: new Decimal(apy) });
    await samples.recordSamples(1, [at(10, '0.10')]);
    await samples.recordSamples(1, [at(30, '0.30')]);
    await samples.recordSamples(1, [at(20, '0.20')]);
    await samples.recordSamples(1, [at(58, '0.58'), at(59, '0.59'), at(57, '0.57'), at(60, '0.60')]);
    expect(apys((await samples.readHourly(1, [FIRST], { fromMs: DAY_START })).get(FIRST) ?? [])).toEqual([
      '0.59',
      '0.6',
    ]);
  });

  test('behavior: a sample recorded again changes nothing', async () => {
    const samples = createSampleRepository(db, clock);
    await Promise.all(Array.from({ length: 5 }, () => samples.recordSamples(1, [sample()])));
    expect((await samples.readHourly(1, [FIRST], { fromMs: 0 })).get(FIRST)).toEqual([sample()]);
  });

  test('behavior: returns numbers exactly', async () => {
    const samples = createSampleRepository(db, clock);
    const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
    const rate = fc
      .tuple(fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n }), fc.integer({ min: 0, max: 40 }))
      .map(([digits, places]) => new Decimal(digits.toString()).shiftedBy(-places));
    const record = fc.record({
      borrowApy: rate,
      utilization: rate,
      supplyAssets: uint256,
      borrowAssets: uint256,
      liquidityAssets: uint256,
    });
    let hour = 0;
    await fc.assert(
      fc.asyncProperty(record, async (values) => {
        hour += 1;
        const given = sample({ ...values, atMs: DAY_START + hour * HOUR_MS });
        await samples.recordSamples(1, [given]);
        const [read] = (await samples.readHourly(1, [FIRST], { fromMs: given.atMs })).get(FIRST) ?? [];
        expect(read?.borrowApy.toFixed()).toBe(given.borrowApy.toFixed());
        expect(read?.utilization.toFixed()).toBe(given.utilization.toFixed());
        expect({ ...read, borrowApy: 0, utilization: 0 }).toEqual({ ...given, borrowApy: 0, utilization: 0 });
      }),
      { numRuns: 60, examples: [[{ ...sample(), borrowApy: new Decimal('123456789012345678901234567e-18') }]] },
    );
  });
});

describe('readDaily', () => {
  test('default: the mean of the hours of a UTC day', async () => {
    const samples = createSampleRepository(db, clock);
    const hours = ['0.01', '0.02', '0.04'].map((apy, index) =>
      sample({ atMs: DAY_START + index * HOUR_MS, borrowApy: new Decimal(apy) }),
    );
    await samples.recordSamples(1, [...hours, sample({ atMs: DAY_START + DAY_MS })]);
    const daily = await samples.readDaily(1, { fromMs: DAY_START });
    expect(daily).toEqual([
      {
        marketId: FIRST,
        dayMs: DAY_START,
        borrowApy: new Decimal('0.07').dividedBy(3),
        utilization: new Decimal('0.9'),
        hours: 3,
      },
      {
        marketId: FIRST,
        dayMs: DAY_START + DAY_MS,
        borrowApy: new Decimal('0.05'),
        utilization: new Decimal('0.9'),
        hours: 1,
      },
    ]);
  });

  test('behavior: the session time zone does not move a day', async () => {
    const elsewhere = new URL(database.url);
    elsewhere.searchParams.set('options', '-c TimeZone=Pacific/Auckland');
    const other = createDatabase({ url: elsewhere.href, poolSize: 1, statementTimeoutMs: 5_000 });
    const samples = createSampleRepository(other, clock);
    await samples.recordSamples(1, [sample({ atMs: DAY_START - 1 }), sample({ atMs: DAY_START + 23 * HOUR_MS })]);
    const daily = await samples.readDaily(1, { fromMs: 0 });
    await other.destroy();
    expect(daily.map((day) => day.dayMs)).toEqual([DAY_START - DAY_MS, DAY_START]);
  });

  test('behavior: range and market', async () => {
    const samples = createSampleRepository(db, clock);
    await samples.recordSamples(1, [
      sample(),
      sample({ atMs: DAY_START + DAY_MS }),
      sample({ atMs: DAY_START + 2 * DAY_MS }),
      sample({ marketId: SECOND, atMs: DAY_START + DAY_MS }),
    ]);
    const range = { fromMs: DAY_START + DAY_MS, toMs: DAY_START + 2 * DAY_MS };
    expect((await samples.readDaily(1, range)).map((day) => day.marketId)).toEqual([FIRST, SECOND]);
    expect((await samples.readDaily(1, range, SECOND)).map((day) => day.marketId)).toEqual([SECOND]);
  });
});

describe('prune', () => {
  test('default: keeps rows within the limit', async () => {
    const samples = createSampleRepository(db, clock);
    const oldest = DAY_START - SAMPLE_RETENTION_DAYS * DAY_MS;
    const remaining = sample({ atMs: oldest });
    await samples.recordSamples(1, [sample({ atMs: oldest - HOUR_MS }), sample({ atMs: oldest - DAY_MS }), remaining]);
    expect(await createSampleRepository(db, { now: () => DAY_START }).prune()).toBe(2);
    expect((await samples.readHourly(1, [FIRST], { fromMs: 0 })).get(FIRST)).toEqual([remaining]);
    expect(await createSampleRepository(db, { now: () => DAY_START }).prune()).toBe(0);
  });
});

describe('hourly prices and rates of markets', () => {
  const [T, MARKET, OTHER] = [DAY_START, FIRST, SECOND];
  const sample = (atMs: number, price = 2n ** 255n) => ({ atMs, price, borrowRate: 1_547_125_957n });
  const repository = (nowMs = T + HOUR_MS) => createMarketSampleRepository(db, { now: () => nowMs });

  test('behavior: the latest of an hour counts, exactly, oldest first, of one market and chain', async () => {
    const samples = repository();
    await samples.record(
      1,
      new Map([
        [MARKET, sample(T + 50)],
        [OTHER, sample(T, 7n)],
      ]),
    );
    await samples.record(1, new Map([[MARKET, sample(T + HOUR_MS)]]));
    for (const [atMs, price] of [
      [T + 60, 3n],
      [T + 55, 4n],
    ] as const)
      await samples.record(1, new Map([[MARKET, sample(atMs, price)]]));
    await samples.record(4663, new Map([[MARKET, sample(T, 8n)]]));
    expect(await samples.since(1, MARKET, T)).toEqual([sample(T + 60, 3n), sample(T + HOUR_MS)]);
    expect(await samples.since(1, MARKET, T + HOUR_MS)).toEqual([sample(T + HOUR_MS)]);
    expect(await samples.since(1, OTHER, T)).toEqual([sample(T, 7n)]);
  });

  test('behavior: one statement for all markets of a run, none without a market', async () => {
    await repository().record(1, new Map());
    expect(database.statements).toEqual([]);
    await repository().record(
      1,
      new Map([
        [MARKET, sample(T)],
        [OTHER, sample(T)],
      ]),
    );
    expect(database.statements).toHaveLength(1);
  });

  test('behavior: a price of zero is refused, and samples are stored for 400 days', async () => {
    await expect(repository().record(1, new Map([[MARKET, sample(T, 0n)]]))).rejects.toThrow();
    await repository().record(1, new Map([[MARKET, sample(T)]]));
    expect(await repository(T + 400 * DAY_MS).prune()).toBe(0);
    expect(await repository(T + 400 * DAY_MS + 1).prune()).toBe(1);
  });
});

describe('noteRun', () => {
  afterEach(async () => {
    for (const table of ['indexer_cursor', 'indexer_blocks', 'position_events'] as const)
      await db.deleteFrom(table).execute();
  });

  test('default: the latest run and the first failure in a row are recorded, beside how much was found', async () => {
    const history = createPositionHistoryRepository(db);
    const range = { fromBlock: 10n, fromMs: 1_000, toBlock: 70n, toMs: 2_000, isWhole: true };
    const block = { number: 70n, hash: `0x${'ab'.repeat(32)}`, atMs: 2_000 } as const;
    await history.begin(1, { scope: 'a', ...range }, block);
    expect(await history.records()).toEqual([{ chainId: 1, range, found: 0, run: null }]);
    const note = async (run: Partial<IndexerRunRecord>) => {
      await history.noteRun(1, { atMs: 1_000, head: null, headMs: null, expected: null, failure: null, ...run });
      return (await history.records())[0]?.run;
    };
    const read = { atMs: 1_000, head: 71n, headMs: 900, expected: 3, failure: null, failingSinceMs: null };
    expect(await note({ head: 71n, headMs: 900, expected: 3 })).toEqual(read);
    await note({ atMs: 2_000, failure: 'rate_limited' });
    const failing = { ...read, atMs: 3_000, failure: 'timeout', failingSinceMs: 2_000 };
    expect(await note({ atMs: 3_000, failure: 'timeout' })).toEqual(failing);
    expect(await note({ atMs: 4_000 })).toEqual({ ...read, atMs: 4_000 });
    // A chain without a cursor has nothing to record.
    await history.noteRun(4663, { atMs: 1, head: null, headMs: null, expected: null, failure: 'timeout' });
    expect(await history.records()).toHaveLength(1);
  });
});
