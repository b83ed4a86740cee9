import type { GraphQLError } from 'graphql';
import { budgetExtension, budgetHeaders, type RequestContext } from '../limits/request-context.ts';
import { WINDOW_SEC } from '../limits/tier-limits.ts';
import type { RestResponse } from '../rest/types.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';

const RESPONSE_TYPE = 'application/graphql-response+json';

/** Render a refusal of a whole GraphQL request: a well-formed GraphQL answer with the error's own HTTP status. */
export function graphqlRefusal(
  error: GraphQLError,
  accept: string | undefined,
  requestContext: Pick<RequestContext, 'rateLimit'> | null,
): RestResponse {
  const { http, ...extensions } = error.extensions;
  const { status, retryAfterSec } = extensions as { status?: number | undefined; retryAfterSec?: number | undefined };
  const mediaType = accept?.includes(RESPONSE_TYPE) ? RESPONSE_TYPE : 'application/json';
  const budget = requestContext ? budgetHeaders(requestContext, WINDOW_SEC) : undefined;
  const budgetLeft = requestContext ? budgetExtension(requestContext, WINDOW_SEC) : undefined;
  return {
    status: status ?? 500,
    headers: withoutUndefined({
      'content-type': `${mediaType}; charset=utf-8`,
      'cache-control': 'no-store',
      'retry-after': retryAfterSec === undefined ? undefined : String(Math.ceil(retryAfterSec)),
      'www-authenticate': extensions.code === 'unauthorized' ? 'Bearer' : undefined,
      ...budget,
      allow: extensions.code === 'method_not_allowed' ? 'GET, POST' : undefined,
    }),
    body: JSON.stringify({
      errors: [{ ...error.toJSON(), extensions }],
      ...budgetLeft,
    }),
  };
}
