import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/process/postgres.ts';
import { createDatabase, type Database } from '../../../database/client.ts';
import { createDriftSightingRepository, type DriftReading } from '../../../database/drift-sightings.ts';
import { migrateDatabase } from '../../../database/migrate.ts';
import { driftKey } from '../../../domain/drift/find.ts';
import { MAX_EARLIER_DRIFT } from '../../../domain/drift/types.ts';
import { type Address, parseMarketId, parseStrategyId } from '../../../shared/ids.ts';
import { listDriftRecords } from '../database/records.ts';

const T = Date.UTC(2026, 5, 10, 12);
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const FIRST: Address = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const SECOND: Address = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const MARKET = parseMarketId(`0x${'1'.repeat(64)}`);
const VAULT = parseStrategyId(`equity-0x${'2'.repeat(64)}`);

type Found = DriftReading['found'][number];
const drift = (over: Partial<Found> = {}): Found => ({
  wallet: FIRST,
  positionIndex: 0,
  kind: 'no_db_row',
  severity: 'high',
  marketId: MARKET,
  vaultId: null,
  ...over,
});

let database: TestDatabase;
let db: Database;
let other: Database;
let nowMs = T + DAY_MS;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrateDatabase(database.url);
  const config = { url: database.url, poolSize: 4, statementTimeoutMs: 10_000 };
  [db, other] = [createDatabase(config), createDatabase(config)];
});
afterEach(async () => {
  nowMs = T + DAY_MS;
  for (const table of ['drift_history', 'drift_sightings'] as const) await db.deleteFrom(table).execute();
});
afterAll(async () => {
  await Promise.all([db.destroy(), other.destroy()]);
  await database.drop();
});

const historyOf = (one: Database) => createDriftSightingRepository(one, { now: () => nowMs });
/** Store a reading some minutes after the start. */
const record = (minutes: number, found: readonly Found[], over: Partial<DriftReading> = {}) =>
  historyOf(db).record({ chainId: 1, atMs: T + minutes * MINUTE_MS, found, wallets: { except: [] }, ...over });
const list = async (filter: object = {}, page: object = {}) =>
  listDriftRecords(db, { filter: { chainIds: [1, 4663], ...filter }, size: 100, fromEnd: false, ...page }, nowMs);
/** First seen, last seen and gone, in minutes after the start; the latest recorded first. */
const times = async (filter: object = {}) =>
  (await list(filter)).records.map(({ firstSeenMs, lastSeenMs, goneMs }) =>
    [firstSeenMs, lastSeenMs, goneMs].map((atMs) => atMs && (atMs - T) / MINUTE_MS),
  );

