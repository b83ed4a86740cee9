import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { type Logger, silentLogger } from '../shared/logger.ts';
import { guardPool } from './pool.ts';
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
  /** Called after every statement, for metrics. */
  readonly onQuery?:
    | ((query: { readonly sql: string; readonly durationMs: number; readonly failed: boolean }) => void)
    | undefined;
}

const CONNECT_TIMEOUT_MS = 3_000;
/** The client's timeout exceeds the server's by this time, in case the network fails. */
const NETWORK_GRACE_MS = 1_000;
const IDLE_TIMEOUT_MS = 30_000;

/**
 * Create the database client. It connects with the first statement. Every statement may throw `UpstreamUnavailableError` of
 * provider `database`.
 */
export function createDatabase(config: DatabaseConfig, deps: DatabaseDeps = {}): Database {
  const pool = new pg.Pool({
    connectionString: config.url,
    max: config.poolSize,
    connectionTimeoutMillis: config.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: config.statementTimeoutMs,
    query_timeout: config.statementTimeoutMs + NETWORK_GRACE_MS,
    idle_in_transaction_session_timeout: config.statementTimeoutMs,
    keepAlive: true,
    application_name: 'spiral-gateway',
  });
  const { onQuery } = deps;
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: guardPool(pool, deps.logger ?? silentLogger) }),
    log: onQuery
      ? ({ query, queryDurationMillis: durationMs, level }) =>
          onQuery({ sql: query.sql, durationMs, failed: level === 'error' })
      : [],
  });
}
