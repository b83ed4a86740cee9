import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { type Clock, systemClock } from '../shared/clock.ts';
import { type Logger, silentLogger } from '../shared/logger.ts';
import { clientsWith, cut } from './connection/clients.ts';
import { guardPool } from './connection/pool.ts';
import { type DatabaseProblem, problemOf } from './connection/problems.ts';
import { createRest } from './connection/rest.ts';
import { createDatabaseWatch, type DatabaseWatch } from './connection/watch.ts';
import type { Tables } from './schema.ts';

/** The typed database. `destroy()` waits for running statements and closes the pool. */
export type Database = Kysely<Tables>;

export interface DatabaseConfig {
  /** `postgres://` URL. */
  readonly url: string;
  readonly poolSize: number;
  /** Timeout of one statement, milliseconds; the server cancels it. */
  readonly statementTimeoutMs: number;
  /** Timeout for a connection, from the pool or to the server, milliseconds. Default 3 s. */
  readonly connectTimeoutMs?: number | undefined;
}

export interface DatabaseDeps {
  readonly logger?: Logger | undefined;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Keeps the state of the database; absent: one of its own. */
  readonly watch?: DatabaseWatch | undefined;
  /** Why no statement may be sent, such as a schema that was not checked; `null` = they may. */
  readonly withheld?: (() => Promise<DatabaseProblem | null>) | undefined;
  /** Called after every statement, for metrics. */
  readonly onQuery?:
    | ((query: { readonly sql: string; readonly durationMs: number; readonly failed: boolean }) => void)
    | undefined;
}

const CONNECT_TIMEOUT_MS = 3_000;
/** The client's timeout exceeds the server's by this time, in case the network fails. */
const NETWORK_GRACE_MS = 1_000;
const IDLE_TIMEOUT_MS = 30_000;
/** Timeout of the probe of a silent database; its callers wait as long. */
const PROBE_TIMEOUT_MS = 1_000;

/**
 * Create the database client. It connects with the first statement. Every statement may throw `UpstreamUnavailableError` of
 * provider `database`. It keeps no session state, so that a pooler in transaction mode may be in front.
 */
export function createDatabase(config: DatabaseConfig, deps: DatabaseDeps = {}): Database {
  const { clock = systemClock, onQuery } = deps;
  const watch = deps.watch ?? createDatabaseWatch(deps.logger ?? silentLogger, clock);
  const { statementTimeoutMs } = config;
  const limits = `set local statement_timeout = ${statementTimeoutMs}; set local idle_in_transaction_session_timeout = ${statementTimeoutMs}`;
  /** Whether a pooler refused the limits as parameters of a connection. */
  let plain = false;
  /** Connections on which the limits are not in force, because a pooler dropped them. */
  const unlimited = new WeakSet<object>();
  const options = {
    connectionString: verifyingUrl(config.url),
    keepAlive: true,
    application_name: 'spiral-gateway',
  };
  const Client = clientsWith(() => plain);
  const pool = new pg.Pool({
    ...options,
    Client: Client as unknown as new () => pg.ClientBase,
    max: config.poolSize,
    connectionTimeoutMillis: config.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + NETWORK_GRACE_MS,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    onConnect: async (client: pg.ClientBase) => {
      const { rows } = await client.query(`select setting from pg_settings where name = 'statement_timeout'`);
      if (!(Number(rows[0]?.setting) > 0)) unlimited.add(client);
    },
  });
  const probe = async (): Promise<boolean> => {
    const client = new Client({
      ...options,
      connectionTimeoutMillis: PROBE_TIMEOUT_MS,
      query_timeout: PROBE_TIMEOUT_MS,
    });
    try {
      await client.connect();
      await client.query('select 1');
      return true;
    } catch (error) {
      // Any other failure comes at once, and callers may see it.
      return problemOf(error, true) !== 'silent';
    } finally {
      cut(client);
    }
  };
  const guarded = guardPool(pool, {
    watch,
    withheld: deps.withheld,
    rest: createRest(clock, probe),
    leaveOutLimits: () => {
      plain = true;
    },
    limitsOf: (client) => (unlimited.has(client) ? limits : null),
  });
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: guarded }),
    log: onQuery
      ? ({ query, queryDurationMillis: durationMs, level }) =>
          onQuery({ sql: query.sql, durationMs, failed: level === 'error' })
      : [],
  });
}

/** The driver treats these modes as `verify-full`, and logs this in lines that are not JSON. */
function verifyingUrl(url: string): string {
  return url.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}
