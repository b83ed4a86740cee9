import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/client.ts';
import { createDriftSightingRepository } from '../../src/database/drift-sightings.ts';
import { createKeyRepository } from '../../src/database/keys.ts';
import { createMarketSampleRepository } from '../../src/database/market-samples.ts';
import { createPortfolioSampleRepository } from '../../src/database/portfolio-samples.ts';
import { createRecordedRateRepository } from '../../src/database/recorded-rates.ts';
import { createSampleRepository } from '../../src/database/samples.ts';
import { listDriftRecords } from '../../src/features/drift-history/database/records.ts';
import { createLastUsedRecorder } from '../../src/keys/last-used.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { parseMarketId } from '../../src/shared/ids.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';

/* Rows of a process whose clock is ahead: they block no new row, are not read, and are removed. */

const MINUTE_MS = 60_000;
/** Ten past an hour: the rows ahead are of the same hour and day. */
const NOW = Date.UTC(2026, 5, 10, 13, 10);
const AHEAD = NOW + 40 * MINUTE_MS;
const SOON = NOW + 90_000;
const MARKET = parseMarketId(`0x${'1'.repeat(64)}`);
const TOKEN = '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497';
const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

let database: MigratedDatabase;
let db: Database;
beforeAll(async () => {
  database = await openMigratedDatabase();
  db = database.db;
});
afterAll(() => database.close());
beforeEach(async () => {
  for (const table of [
    'rate_samples',
    'market_samples',
    'apy_samples',
    'portfolio_samples',
    'drift_history',
    'drift_sightings',
    'api_keys',
  ] as const) {
    await db.deleteFrom(table).execute();
  }
});

const at = (nowMs: number) => ({ now: () => nowMs });

interface Row {
  /** Write a value as a process whose clock shows this time. */
  write(atMs: number, value: string): Promise<void>;
  read(): Promise<readonly string[]>;
  prune(): Promise<number>;
}

const ROWS: readonly (readonly [string, () => Row])[] = [
  [
    'hourly rates, read by the hour',
    () => {
      const samples = (nowMs: number) => createSampleRepository(db, at(nowMs));
      return {
        write: (atMs, value) => samples(atMs).recordSamples(1, [rate(atMs, value)]),
        read: async () => {
          const read = await samples(NOW).readHourly(1, [MARKET], { fromMs: NOW - MINUTE_MS });
          return (read.get(MARKET) ?? []).map(({ borrowApy }) => borrowApy.toFixed());
        },
        prune: () => samples(NOW).prune(),
      };
    },
  ],
  [
    'hourly rates, read by the day',
    () => {
      const samples = (nowMs: number) => createSampleRepository(db, at(nowMs));
      return {
        write: (atMs, value) => samples(atMs).recordSamples(1, [rate(atMs, value)]),
        read: async () =>
          (await samples(NOW).readDaily(1, { fromMs: NOW })).map(({ borrowApy }) => borrowApy.toFixed()),
        prune: () => samples(NOW).prune(),
      };
    },
  ],
  [
    'prices and rates of markets',
    () => {
      const samples = (nowMs: number) => createMarketSampleRepository(db, at(nowMs));
      return {
        write: (atMs, value) =>
          samples(atMs).record(1, new Map([[MARKET, { atMs, price: BigInt(value), borrowRate: 0n }]])),
        read: async () => (await samples(NOW).since(1, MARKET, NOW - 30 * MINUTE_MS)).map(({ price }) => String(price)),
        prune: () => samples(NOW).prune(),
      };
    },
  ],
  [
    'daily APYs',
    () => {
      const rates = (nowMs: number) => createRecordedRateRepository(db, at(nowMs));
      return {
        write: (atMs, value) => rates(atMs).recordApys(1, [{ token: TOKEN, atMs, apyPct: new Decimal(value) }]),
        read: async () => (await rates(NOW).readApys(1, 0)).map(({ apyPct }) => apyPct.toFixed()),
        prune: () => rates(NOW).prune(),
      };
    },
  ],
  [
    'totals of portfolios',
    () => {
      const samples = (nowMs: number) => createPortfolioSampleRepository(db, at(nowMs));
      return {
        write: (atMs, value) => samples(atMs).record(portfolio(atMs, value)),
        read: async () => (await samples(NOW).since([1], 0)).map(({ totalUsd }) => totalUsd.toFixed()),
        prune: () => samples(NOW).prune(),
      };
    },
  ],
];