describe('record', () => {
  test('default: a disagreement is open from its first reading to the first one without it, and opens anew', async () => {
    await record(0, [drift()]);
    await record(1, [drift()]);
    expect(await times()).toEqual([[0, 1, null]]);
    await record(2, []);
    expect(await times()).toEqual([[0, 1, 2]]);
    await record(3, []);
    await record(4, [drift()]);
    expect(await times()).toEqual([
      [4, 4, null],
      [0, 1, 2],
    ]);
    expect(await historyOf(db).known(1)).toEqual(
      new Map([
        [
          driftKey(drift()),
          {
            firstSeenMs: T + 4 * MINUTE_MS,
            earlier: [{ firstSeenMs: T, lastSeenMs: T + MINUTE_MS, goneMs: T + 2 * MINUTE_MS }],
          },
        ],
      ]),
    );
  });

  test('behavior: the record has the present severity, market and vault', async () => {
    await record(0, [drift({ vaultId: VAULT })]);
    await record(1, [drift({ severity: 'low' })]);
    await record(0, [drift({ severity: 'medium' })]);
    const { records } = await list();
    expect(records).toMatchObject([{ wallet: FIRST, severity: 'low', marketId: MARKET, vaultId: null, chainId: 1 }]);
  });

  test('behavior: a wallet that was not read keeps its disagreements', async () => {
    const both = [drift(), drift({ wallet: SECOND })];
    await record(0, both);
    await record(1, [], { wallets: { except: [FIRST] } });
    expect((await list({ isGone: false })).records.map(({ wallet }) => wallet)).toEqual([FIRST]);
    await record(2, both);
    await record(3, [], { wallets: { only: [FIRST] } });
    expect((await list({ isGone: false })).records.map(({ wallet }) => wallet)).toEqual([SECOND]);
  });

  test('behavior: chains, kinds and positions are separate', async () => {
    await record(0, [drift(), drift({ positionIndex: 1 }), drift({ kind: 'db_open_chain_closed' })]);
    await record(0, [drift()], { chainId: 4663 });
    await record(1, [drift()]);
    expect(await times({ isGone: false })).toEqual([
      [0, 0, null],
      [0, 1, null],
    ]);
  });

  test('behavior: two processes that store the same readings at once make one record', async () => {
    const many = Array.from({ length: 40 }, (_, positionIndex) => drift({ positionIndex }));
    const store = (one: Database, minutes: number, found: readonly Found[]) =>
      historyOf(one).record({ chainId: 1, atMs: T + minutes * MINUTE_MS, found, wallets: { except: [] } });
    await Promise.all([
      store(db, 0, many),
      store(other, 0, many.toReversed()),
      store(db, 1, many),
      store(other, 1, many),
    ]);
    const { totalCount, records } = await list();
    expect([totalCount, records.every(({ goneMs }) => goneMs === null)]).toEqual([40, true]);
    await Promise.all([store(db, 2, []), store(other, 3, [])]);
    expect([(await list()).totalCount, (await list({ isGone: false })).totalCount]).toEqual([40, 0]);
  });

  test('behavior: a reading that is stored late changes nothing that a newer one has said', async () => {
    await record(0, [drift()]);
    await record(2, []);
    await record(1, [drift()]);
    expect(await times()).toEqual([[0, 0, 2]]);
    await record(4, [drift()]);
    await record(3, []);
    expect(await times({ isGone: false })).toEqual([[4, 4, null]]);
  });
});

describe('the version before', () => {
  /** Its statements, word for word. */
  const before = {
    firstSeen: () => db.selectFrom('drift_sightings').select(['key', 'first_seen']).where('chain_id', '=', 1).execute(),
    remember: (key: string, atMs: number) =>
      sql`
        insert into drift_sightings (chain_id, key, wallet, first_seen)
        select ${1}::integer, key, wallet, ${new Date(atMs)}::timestamptz
        from unnest(${[key]}::text[], ${[FIRST.toLowerCase()]}::text[]) as met (key, wallet)
        on conflict (chain_id, key) do update set first_seen = excluded.first_seen
        where drift_sightings.first_seen > excluded.first_seen`.execute(db),
    forgetAllBut: () =>
      sql`
        delete from drift_sightings
        where chain_id = ${1}::integer and not (key = any(${[]}::text[])) and not (wallet = any(${[]}::text[]))`.execute(
        db,
      ),
  };

  test('behavior: its first sightings count, and its rows go when a disagreement is gone', async () => {
    await before.remember(driftKey(drift()), T - 60 * MINUTE_MS);
    expect(await historyOf(db).known(1)).toEqual(
      new Map([[driftKey(drift()), { firstSeenMs: T - 60 * MINUTE_MS, earlier: [] }]]),
    );
    await record(0, [drift()]);
    expect(await times()).toEqual([[-60, 0, null]]);
    await record(1, []);
    expect(await before.firstSeen()).toEqual([]);
    await record(2, [drift()]);
    expect((await times())[0]).toEqual([2, 2, null]);
  });

  test('behavior: it reads the first sightings of this version, and may remove them', async () => {
    await record(0, [drift(), drift({ positionIndex: 1 })]);
    await record(5, [drift()]);
    expect(await before.firstSeen()).toEqual([{ key: driftKey(drift()), first_seen: new Date(T) }]);
    await before.forgetAllBut();
    await record(6, [drift()]);
    expect(await times({ isGone: false })).toEqual([[0, 6, null]]);
  });
});

