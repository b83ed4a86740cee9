import type { GraphQLError } from 'graphql';
import { budgetExtension, budgetHeaders, type RequestContext } from '../limits/request-context.ts';
import { WINDOW_SEC } from '../limits/tier-limits.ts';
import type { RestResponse } from '../rest/types.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';

const RESPONSE_TYPE = 'application/graphql-response+json';

/** An executed operation, with its errors for clients. */
interface Executed {
  readonly errors?: readonly GraphQLError[] | undefined;
}

interface HttpExtension {
  readonly status?: number | undefined;
  /** The status is that of a request error, which the older media type answers with 200. */
  readonly spec?: boolean | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Write the answer of one operation, or of a batch: its operations have no status. */
export function graphqlAnswer(
  executed: Executed | readonly Executed[],
  contentType: string,
  requestContext: RequestContext,
): RestResponse {
  const isBatch = Array.isArray(executed);
  const https = isBatch ? [] : ((executed as Executed).errors ?? []).map(({ extensions }) => extensions.http);
  const isOlder = !contentType.startsWith(RESPONSE_TYPE);
  let status = 0;
  const own: Record<string, string> = {};
  for (const http of https as readonly (HttpExtension | undefined)[]) {
    for (const [name, value] of Object.entries(http?.headers ?? {})) own[name.toLowerCase()] = value;
    if (!(isOlder && http?.spec)) status = Math.max(status, http?.status ?? 0);
  }
  const isRefused = status === UNAUTHORIZED;
  return {
    status: status || 200,
    headers: withoutUndefined({
      'content-type': contentType,
      'cache-control': 'no-store',
      ...own,
      'www-authenticate': isRefused ? 'Bearer' : undefined,
    }),
    budget: isRefused ? undefined : budgetHeaders(requestContext, WINDOW_SEC),
    body: JSON.stringify(isBatch ? executed.map(written) : written(executed as Executed)),
  };
}

const UNAUTHORIZED = 401;

/** What the JSON of a result has. */
function written(result: Executed): object {
  return result.errors === undefined ? result : { ...result, errors: result.errors.map(writtenError) };
}

function writtenError(error: GraphQLError): object {
  const { http: _http, ...extensions } = error.extensions;
  return { ...error.toJSON(), extensions };
}

/** Render a refusal of a whole GraphQL request: a well-formed GraphQL answer with the error's own HTTP status. */
export function graphqlRefusal(
  error: GraphQLError,
  accept: string | undefined,
  requestContext: Pick<RequestContext, 'rateLimit'> | null,
): RestResponse {
  const { status, code, retryAfterSec } = error.extensions as {
    readonly status?: number | undefined;
    readonly code?: unknown;
    readonly retryAfterSec?: number | undefined;
  };
  const mediaType = accept?.includes(RESPONSE_TYPE) ? RESPONSE_TYPE : 'application/json';
  const budget = requestContext ? budgetHeaders(requestContext, WINDOW_SEC) : undefined;
  const budgetLeft = requestContext ? budgetExtension(requestContext, WINDOW_SEC) : undefined;
  return {
    status: status ?? 500,
    headers: withoutUndefined({
      'content-type': `${mediaType}; charset=utf-8`,
      'cache-control': 'no-store',
      'retry-after': retryAfterSec === undefined ? undefined : String(Math.ceil(retryAfterSec)),
      'www-authenticate': code === 'unauthorized' ? 'Bearer' : undefined,
      ...budget,
      allow: code === 'method_not_allowed' ? 'GET, POST' : undefined,
    }),
    body: JSON.stringify({ errors: [writtenError(error)], ...budgetLeft }),
  };
}
