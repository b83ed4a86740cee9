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
  /** The status of a caller's budget when nothing of it is left; `undefined` = something may be, or it has none. */
  readonly exhausted: (clientIp: string, authorization: string | undefined) => RateLimitStatus | undefined;
  /** Paths that are not charged to the address. */
  readonly uncharged: readonly string[];
  /** Where refusals have the form of GraphQL. */
  readonly graphqlPath: string;
  /** Told of every refusal, for metrics. */
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A refusal without what differs from request to request. */
interface Prepared {
  readonly error: unknown;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The text before and after the correlation id. */
  readonly parts: readonly [before: string, after: string];
}

/** Where keys have budgets of their own, beside GraphQL: what is the same for all is charged to the address. */
const ROWS = '/v1/';
/** Stands in a prepared text where the id of a request will. */
const ID = 'ID'.repeat(16);

/**
 * Build the refusal of addresses whose budget is used up. Who floods the service gets little else, so that it has to cost little:
 * nothing is read of the body, nothing is thrown or logged, and the text is made once a second.
 * The refusal is `undefined` for everybody else.
 */
export function createEarlyRefusals(deps: EarlyRefusalDeps) {
  const { exhausted, uncharged, graphqlPath, onError, clock, logger } = deps;
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
    // The refusals tell the seconds that are left of a window.
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
    const keyed = path === graphqlPath || path.startsWith(ROWS);
    const rateLimit = exhausted(info.clientIp, keyed ? info.authorization : undefined);
    if (rateLimit === undefined) return undefined;
    const { error, status, headers, parts } = preparedOf(rateLimit, req.headers.accept, path === graphqlPath);
    onError?.(error);
    const body = parts[0] + info.correlationId + parts[1];
    return { status, headers: { ...headers, ...budgetHeaders({ rateLimit }, WINDOW_SEC) }, body };
  };
}
