import type { Statement, Told } from './budget.ts';

/** Unix seconds are above the first number, unix milliseconds above the second, seconds from now below both. */
const UNIX_SEC_ABOVE = 1_000_000_000;
const UNIX_MS_ABOVE = 100_000_000_000;
/** A later reset is not waited for in full: one request after this time shows whether it is true. */
const MAX_RESET_SEC = 300;
const NUMBER = /^\d{1,13}(\.\d+)?$/;

/**
 * Read what the headers of an answer say about the budget of requests: `x-ratelimit-limit`, `-remaining` and the reset in seconds
 * from now or as unix time; the same of a week; and the units that the request has cost. `undefined` = nothing.
 */
export function readTold(headers: Headers, nowMs: number): Told | undefined {
  const spent = numberOf(headers, 'x-computing-unit');
  const windows = [
    statementOf(headers, 'x-ratelimit', nowMs),
    { ...statementOf(headers, 'x-ratelimit-weekly', nowMs), window: 'week' as const },
  ].filter(({ limit, remaining }) => limit !== undefined || remaining !== undefined);
  return spent === undefined && windows.length === 0 ? undefined : { spent, windows };
}

function statementOf(headers: Headers, prefix: string, nowMs: number): Statement {
  // Some write `30, 10`: a number in so many seconds.
  const [limit, sec] = (headers.get(`${prefix}-limit`) ?? '').split(',').map((part) => part.trim());
  const window = sec === '10' ? '10s' : sec === '60' ? 'minute' : undefined;
  return {
    window,
    limit: limit !== undefined && NUMBER.test(limit) && Number(limit) > 0 ? Number(limit) : undefined,
    remaining: numberOf(headers, `${prefix}-remaining`),
    resetMs: resetMsOf(headers, prefix, nowMs),
  };
}

function numberOf(headers: Headers, name: string): number | undefined {
  const text = headers.get(name)?.trim() ?? '';
  return NUMBER.test(text) ? Number(text) : undefined;
}

function resetMsOf(headers: Headers, prefix: string, nowMs: number): number | undefined {
  const stated = numberOf(headers, `${prefix}-reset-after`) ?? numberOf(headers, `${prefix}-reset`);
  if (stated === undefined) return undefined;
  const sec = stated > UNIX_MS_ABOVE ? stated / 1_000 : stated;
  const fromNow = sec > UNIX_SEC_ABOVE ? sec - nowMs / 1_000 : sec;
  return Math.max(0, Math.ceil(fromNow) * 1_000);
}

/** Seconds until a request is answered again, if nothing is left. */
export function resetSecOf(told: Told | undefined): number | undefined {
  const used = told?.windows.flatMap(({ remaining, resetMs }) =>
    remaining === 0 && resetMs !== undefined ? [resetMs / 1_000] : [],
  );
  return used === undefined || used.length === 0 ? undefined : Math.min(MAX_RESET_SEC, Math.max(...used));
}
