import type pg from 'pg';
import { migrations } from '../../src/database/migrations/index.ts';
import { TABLE_RIGHTS } from '../../src/database/schema.ts';
import { type SchemaState, schemaStateOf } from '../../src/database/schema-state.ts';
import { clockSampleOf } from '../core/clock-samples.ts';
import type { DoctorDeps } from '../core/deps.ts';
import { type Check, type Line, type LineMaker, linesOf } from '../core/types.ts';
import { close, connect, rows, textOf } from './postgres-connection.ts';
import { describePooler } from './postgres-pooler.ts';

const AREA = 'postgres';
const SUBJECT = 'DATABASE_URL';
const LIMIT_MS = 20_000;
/** The oldest major version that is still maintained. */
const OLDEST_MAJOR = 14;
const make = linesOf(AREA, SUBJECT);

/** Check the database with statements that only read. */
export function checkPostgres({ env, clock, clocks }: DoctorDeps): Check {
  return {
    area: AREA,
    subject: SUBJECT,
    limitMs: LIMIT_MS,
    run: async () => {
      const url = env.DATABASE_URL;
      if (url === undefined) return [make.none('answers', 'not set')];
      const opened = await connect(url, make.failure);
      if (opened.client === undefined) return opened.lines;
      const { client } = opened;
      try {
        const sentMs = clock.now();
        const [reported] = await rows<{ at: string }>(
          client,
          'select extract(epoch from clock_timestamp())::text as at',
        );
        const period = { sentMs, answeredMs: clock.now() };
        const atMs = Number(reported?.at) * 1_000;
        if (Number.isFinite(atMs)) clocks.add(clockSampleOf('Postgres', { atMs, resolutionMs: 0 }, period));
        return [
          await versionOf(client, make),
          ...(await describePooler(client, () => connect(url, make.failure).then((second) => second.client))),
          ...(await describeMigrations(client)),
          ...(await describeRole(client, url, env.NODE_ENV === 'production')),
        ];
      } finally {
        await close(client);
      }
    },
  };
}

/** Whether the version is maintained. */
export async function versionOf(client: pg.Client, make: LineMaker): Promise<Line> {
  const [row] = await rows<{ version: string; number: string }>(
    client,
    `select current_setting('server_version') as version, current_setting('server_version_num') as number`,
  );
  const major = Math.floor(Number(row?.number) / 10_000);
  return major >= OLDEST_MAJOR
    ? make.ok('version', `Postgres ${row?.version}`)
    : make.warning(
        'version',
        `Postgres ${row?.version} is older than ${OLDEST_MAJOR}`,
        `Upgrade to ${OLDEST_MAJOR} or newer: older versions get no security fixes and are not tested.`,
      );
}

interface Applied {
  readonly name: string;
  readonly requires: string | null;
}

async function describeMigrations(client: pg.Client): Promise<readonly Line[]> {
  const [found] = await rows<{ exists: boolean }>(
    client,
    `select to_regclass('gateway_migrations') is not null as exists`,
  );
  const applied =
    found?.exists === true
      ? await rows<Applied>(
          client,
          `select name, to_jsonb(applied) ->> 'requires' as requires from gateway_migrations applied order by name`,
        ).catch((error: unknown) => error)
      : [];
  if (!Array.isArray(applied)) {
    return [
      make.failure(
        'migrations',
        `the list of applied migrations is not readable: ${textOf(applied)}`,
        'GRANT SELECT ON gateway_migrations to the role of DATABASE_URL.',
      ),
    ];
  }
  const known = migrations.map(({ name }) => name);
  let state: SchemaState;
  try {
    state = schemaStateOf(applied as readonly Applied[], migrations);
  } catch (error) {
    return [
      make.failure(
        'migrations',
        textOf(error),
        'Deploy the newer version: this version does not start with this database.',
      ),
    ];
  }
  const { newer, pending } = state;
  if (pending.length === 0) {
    const beside = newer.length === 0 ? '' : `, and ${newer.join(', ')} of a newer version, which this one runs beside`;
    return [make.ok('migrations', `all ${known.length} migrations are applied${beside}`)];
  }
  const [may] = await rows<{ create: boolean }>(
    client,
    `select has_schema_privilege(current_schema(), 'CREATE') as create`,
  );
  return may?.create === true
    ? [
        make.warning(
          'migrations',
          `${pending.length} of ${known.length} migrations are not applied: ${pending.join(', ')}`,
          'None for a new database or an upgrade with MIGRATE_ON_START=true: the service applies them when it starts. Otherwise run npm run migrate.',
        ),
      ]
    : [
        make.failure(
          'migrations',
          `${pending.length} of ${known.length} migrations are not applied, and the role may not create tables`,
          'Run npm run migrate with a role that may create tables.',
        ),
      ];
}

