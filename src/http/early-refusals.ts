import type { IncomingMessage } from 'node:http';
import { clientLimited } from '../limits/budgets.ts';
import { WINDOW_SEC } from '../limits/limits.ts';
import { budgetHeaders, type RateLimitStatus } from '../limits/request-context.ts';
import { errorResponse } from '../rest/envelope.ts';
import type { RestResponse } from '../rest/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { RequestInfo } from '../shared/request-info.ts';
import { toGraphQLError } from './errors.ts';
import { graphqlRefusal } from './graphql-refusal.ts';

export interface EarlyRefusalDeps {
  /** The status of a caller without points left; `undefined` = it may have some, or has no budget. */
  readonly exhausted: (clientIp: string, authorization: string | undefined) => RateLimitStatus | undefined;
  /** Paths that are not charged to the address. */
  readonly uncharged: readonly string[];
  /** Path with refusals in the form of GraphQL. */
  readonly graphqlPath: string;
  /** Paths beside GraphQL and the rows that charge valid keys. */
  readonly keyedPaths: readonly string[];
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

  const prepare = (rateLimit: RateLimitStatus, accept: string | undefined, isGraphQL: boolean): Prepared => {
    const error = clientLimited(rateLimit);
    const { code, message, status, details, retryAfterSec = rateLimit.resetSec } = error;
    const { headers, body } = isGraphQL
      ? graphqlRefusal(toGraphQLError(error, ID, logger), accept, { rateLimit })
      : errorResponse({ code, message, status, details, retryAfterSec }, ID);
    const [before = '', after = ''] = String(body).split(ID);
    const own = Object.entries(headers).filter(([name]) => !name.startsWith('ratelimit'));
    return { error, status, headers: Object.fromEntries(own), parts: [before, after] };
  };
  const preparedOf = (rateLimit: RateLimitStatus, accept: string | undefined, isGraphQL: boolean): Prepared => {
    const second = Math.floor(clock.now() / 1_000);
    // The text contains the remaining seconds of a window.
    if (second !== preparedSec) prepared.clear();
    preparedSec = second;
    const form = isGraphQL ? (accept?.includes('graphql-response+json') ? 'own' : 'json') : 'rest';
    const key = `${form} ${rateLimit.policy} ${rateLimit.limit} ${rateLimit.resetSec}`;
    const known = prepared.get(key) ?? prepare(rateLimit, accept, isGraphQL);
    prepared.set(key, known);
    return known;
  };

  return (req: IncomingMessage, info: RequestInfo, path: string): RestResponse | undefined => {
    if (req.method === 'OPTIONS' || req.headers.host === undefined || uncharged.includes(path)) return undefined;
    const keyed = path === graphqlPath || path.startsWith(ROWS) || keyedPaths.includes(path);
    const rateLimit = exhausted(info.clientIp, keyed ? info.authorization : undefined);
    if (rateLimit === undefined) return undefined;
    const { error, status, headers, parts } = preparedOf(rateLimit, req.headers.accept, path === graphqlPath);
    onError?.(error);
    const body = parts[0] + info.correlationId + parts[1];
    return { status, headers: { ...headers, ...budgetHeaders({ rateLimit }, WINDOW_SEC) }, body };
  };
}
