import type pg from 'pg';
import { createDatabase } from '../../src/database/client.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import { lagOf } from '../../src/database/replica.ts';
import { clockSampleOf } from '../core/clock-samples.ts';
import type { DoctorDeps } from '../core/deps.ts';
import { type Check, type Line, linesOf } from '../core/types.ts';
import { describeSafety, versionOf } from './postgres.ts';
import { close, connect, rows } from './postgres-connection.ts';

const AREA = 'postgres';
const SUBJECT = 'DATABASE_READ_URL';
const LIMIT_MS = 20_000;
const STATEMENT_TIMEOUT_MS = 5_000;
/** Tables that are read on the replica. */
const TABLES = ['rate_samples', 'portfolio_samples'];
const make = linesOf(AREA, SUBJECT);

/** Check the read replica with statements that only read. It need not take writes, and the service works without it. */
export function checkReplica({ env, clock, clocks }: DoctorDeps): Check {
  return {
    area: AREA,
    subject: SUBJECT,
    limitMs: LIMIT_MS,
    run: async () => {
      const { DATABASE_READ_URL: url, DATABASE_URL: primary, DATABASE_READ_MAX_LAG_SEC: maxLagSec } = env;
      if (url === undefined) return [make.none('answers', 'not set: histories are read from DATABASE_URL')];
      const { client, lines } = await connect(url, make.warning);
      if (client === undefined) return lines;
      try {
        const sentMs = clock.now();
        const [told] = await rows<{ at: string }>(client, 'select extract(epoch from clock_timestamp())::text as at');
        const asked = { sentMs, answeredMs: clock.now() };
        const atMs = Number(told?.at) * 1_000;
        if (Number.isFinite(atMs)) clocks.add(clockSampleOf('Postgres replica', { atMs, resolutionMs: 0 }, asked));
        const tables = await describeTables(client);
        return [
          await versionOf(client, make),
          await describeSystem(client, primary),
          ...tables,
          ...(tables.every(({ status }) => status === 'ok') ? [await describeLag(url, clock.now(), maxLagSec)] : []),
          await describeSchema(client),
          ...(await describeSafety(client, { url, isProduction: env.NODE_ENV === 'production' }, make)),
        ];
      } finally {
        await close(client);
      }
    },
  };
}

/** The identity that a server shares with its standbys alone; `null` = not readable. */
async function systemOf(client: pg.Client) {
  const [row] = await rows<{ id: string | null; isStandby: boolean }>(
    client,
    `select (select system_identifier::text from pg_control_system()) as id, pg_is_in_recovery() as "isStandby"`,
  ).catch(() => []);
  return row;
}

async function describeSystem(client: pg.Client, primaryUrl: string | undefined): Promise<Line> {
  const ours = await systemOf(client);
  const primary = primaryUrl === undefined ? undefined : (await connect(primaryUrl, make.warning)).client;
  const theirs = primary && (await systemOf(primary));
  if (primary !== undefined) await close(primary);
  const kind = ours?.isStandby === true ? 'a standby' : 'a copy that takes writes';
  if (ours?.id == null || theirs?.id == null) {
    return make.warning(
      'system',
      `${kind}; it is unknown whether it belongs to DATABASE_URL`,
      'Check DATABASE_URL, and GRANT EXECUTE ON FUNCTION pg_control_system() to both roles.',
    );
  }
  if (ours.id === theirs.id) {
    return ours.isStandby
      ? make.ok('system', 'a standby of the server of DATABASE_URL')
      : make.warning(
          'system',
          'this is the server of DATABASE_URL itself, or a standby that was promoted',
          'Point DATABASE_READ_URL at a standby, or leave it out: it takes no load off the primary.',
        );
  }
  return ours.isStandby
    ? make.failure(
        'system',
        'a standby of another system than DATABASE_URL: its histories are those of other data',
        'Point DATABASE_READ_URL at a standby of DATABASE_URL.',
      )
    : make.warning(
        'system',
        `${kind}, of another system than DATABASE_URL`,
        'Check that it receives every change of DATABASE_URL: it counts as late once its newest sample is older than DATABASE_READ_MAX_LAG_SEC.',
      );
}

async function describeTables(client: pg.Client): Promise<readonly Line[]> {
  const found = await rows<{ name: string; exists: boolean; readable: boolean }>(
    client,
    `select name, to_regclass(name) is not null as exists,
       case when to_regclass(name) is null then false else has_table_privilege(name, 'SELECT') end as readable
     from unnest($1::text[]) name`,
    [TABLES],
  );
  const named = (kept: (table: { exists: boolean; readable: boolean }) => boolean) =>
    found.flatMap((table) => (kept(table) ? [table.name] : [])).join(', ');
  const missing = named(({ exists }) => !exists);
  const refused = named(({ exists, readable }) => exists && !readable);
  if (missing !== '') {
    return [
      make.warning(
        'rights',
        `the tables ${missing} are not there: the primary is read instead`,
        'Point DATABASE_READ_URL at a replica of the migrated database of the service.',
      ),
    ];
  }
  if (refused !== '') {
    return [
      make.warning(
        'rights',
        `the role lacks SELECT on ${refused}: the primary is read instead`,
        `GRANT SELECT ON ${refused} to the role, on the primary.`,
      ),
    ];
  }
  return [make.ok('rights', `the role may read ${TABLES.join(' and ')}`)];
}

async function describeLag(url: string, nowMs: number, maxLagSec: number): Promise<Line> {
  const db = createDatabase({ url, poolSize: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
  try {
    const lagSec = await lagOf(db, nowMs, maxLagSec);
    if (lagSec !== null && lagSec <= maxLagSec && lagSec > -maxLagSec) {
      return make.ok('lag', `at most ${Math.max(0, Math.round(lagSec))} s behind`);
    }
    return make.warning(
      'lag',
      lagSec === null
        ? 'how far it is behind is not known'
        : `up to ${Math.round(lagSec)} s behind, and DATABASE_READ_MAX_LAG_SEC is ${maxLagSec}: the primary is read instead`,
      'Look at its replication and its clock. A database that nothing is written to looks late, too: warmers write every two minutes.',
    );
  } finally {
    await db.destroy();
  }
}

async function describeSchema(client: pg.Client): Promise<Line> {
  const applied = await rows<{ name: string }>(client, 'select name from gateway_migrations order by name').catch(
    () => null,
  );
  if (applied === null) {
    return make.none('migrations', 'the role may not read gateway_migrations, which is not needed');
  }
  const names = new Set(applied.map(({ name }) => name));
  const lacking = migrations.filter(({ name }) => !names.has(name)).map(({ name }) => name);
  return lacking.length === 0
    ? make.ok('migrations', `all ${migrations.length} migrations are there`)
    : make.warning(
        'migrations',
        `${lacking.join(', ')} are not there`,
        'Run npm run migrate on the primary, and wait until the replica has followed.',
      );
}