async function describeRole(client: pg.Client, url: string, isProduction: boolean): Promise<readonly Line[]> {
  const [role] = await rows<{ read_only: string; recovery: boolean }>(
    client,
    `select current_setting('transaction_read_only') as read_only, pg_is_in_recovery() as recovery`,
  );
  const lines: Line[] = [];
  if (role?.recovery === true || role?.read_only === 'on') {
    lines.push(
      make.failure(
        'writable',
        role.recovery ? 'this is a standby, which accepts no writes' : 'the role or the database is read-only',
        'Point DATABASE_URL at the primary, and see default_transaction_read_only of the role.',
      ),
    );
  } else lines.push(make.ok('writable', 'takes writes'));
  return [...lines, ...(await describeSafety(client, { url, isProduction }, make)), ...(await describeRights(client))];
}

/** Whether the role is no superuser, and the connection encrypted. */
export async function describeSafety(
  client: pg.Client,
  { url, isProduction }: { readonly url: string; readonly isProduction: boolean },
  make: LineMaker,
): Promise<readonly Line[]> {
  const [role] = await rows<{ name: string; super: boolean; encrypted: boolean }>(
    client,
    `select current_user::text as name, rolsuper as super,
       coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as encrypted
     from pg_roles where rolname = current_user`,
  );
  const lines: Line[] = [];
  const host = new URL(url).hostname;
  const isLocal = /^(localhost|127\.|\[?::1|$)/.test(host);
  if (role?.super === true && (isProduction || !isLocal)) {
    lines.push(
      make.warning(
        'role',
        `the role ${role.name} is a superuser`,
        'Create a role for the service that owns only its database.',
      ),
    );
  } else
    lines.push(make.ok('role', `role ${role?.name}${role?.super === true ? ', a superuser on this machine' : ''}`));
  if (!isLocal && role?.encrypted === false) {
    lines.push(
      make.warning(
        'encryption',
        'Postgres reports an unencrypted connection',
        'Add ?sslmode=verify-full to DATABASE_URL, unless a pooler encrypts it or the network is private.',
      ),
    );
  }
  return lines;
}

async function describeRights(client: pg.Client): Promise<readonly Line[]> {
  /** Tables by missing right. */
  const lacking = new Map<string, string[]>();
  for (const [table, rights] of Object.entries(TABLE_RIGHTS)) {
    const found = await rows<{ right: string }>(
      client,
      `select needed as right from unnest($2::text[]) needed
       where case when to_regclass($1) is null then false else not has_table_privilege($1, needed) end`,
      [table, rights],
    );
    if (found.length === 0) continue;
    const key = found.map(({ right }) => right).join(', ');
    lacking.set(key, [...(lacking.get(key) ?? []), table]);
  }
  if (lacking.size === 0) return [make.ok('rights', 'the role has all rights that the service needs on its tables')];
  const reported = [...lacking].map(([rights, tables]) => `${rights} on ${tables.join(', ')}`);
  return [
    make.failure(
      'rights',
      `the role lacks ${reported.join('; ')}`,
      'Run the statements of npm run migrate -- --grants ROLE, or let the role own the tables.',
    ),
  ];
}
