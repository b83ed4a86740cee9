import type { RecordedExchange } from './recorded-fetch.ts';
import type { Line, LineMaker } from './types.ts';

/** Remaining requests by an answer's headers. */
export interface Quota {
  readonly remaining?: number | undefined;
  readonly limit?: number | undefined;
  /** The provider refused with 429. */
  readonly isSpent: boolean;
  readonly retryAfter?: string | undefined;
}

const PREFIXES = ['x-ratelimit-', 'ratelimit-', 'x-rate-limit-', 'x-ratelimit-requests-'];
/** With a smaller share left, requests of the next minutes will be refused. */
const LOW_SHARE = 0.1;

/** Read the quota from the headers of all answers: the smallest remaining number counts. */
export function quotaOf(exchanges: readonly RecordedExchange[]): Quota {
  const answers = exchanges.flatMap(({ answer }) => answer ?? []);
  const readCounts = (suffix: string, headers: Headers) => {
    const value = PREFIXES.map((prefix) => headers.get(`${prefix}${suffix}`)).find((value) => value !== null);
    // Some providers write `100, 100;w=60`: the first number counts.
    const [, digits] = /^\s*(\d{1,15})/.exec(value ?? '') ?? [];
    return digits === undefined ? [] : [Number(digits)];
  };
  const remaining = answers.flatMap(({ headers }) => readCounts('remaining', headers));
  const limits = answers.flatMap(({ headers }) => readCounts('limit', headers));
  const refused = answers.find(({ status }) => status === 429);
  const retryAfter = refused?.headers.get('retry-after') ?? undefined;
  return {
    isSpent: refused !== undefined,
    remaining: remaining.length === 0 ? undefined : Math.min(...remaining),
    limit: limits.length === 0 ? undefined : Math.max(...limits),
    retryAfter,
  };
}

export function describeQuota(make: LineMaker, quota: Quota, what: string): Line {
  const { remaining, limit, isSpent, retryAfter } = quota;
  if (isSpent) {
    const wait = retryAfter === undefined ? '' : `, retry after ${retryAfter}`;
    return make.warning(
      'quota',
      `it refuses too many requests (429)${wait}`,
      `Wait, then run the check again; if it persists, ${what}.`,
    );
  }
  if (remaining === undefined) return make.ok('quota', 'no quota reported');
  const found = limit === undefined ? `${remaining} requests left` : `${remaining} of ${limit} requests left`;
  const isLow = remaining === 0 || (limit !== undefined && remaining < limit * LOW_SHARE);
  return isLow
    ? make.warning('quota', found, `Requests will be refused within minutes: ${what}.`)
    : make.ok('quota', found);
}
