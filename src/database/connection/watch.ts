import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import { DatabaseUnavailableError } from './errors.ts';
import { DATABASE_PROBLEMS, type DatabaseProblem } from './problems.ts';

/** State of a database by its latest statements. */
export interface DatabaseStatus {
  /** `null` = the latest statement was answered. */
  readonly problem: DatabaseProblem | null;
  /** Time of the first failure since, ms. */
  readonly sinceMs: number | null;
}

export interface DatabaseWatch {
  /** Note a failure, and return its error. */
  failed(problem: DatabaseProblem, error?: unknown): DatabaseUnavailableError;
  /** Note an answered statement. */
  answered(isWrite: boolean): void;
  status(): DatabaseStatus;
}

/** A single slow statement, or a busy moment of our own pool, is not an outage. */
const PASSING: ReadonlySet<DatabaseProblem> = new Set(['slow_statement', 'pool_exhausted']);
/** A missing right counts as granted after this time without another, because other statements are answered meanwhile. */
const GRANTED_AFTER_MS = 60_000;

/** Keep the state of a database, and log the start and the end of each problem once. `of` names the setting of its URL. */
export function createDatabaseWatch(logger: Logger, clock: Clock, of = 'DATABASE_URL'): DatabaseWatch {
  let current: { readonly problem: DatabaseProblem; readonly sinceMs: number; latestMs: number } | null = null;
  const isOver = ({ problem, latestMs }: NonNullable<typeof current>, isWrite: boolean): boolean => {
    if (problem === 'read_only') return isWrite;
    return problem !== 'no_right' || Math.abs(clock.now() - latestMs) >= GRANTED_AFTER_MS;
  };
  return {
    failed(problem, error) {
      const nowMs = clock.now();
      if (!PASSING.has(problem)) {
        if (current === null || reasonOf(current.problem) !== reasonOf(problem)) {
          logger.warn({ of, problem }, 'database unavailable');
        }
        current = { problem, sinceMs: current?.sinceMs ?? nowMs, latestMs: nowMs };
      }
      return new DatabaseUnavailableError(problem, error);
    },
    answered(isWrite) {
      if (current === null || !isOver(current, isWrite)) return;
      logger.info({ of, problem: current.problem, forMs: clock.now() - current.sinceMs }, 'database recovered');
      current = null;
    },
    status: () => ({ problem: current?.problem ?? null, sinceMs: current?.sinceMs ?? null }),
  };
}

/** An outage passes through several problems of one kind, which is logged once. */
function reasonOf(problem: DatabaseProblem) {
  return DATABASE_PROBLEMS[problem].reason;
}
