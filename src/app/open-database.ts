import { DatabaseUnavailableError } from '../database/connection/errors.ts';
import { DATABASE_PROBLEMS, type DatabaseProblem } from '../database/connection/problems.ts';
import type { SchemaEntry } from '../database/connection/schema-entry.ts';
import { migrateDatabase, requireMigrated } from '../database/migrate.ts';
import { StartupError } from '../shared/errors.ts';
import { type Logger, silentLogger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';

/** The service cannot start; the message names the setting to check. */
export class StartError extends StartupError {
  override readonly name = 'StartError';
}

/** Postgres gives no usable answer. */
class DatabaseStartError extends StartError {
  readonly problem: DatabaseProblem;
  constructor(problem: DatabaseProblem, message: string, options: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

export interface OpenDatabaseDeps {
  readonly logger: Logger;
  readonly timers: Timers;
  /** How long to wait for a Postgres that starts at the same time, ms. */
  readonly waitMs: number;
  /** Whether pending migrations are applied; otherwise they end the start. */
  readonly migrate: boolean;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 2_000;
/** Problems that another attempt may not meet. The others need a change. */
const PASSING: ReadonlySet<DatabaseProblem> = new Set([
  'unreachable',
  'unknown_host',
  'going_up_or_down',
  'pooler_without_server',
  'corrupted',
  'silent',
  'slow_statement',
  'too_many_connections',
  'server_error',
]);

/**
 * Open the database for a service. While it is away the service starts without it: statements are withheld until it is back and
 * its schema is checked. A wrong password or schema ends the start; found later, it keeps the statements withheld.
 * @throws StartupError
 */
export async function openOrWithhold(
  url: string,
  deps: OpenDatabaseDeps,
  withhold: SchemaEntry['withhold'],
): Promise<void> {
  const { logger } = deps;
  try {
    await openDatabase(url, deps);
    logger.info({}, 'database ready');
  } catch (error) {
    if (!(error instanceof DatabaseStartError) || !PASSING.has(error.problem)) throw error;
    logger.warn({ problem: error.problem, reason: error.message }, 'starting without the database');
    let reported = error.message;
    const check = async (): Promise<DatabaseProblem | null> => {
      try {
        const applied = await openDatabase(url, { ...deps, logger: silentLogger, waitMs: 0 });
        logger.info({ applied }, 'database ready');
        return null;
      } catch (later) {
        const { message } = later as Error;
        const problem = later instanceof DatabaseStartError ? later.problem : 'other_schema';
        if (message !== reported && !PASSING.has(problem))
          logger.error({ problem, reason: message }, 'database withheld');
        reported = message;
        return problem;
      }
    };
    withhold(error.problem, check);
  }
}

/**
 * Migrate the database, or check that it is migrated. A Postgres that does not answer is retried for `waitMs`, because both may
 * be starting. Returns the names of the applied migrations.
 * @throws StartupError, a DatabaseStartError when it gives no usable answer
 */
export async function openDatabase(
  url: string,
  { logger, timers, waitMs, migrate }: OpenDatabaseDeps,
): Promise<readonly string[]> {
  let pauseMs = FIRST_PAUSE_MS;
  let waitedMs = 0;
  for (;;) {
    try {
      if (migrate) return await migrateDatabase(url, { logger });
      await requireMigrated(url, { logger });
      return [];
    } catch (cause) {
      if (!(cause instanceof DatabaseUnavailableError)) throw cause;
      const { problem } = cause;
      if (!PASSING.has(problem) || waitedMs >= waitMs) {
        const after = waitedMs === 0 ? '' : `, after ${waitedMs / 1_000} s of retries`;
        throw new DatabaseStartError(
          problem,
          `DATABASE_URL: Postgres at ${placeOf(url)} gives no usable answer (${problem}${after}). ${DATABASE_PROBLEMS[problem].todo}`,
          { cause },
        );
      }
      if (waitedMs === 0) logger.warn({ problem, waitMs }, 'waiting for the database');
      await new Promise<void>((resolve) => timers.setTimeout(resolve, pauseMs));
      waitedMs += pauseMs;
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }
}

/** Host, port and database, without user and password. */
function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port === '' ? '5432' : port}${pathname}`;
}