describe.each(ROWS)('%s', (_, make) => {
  test('behavior: does not read a future row, and a correct row replaces it', async () => {
    const row = make();
    await row.write(AHEAD, '9');
    expect(await row.read()).toEqual([]);
    await row.write(NOW, '5');
    expect(await row.read()).toEqual(['5']);
  });

  test('behavior: a row less than two minutes ahead counts as now', async () => {
    const row = make();
    await row.write(SOON, '7');
    expect(await row.read()).toEqual(['7']);
    expect(await row.prune()).toBe(0);
  });

  test('behavior: housekeeping removes only future rows', async () => {
    const row = make();
    await row.write(NOW - 60 * MINUTE_MS, '4');
    await row.write(AHEAD + 60 * MINUTE_MS * 24, '9');
    expect(await row.prune()).toBe(1);
    expect(await row.prune()).toBe(0);
  });
});

describe('the history of a disagreement', () => {
  const drift = {
    wallet: WALLET,
    positionIndex: 0,
    kind: 'no_db_row',
    severity: 'high',
    marketId: MARKET,
    vaultId: null,
  } as const;
  const history = createDriftSightingRepository;
  const record = (atMs: number, found: readonly (typeof drift)[] = [drift]) =>
    history(db, at(atMs)).record({ chainId: 1, atMs, found, wallets: { except: [] } });
  const read = async () => {
    const filter = { chainIds: [1] };
    const { records } = await listDriftRecords(db, { filter, size: 10, fromEnd: false }, NOW);
    return records.map(({ firstSeenMs, lastSeenMs, goneMs }) => [firstSeenMs, lastSeenMs, goneMs]);
  };

  test('behavior: a present reading replaces the times of a future one, and is not replaced by it', async () => {
    await record(AHEAD);
    expect(await read()).toEqual([[NOW, NOW, null]]);
    await record(NOW);
    expect(await read()).toEqual([[NOW, NOW, null]]);
    expect(await history(db, at(NOW)).prune()).toBe(0);
    const known = await history(db, at(NOW)).known(1);
    expect([...known.values()]).toEqual([{ firstSeenMs: NOW, earlier: [] }]);
  });

  test('behavior: records that a process with a clock ahead opened or ended do not prevent a present reading', async () => {
    await record(AHEAD);
    await record(NOW, []);
    expect(await read()).toEqual([[NOW, NOW, NOW]]);
    await record(NOW + MINUTE_MS);
    await record(AHEAD, []);
    await record(NOW + 2 * MINUTE_MS);
    expect((await read()).map(([, , goneMs]) => goneMs)).toEqual([null, NOW, NOW]);
    expect(await history(db, at(NOW)).prune()).toBe(1);
    expect(await history(db, at(NOW)).prune()).toBe(0);
  });
});

describe('when a key was last used', () => {
  const insert = async () => {
    const keys = createKeyRepository(db);
    await keys.insert({
      id: '5f0f9e5e-7f5c-4d0e-9a57-0d6f9b6f7a11',
      prefix: 'sg_partner_abcdefgh',
      secretHash: Buffer.alloc(32),
      tier: 'partner',
      label: 'a',
      createdAtMs: NOW,
      expiresAtMs: null,
      rotatedFrom: null,
    });
    const [key] = await keys.list();
    if (key === undefined) throw new Error('no key');
    const used = async () => (await keys.findByPrefix(key.prefix))?.lastUsedAtMs;
    return { keys, id: key.id, used };
  };

  test('behavior: a present time replaces a future one', async () => {
    const { keys, id, used } = await insert();
    await keys.touch(id, AHEAD);
    await keys.touch(id, NOW);
    expect(await used()).toBe(NOW);
    await keys.touch(id, NOW + MINUTE_MS);
    expect(await used()).toBe(NOW);
  });

  test('behavior: follows a clock that was set back at once', async () => {
    const { keys, id, used } = await insert();
    let nowMs = AHEAD;
    const recorder = createLastUsedRecorder(keys, { clock: { now: () => nowMs }, logger: silentLogger });
    recorder.touch(id);
    await recorder.settle();
    nowMs = NOW;
    recorder.touch(id);
    await recorder.settle();
    expect(await used()).toBe(NOW);
  });
});

function rate(atMs: number, value: string) {
  return {
    marketId: MARKET,
    atMs,
    borrowApy: new Decimal(value),
    utilization: new Decimal('0.9'),
    supplyAssets: 1_000n,
    borrowAssets: 900n,
    liquidityAssets: 100n,
  };
}

function portfolio(atMs: number, value: string) {
  const usd = new Decimal(value);
  return { chainId: 1, atMs, positions: 1, depositedUsd: usd, netValueUsd: usd, incentivesUsd: usd, totalUsd: usd };
}
