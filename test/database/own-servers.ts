import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { createDatabase, type Database } from '../../src/database/client.ts';

/** For files that start their own servers of Postgres: a folder, and clients that are closed after each test. */
export function useOwnServers() {
  const clock = { nowMs: Date.UTC(2026, 5, 1), now: () => clock.nowMs };
  const opened: Database[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'spiral-gateway-servers-'));
  // The account of the servers reads it.
  execFileSync('chmod', ['755', folder]);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((db) => db.destroy()));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    clock,
    /** The clients that are closed after the test. */
    opened,
    open(url: string): Database {
      const db = createDatabase({ url, poolSize: 2, statementTimeoutMs: 5_000 }, { clock });
      opened.push(db);
      return db;
    },
    /** A path in the folder. */
    at: (name: string) => join(folder, name),
  };
}
