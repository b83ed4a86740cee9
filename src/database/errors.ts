import { UpstreamUnavailableError } from '../shared/errors.ts';

const PROVIDER = 'database';
const RETRY_AFTER_SEC = 2;

export type UnavailableReason = 'unreachable' | 'timeout' | 'rejected' | 'server_error';

/** SQLSTATE classes and codes (Postgres manual, appendix A) of an unavailable database, as opposed to an invalid statement. */
const SQLSTATE_REASONS: readonly (readonly [pattern: RegExp, reason: UnavailableReason])[] = [
  [/^(57014|55P03)$/, 'timeout'], // cancelled by statement_timeout; lock_timeout
  [/^(08|57P)/, 'unreachable'], // connection exception; the server is going down or coming up
  [/^(28|3D000)/, 'rejected'], // authorization; no such database
  [/^(53|58|XX)/, 'server_error'], // out of resources; system error; internal error
];

const SQLSTATE = /^[0-9A-Z]{5}$/;
const SOCKET_ERROR = /^E[A-Z]+$/;
const TIMEOUTS = /timeout/i;
const BROKEN = /Connection terminated|connection error|not queryable|pool after calling end/i;

/**
 * Return why the database is unavailable; `undefined` when the error concerns the statement, such as a violated constraint.
 * @param connecting - a failure to connect always means unavailable.
 */
export function unavailableReason(error: unknown, connecting = false): UnavailableReason | undefined {
  const code = codeOf(error);
  if (code !== undefined && SQLSTATE.test(code) && !SOCKET_ERROR.test(code)) {
    const reason = SQLSTATE_REASONS.find(([pattern]) => pattern.test(code))?.[1];
    return reason ?? (connecting ? 'server_error' : undefined);
  }
  if (code === 'ETIMEDOUT' || (error instanceof Error && TIMEOUTS.test(error.message))) return 'timeout';
  const isBroken = SOCKET_ERROR.test(code ?? '') || (error instanceof Error && BROKEN.test(error.message));
  return isBroken || connecting ? 'unreachable' : undefined;
}

/** Make the public error: provider and reason only. The cause names the driver's code, never host, user or SQL. */
export function unavailableError(reason: UnavailableReason, error: unknown): UpstreamUnavailableError {
  const cause = new Error(`database driver: ${codeOf(error) ?? reason}`);
  return new UpstreamUnavailableError(PROVIDER, reason, { retryAfterSec: RETRY_AFTER_SEC, cause });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
