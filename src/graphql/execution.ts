import type { ExecutionResult, GraphQLError } from 'graphql';
import type { YogaServerInstance } from 'graphql-yoga';
import { budgetExtension, type RequestContext } from '../limits/request-context.ts';
import { WINDOW_SEC } from '../limits/tier-limits.ts';
import type { AppContext } from '../resolvers/common/context.ts';
import { UnauthorizedError } from '../shared/errors.ts';
import type { ServerContext } from './context.ts';

type Parameters = Readonly<Record<string, unknown>>;
export type Result = ExecutionResult<unknown, Readonly<Record<string, unknown>>>;

/** Convert an error for clients; a converted one stays the same. */
export type FormatError = (error: unknown, correlationId: string) => GraphQLError;

/**
 * Execute one operation with all plugins, for rows and for GraphQL alike. Yoga's request and response objects take longer than a
 * page of strategies, so only streams and pages for browsers pass its listener.
 * @returns the result with its errors for clients; the context is completed by the plugins
 */
export type Execute = (params: Parameters, context: ServerContext) => Promise<Result>;

export function createExecute(yoga: YogaServerInstance<ServerContext, AppContext>, formatError: FormatError): Execute {
  return async (params, context) => {
    try {
      const executed = await yoga.getResultForParams({ params, request: undefined as never }, context);
      return presented(executed as Result, context.info, formatError);
    } catch (error) {
      return { errors: [formatError(error, context.info.correlationId)] };
    }
  };
}

/** A result with its errors for clients. */
export function presented<R extends Result>(result: R, { correlationId }: RequestContext, formatError: FormatError): R {
  if (result.errors === undefined) return result;
  return { ...result, errors: result.errors.map((error) => formatError(error, correlationId)) };
}

/**
 * A presented result with the budget of its client, as the answer to a GraphQL request has it. A refused key gets no other
 * information, neither data nor budget, wherever it is refused.
 */
export function settled(result: Result, info: RequestContext, formatError: FormatError): Result {
  if (result.errors?.some(({ extensions }) => extensions.code === 'unauthorized')) {
    info.rateLimit = null;
    return { errors: [formatError(new UnauthorizedError(), info.correlationId)] };
  }
  const { extensions } = budgetExtension(info, WINDOW_SEC);
  return extensions === undefined ? result : { ...result, extensions: { ...result.extensions, ...extensions } };
}

/** Execute the operation of a request, or all of a batch, and settle the results. */
export async function executed(
  context: ServerContext,
  execute: Execute,
  formatError: FormatError,
): Promise<Result | readonly Result[]> {
  const { params, info } = context;
  const operations: readonly Parameters[] = Array.isArray(params) ? params : [params];
  const results = await Promise.all(operations.map((one) => execute(one, { ...context })));
  await Promise.all(info.refunds);
  const [first = {}, ...others] = results.map((result) => settled(result, info, formatError));
  return Array.isArray(params) ? [first, ...others] : first;
}
