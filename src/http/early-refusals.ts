import type { IncomingMessage } from 'node:http';
import { clientLimited } from '../limits/budgets.ts';
import { budgetHeaders, type RateLimitStatus } from '../limits/request-context.ts';
import { WINDOW_SEC } from '../limits/tier-limits.ts';
import { errorResponse } from '../rest/envelope.ts';
import type { RestResponse } from '../rest/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { AppError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { RequestInfo } from '../shared/request-info.ts';
import { toGraphQLError } from './errors.ts';
import { graphqlRefusal } from './graphql-refusal.ts';

/** Makes a refusal that contains the correlation id once. */
export type RefusalForm = (error: AppError, correlationId: string) => Pick<RestResponse, 'headers' | 'body'>;

export interface EarlyRefusalDeps {
  /** The status of a caller without points left; `undefined` = it may have some, or has no budget. */
  readonly exhausted: (clientIp: string, authorization: string | undefined) => RateLimitStatus | undefined;
  /** Paths that are not charged to the address. */
  readonly uncharged: readonly string[];
  /** Path with refusals in the form of GraphQL. */
  readonly graphqlPath: string;
  /** Paths beside GraphQL and the rows that charge valid keys, with the form of their refusals. */
  readonly keyedPaths: Readonly<Record<string, RefusalForm>>;
  /** Called on every refusal, for metrics. */
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The parts of a refusal that do not depend on the request. */
interface Prepared {
  readonly error: unknown;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The text before and after the correlation id. */
  readonly parts: readonly [before: string, after: string];
}

/** REST rows, GraphQL and tools charge valid keys. Other paths have the same answer for every caller, and are charged to the address. */
const ROWS = '/v1/';
/** Placeholder of the correlation id in a prepared text. */
const ID = 'ID'.repeat(16);

/**
 * Create the refusal of clients whose budget is used up. It has to be cheap, because a flood consists of it: the body is not
 * read, no error is thrown or logged, and the text is made once a second. Returns `undefined` for other clients.
 */
export function createEarlyRefusals(deps: EarlyRefusalDeps) {
  const { exhausted, uncharged, graphqlPath, keyedPaths, onError, clock, logger } = deps;
  const prepared = new Map<string, Prepared>();
  let preparedSec = 0;

  const prepare = (rateLimit: RateLimitStatus, accept: string | undefined, path: string): Prepared => {
    const error = clientLimited(rateLimit);
    const { code, message, status, details, retryAfterSec = rateLimit.resetSec } = error;
    const own = Object.hasOwn(keyedPaths, path) ? keyedPaths[path] : undefined;
    const { headers, body } =
      path === graphqlPath
        ? graphqlRefusal(toGraphQLError(error, ID, logger), accept, { rateLimit })
        : (own?.(error, ID) ?? errorResponse({ code, message, status, details, retryAfterSec }, ID));
    const [before = '', after = ''] = String(body).split(ID);
    const kept = Object.entries(headers).filter(([name]) => !name.startsWith('ratelimit'));
    const waits = { 'retry-after': String(retryAfterSec) };
    return { error, status, headers: { ...waits, ...Object.fromEntries(kept) }, parts: [before, after] };
  };
  const preparedOf = (rateLimit: RateLimitStatus, accept: string | undefined, path: string): Prepared => {
    const second = Math.floor(clock.now() / 1_000);
    // The text contains the remaining seconds of a window.
    if (second !== preparedSec) prepared.clear();
    preparedSec = second;
    const isGraphQL = path === graphqlPath;
    const form = isGraphQL
      ? accept?.includes('graphql-response+json')
        ? 'own'
        : 'json'
      : Object.hasOwn(keyedPaths, path)
        ? path
        : 'rest';
    const key = `${form} ${rateLimit.policy} ${rateLimit.limit} ${rateLimit.resetSec}`;
    const known = prepared.get(key) ?? prepare(rateLimit, accept, path);
    prepared.set(key, known);
    return known;
  };

  return (req: IncomingMessage, info: RequestInfo, path: string): RestResponse | undefined => {
    if (
      req.method === 'OPTIONS' ||
      req.headers.host === undefined ||
      uncharged.includes(path.endsWith('/') ? path.slice(0, -1) : path)
    )
      return undefined;
    const keyed = path === graphqlPath || path.startsWith(ROWS) || Object.hasOwn(keyedPaths, path);
    const rateLimit = exhausted(info.clientIp, keyed ? info.authorization : undefined);
    if (rateLimit === undefined) return undefined;
    const { error, status, headers, parts } = preparedOf(rateLimit, req.headers.accept, path);
    onError?.(error);
    const body = parts[0] + info.correlationId + parts[1];
    return { status, headers: { ...headers, ...budgetHeaders({ rateLimit }, WINDOW_SEC) }, body };
  };
}