describe('known', () => {
  test('behavior: is asked for wallets in any capitals, and has the latest times of each', async () => {
    for (let i = 0; i < MAX_EARLIER_DRIFT + 2; i += 1) {
      await record(2 * i, [drift(), drift({ wallet: SECOND })]);
      await record(2 * i + 1, [drift({ wallet: SECOND })]);
    }
    const found = await historyOf(db).known(1, [FIRST.toUpperCase().replace('0X', '0x') as Address]);
    expect([...found.keys()]).toEqual([driftKey(drift())]);
    const [one] = found.values();
    expect(one?.firstSeenMs).toBeNull();
    expect(one?.earlier.map(({ goneMs }) => (goneMs - T) / MINUTE_MS)).toEqual(
      Array.from({ length: MAX_EARLIER_DRIFT }, (_, i) => 2 * (MAX_EARLIER_DRIFT + 1 - i) + 1),
    );
  });
});

describe('list', () => {
  test('default: pages in both directions neither repeat nor skip, also while records are added', async () => {
    for (let i = 0; i < 7; i += 1)
      await record(
        i,
        Array.from({ length: i + 1 }, (_, n) => drift({ positionIndex: n })),
      );
    const all = (await list()).records.map(({ id }) => id);
    const [first] = [await list({}, { size: 3 })];
    expect(first).toMatchObject({ totalCount: 7, hasPreviousPage: false, hasNextPage: true });
    await record(
      8,
      Array.from({ length: 8 }, (_, n) => drift({ positionIndex: n })),
    );
    const second = await list({}, { size: 3, after: first.records.at(-1)?.id });
    expect(second).toMatchObject({ totalCount: 8, hasPreviousPage: true, hasNextPage: true });
    const third = await list({}, { size: 3, after: second.records.at(-1)?.id });
    expect(third).toMatchObject({ hasPreviousPage: true, hasNextPage: false });
    expect([first, second, third].flatMap(({ records }) => records.map(({ id }) => id))).toEqual(all);
    const last = await list({}, { size: 2, fromEnd: true });
    expect(last).toMatchObject({ hasPreviousPage: true, hasNextPage: false });
    expect(last.records.map(({ id }) => id)).toEqual(all.slice(-2));
    const preceding = await list({}, { size: 2, fromEnd: true, before: last.records[0]?.id });
    expect(preceding.records.map(({ id }) => id)).toEqual(all.slice(-4, -2));
    expect(preceding).toMatchObject({ hasPreviousPage: true, hasNextPage: true });
  });

  test('behavior: every condition narrows; a kind of a later version is not listed', async () => {
    await record(0, [
      drift(),
      drift({ wallet: SECOND, kind: 'db_open_chain_closed', severity: 'medium', vaultId: VAULT }),
    ]);
    await record(0, [drift({ marketId: parseMarketId(`0x${'3'.repeat(64)}`) })], { chainId: 4663 });
    await record(1, [drift()]);
    await sql`update drift_history set kind = 'of_tomorrow' where chain_id = 4663`.execute(db);
    const count = async (filter: object) => (await list(filter)).totalCount;
    expect(await count({})).toBe(2);
    expect(await count({ chainIds: [4663] })).toBe(0);
    for (const filter of [
      { isGone: true },
      { isGone: false },
      { kinds: ['no_db_row'] },
      { severities: ['medium'] },
      { wallets: [SECOND] },
      { vaultIds: [VAULT] },
    ]) {
      expect([filter, await count(filter)]).toEqual([filter, 1]);
    }
    expect(await count({ marketIds: [MARKET] })).toBe(2);
    expect(await count({ wallets: [] })).toBe(0);
  });
});

describe('prune', () => {
  test('default: removes records 400 days after their end, and no open one', async () => {
    await record(0, [drift(), drift({ positionIndex: 1 })]);
    await record(1, [drift()]);
    nowMs = T + MINUTE_MS + 400 * DAY_MS;
    expect(await historyOf(db).prune()).toBe(0);
    nowMs += 1;
    expect(await historyOf(db).prune()).toBe(1);
    expect(await times()).toEqual([[0, 1, null]]);
  });
});
