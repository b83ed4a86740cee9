import { UpstreamUnavailableError } from '../../shared/errors.ts';
import { DATABASE_PROBLEMS, type DatabaseProblem } from './problems.ts';

const PROVIDER = 'database';
const RETRY_AFTER_SEC = 2;

/**
 * The database is unavailable. Callers see provider and reason only; logs, health and doctor name the problem. The cause names
 * the driver's code, never host, user or SQL.
 */
export class DatabaseUnavailableError extends UpstreamUnavailableError {
  readonly problem: DatabaseProblem;
  constructor(problem: DatabaseProblem, error?: unknown) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : problem;
    super(PROVIDER, DATABASE_PROBLEMS[problem].reason, {
      retryAfterSec: RETRY_AFTER_SEC,
      cause: new Error(`database driver: ${code}`),
    });
    this.problem = problem;
  }
}
