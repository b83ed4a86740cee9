import type { GraphQLError } from 'graphql';
import { AppError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { errorResponse, type Failure, isErrorCode } from './envelope.ts';
import { parseInput, parseJsonBody, parseQuery } from './input.ts';
import { createRouter, MethodNotAllowedError } from './router.ts';
import type { AnyRoute, ExecutePort, RestRequest, RestResponse } from './types.ts';

export interface RestDeps {
  readonly routes: readonly AnyRoute[];
  readonly execute: ExecutePort;
  readonly logger: Logger;
}

export interface RestAdapter {
  answer(request: RestRequest): Promise<RestResponse>;
  /** The path template that a path belongs to, for metrics and logs: bounded however many paths are tried. */
  routeOf(path: string): string | undefined;
}

/**
 * Answer /v1 requests: find the row, parse the input, run its persisted operation and project the data. Every failure
 * becomes the one error envelope; only what is not an expected error is logged here.
 */
export function createRestAdapter({ routes, execute, logger }: RestDeps): RestAdapter {
  const router = createRouter(routes);
  const answer = async (request: RestRequest): Promise<RestResponse> => {
    try {
      const { route, pathParams } = router.match(request.method, request.path);
      const params: unknown = parseInput(route.params, { ...parseQuery(request.query), ...pathParams }, 'query');
      const body: unknown =
        route.body === undefined ? undefined : parseInput(route.body, await parseJsonBody(request), 'body');
      const { result, headers } = await execute({
        operation: route.operation,
        variables: route.variables({ params, body }),
        request,
        route: route.path,
      });
      const [error] = result.errors ?? [];
      if (error) return withHeaders(errorResponse(fromGraphQLError(error), request.correlationId), headers);
      return {
        status: 200,
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'cache-control': route.surface === 'Public' ? 'public, max-age=5' : 'no-store',
          ...headers,
        },
        body: JSON.stringify(route.project(result.data, { params, body })),
      };
    } catch (error) {
      return errorResponse(toFailure(error, request, logger), request.correlationId);
    }
  };
  return { answer, routeOf: router.templateOf };
}

function withHeaders(response: RestResponse, headers: Readonly<Record<string, string>>): RestResponse {
  return { ...response, headers: { ...headers, ...response.headers } };
}

/** The pipeline has already masked and classified it: `extensions` carries code, status, details. */
function fromGraphQLError(error: GraphQLError): Failure {
  const { code, status, details, retryAfterSec } = error.extensions;
  if (!isErrorCode(code)) return INTERNAL;
  return {
    code,
    message: error.message,
    status: typeof status === 'number' ? status : 500,
    ...(details === undefined ? {} : { details }),
    ...(typeof retryAfterSec === 'number' ? { retryAfterSec } : {}),
  };
}

const INTERNAL: Failure = {
  code: 'internal',
  status: 500,
  message: 'Something went wrong on our side. Quote the correlationId when you report it.',
};

function toFailure(error: unknown, request: RestRequest, logger: Logger): Failure {
  if (!(error instanceof AppError)) {
    logger.error({ err: error, correlationId: request.correlationId }, 'request failed unexpectedly');
    return INTERNAL;
  }
  return {
    code: error.code,
    message: error.message,
    status: error.status,
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.retryAfterSec === undefined ? {} : { retryAfterSec: error.retryAfterSec }),
    ...(error instanceof MethodNotAllowedError && error.details ? { allow: error.details.allow } : {}),
  };
}
