import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/database/client.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { createUsageRecorder, readUsage } from '../../src/database/usage.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrateDatabase(database.url);
  db = createDatabase({ url: database.url, poolSize: 2, statementTimeoutMs: 5_000 });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

describe('createUsageRecorder', () => {
  test('default: counts per key and UTC day, added to what is there', async () => {
    let now = Date.UTC(2026, 0, 31, 23, 59);
    const deps = { db, clock: { now: () => now }, logger: silentLogger };
    const usage = createUsageRecorder(deps);
    for (let request = 0; request < 3; request += 1) usage.record('first');
    usage.record('second');
    await usage.flush();
    usage.record('first');
    now += 60_000;
    usage.record('first');
    await Promise.all([usage.flush(), usage.flush()]);
    await usage.close();
    expect(await readUsage(db, { fromMs: 0 })).toEqual([
      { keyId: 'first', day: '2026-02-01', requests: 1 },
      { keyId: 'first', day: '2026-01-31', requests: 4 },
      { keyId: 'second', day: '2026-01-31', requests: 1 },
    ]);
    expect(await readUsage(db, { fromMs: now })).toHaveLength(1);
  });

  test('behavior: nothing is lost or thrown while the database does not answer', async () => {
    await db.deleteFrom('key_usage').execute();
    const away = await createTestDatabase(); // no tables yet
    const other = createDatabase({ url: away.url, poolSize: 1, statementTimeoutMs: 5_000 });
    const usage = createUsageRecorder({ db: other, clock: { now: () => 0 }, logger: silentLogger });
    usage.record('key');
    await usage.flush();
    usage.record('key');
    await migrateDatabase(away.url);
    await usage.close();
    expect(await readUsage(other, { fromMs: 0 })).toEqual([{ keyId: 'key', day: '1970-01-01', requests: 2 }]);
    await other.destroy();
    await away.drop();
  });
});
