import type { GraphQLError } from 'graphql';
import { WINDOW_SEC } from '../limits/limits.ts';
import { budgetExtension, budgetHeaders, type RequestContext } from '../limits/request-context.ts';
import type { RestResponse } from '../rest/types.ts';

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
  return {
    status: status ?? 500,
    headers: {
      'content-type': `${mediaType}; charset=utf-8`,
      'cache-control': 'no-store',
      ...(retryAfterSec === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSec)) }),
      ...(extensions.code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}),
      ...(requestContext && budgetHeaders(requestContext, WINDOW_SEC)),
      ...(extensions.code === 'method_not_allowed' ? { allow: 'GET, POST' } : {}),
    },
    body: JSON.stringify({
      errors: [{ ...error.toJSON(), extensions }],
      ...(requestContext && budgetExtension(requestContext, WINDOW_SEC)),
    }),
  };
}
