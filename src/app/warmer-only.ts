import type { GraphQLEndpoint } from '../http/handler.ts';
import { errorResponse } from '../rest/envelope.ts';
import type { RestResponse } from '../rest/types.ts';

/** Answer an API request in a process with role warmer. */
export function notServedHere(correlationId: string): RestResponse {
  return errorResponse(
    {
      code: 'not_found',
      status: 404,
      message:
        'This process runs warmers only (ROLE=warmer) and serves /health and /ready. Send the request to an api process.',
    },
    correlationId,
  );
}

/** The GraphQL endpoint of a process with role warmer. */
export const closedGraphQL: GraphQLEndpoint = {
  answer: async ({ correlationId }) => notServedHere(correlationId),
  refuse: (_error, { correlationId }) => notServedHere(correlationId),
};
