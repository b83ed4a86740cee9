import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOverlay } from '../../devnet/overlay.ts';
import { type EmbeddedPostgres, startPostgres } from '../../devnet/postgres.ts';
import { seededRegistrations } from '../../devnet/seed/registrations.ts';
import { seedRegistrations } from '../../devnet/seed-database.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import type { Database } from '../../src/database/client.ts';
import { grantsFor } from '../../src/database/grants.ts';
import { migrateDatabase, requireMigrated } from '../../src/database/migrate.ts';
import { createKeyService } from '../../src/keys/verify-key.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { createTestDatabase } from '../support/process/postgres.ts';
import { useOwnServers } from './own-servers.ts';

/* A server of Debian with its tools. */

const { clock, open, opened, at } = useOwnServers();

/** The newest server of Debian with the tools of the same version. */
function debianPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions
    .map((version) => join(root, version, 'bin'))
    .find((path) => ['postgres', 'initdb', 'pg_dump', 'pg_restore'].every((name) => existsSync(join(path, name))));
}
const programs = debianPrograms();

describe.runIf(programs !== undefined)('backup and restore (needs the Debian package postgresql)', () => {
  let server: EmbeddedPostgres;
  beforeAll(async () => {
    server = await startPostgres({ dataDir: at('debian'), programs: programs ?? '', logger: silentLogger });
  });
  afterAll(() => server?.stop());
  const tool = (name: string, ...argv: string[]) => execFileSync(join(programs ?? '', name), argv, { stdio: 'pipe' });
  const keysOf = (db: Database) =>
    createKeyService({
      db,
      clock,
      timers: systemTimers,
      logger: silentLogger,
      graceMs: 0,
      pepper: 'a pepper of tests',
    });

  test('behavior: a dump restores every row, on the same server and on a newer one; keys, ids and rights work', async () => {
    const source = await server.createDatabase('source');
    await migrateDatabase(source);
    const db = open(source);
    await seedRegistrations(
      db,
      seededRegistrations(createCatalog(curatedChains, createOverlay(clock.nowMs)), clock.nowMs),
    );
    const issued = await keysOf(db).issue({ tier: 'partner', label: 'kept' });
    await sql`insert into rate_samples values (1, ${`0x${'a'.repeat(64)}`}, '2026-05-01', '2026-05-01 00:10', 0.045, 0.9, 10, 9, 1)`.execute(
      db,
    );
    const dump = at('spiral.dump');
    tool('pg_dump', '--format=custom', `--file=${dump}`, source);
    const content = await contentOf(db);
    expect(content.get('position_registrations')?.length).toBeGreaterThan(5);

    const newer = await createTestDatabase();
    try {
      for (const target of [await server.createDatabase('restored'), newer.url]) {
        tool('pg_restore', '--no-owner', '--no-privileges', '--exit-on-error', `--dbname=${target}`, dump);
        const restored = open(target);
        expect(await contentOf(restored)).toEqual(content);
        expect(await migrateDatabase(target)).toEqual([]);
        expect(await keysOf(restored).verify(`Bearer ${issued.text}`)).toMatchObject({
          label: 'kept',
          tier: 'partner',
        });
        const { rows } = await sql<{ isNew: boolean }>`
          insert into position_registrations (wallet, chain_id, market_id, position_index, is_open, deposited_usd, created_at, updated_at)
          values (${`0x${'9'.repeat(40)}`}, 1, ${`0x${'a'.repeat(64)}`}, 7, true, 1, now(), now())
          returning id > (select max(id) from position_registrations) as "isNew"`.execute(restored);
        expect(rows).toEqual([{ isNew: true }]);
        const role = `restored_${randomUUID().slice(0, 8)}`;
        await sql`create role ${sql.id(role)} login password 'secret'`.execute(restored);
        await sql.raw(grantsFor(role)).execute(restored);
        const asRole = Object.assign(new URL(target), { username: role, password: 'secret' }).href;
        await expect(requireMigrated(asRole)).resolves.toBeUndefined();
        await sql`drop owned by ${sql.id(role)}`.execute(restored);
        await sql`drop role ${sql.id(role)}`.execute(restored);
      }
    } finally {
      await Promise.all(opened.splice(0).map((one) => one.destroy()));
      await newer.drop();
    }
  });

  async function contentOf(db: Database): Promise<ReadonlyMap<string, readonly string[]>> {
    const tables = await db.introspection.getTables();
    const content = new Map<string, readonly string[]>();
    for (const { name } of tables) {
      const { rows } = await sql<{ row: string }>`
        select t::text as row from ${sql.table(name)} t order by 1`.execute(db);
      content.set(
        name,
        rows.map(({ row }) => row),
      );
    }
    return content;
  }
});
