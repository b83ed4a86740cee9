import type { ExecutionResult, GraphQLError } from 'graphql';
import { isAsyncIterable, mapAsyncIterator, type Plugin } from 'graphql-yoga';
import { graphqlRefusal } from '../../http/graphql-refusal.ts';
import { budgetExtension, budgetHeaders, type RequestContext } from '../../limits/request-context.ts';
import { WINDOW_SEC } from '../../limits/tier-limits.ts';
import { BadRequestError, UnauthorizedError } from '../../shared/errors.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';
import type { ServerContext } from '../context.ts';

export interface GatewayOptions {
  /** Convert an error for clients; a converted one stays the same. */
  readonly formatError: (error: unknown, correlationId: string) => GraphQLError;
}

interface AnswerParts {
  readonly errors?: readonly GraphQLError[] | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
}

/** Yoga's hooks around a request lack the type of the server context. */
function known(serverContext: object): ServerContext {
  return serverContext as ServerContext;
}

const ANSWER_TYPES = ['application/json', 'application/graphql-response+json', 'text/event-stream'];

/** Pass on the parameters that the gateway has read, and add the budget and the caching headers to every answer. */
export function useGateway({ formatError }: GatewayOptions): Plugin<ServerContext> {
  /** A refused key gets no other information, neither data nor budget, wherever it is refused. */
  const settle = (result: AnswerParts, { info }: ServerContext): AnswerParts => {
    const formatted = presentable(result, info);
    if (formatted.errors?.some(({ extensions }) => extensions.code === 'unauthorized')) {
      info.rateLimit = null;
      return { errors: [formatError(new UnauthorizedError(), info.correlationId)] };
    }
    const { extensions } = budgetExtension(info, WINDOW_SEC);
    return extensions === undefined
      ? formatted
      : { ...formatted, extensions: { ...formatted.extensions, ...extensions } };
  };
  const presentable = <T extends AnswerParts>(result: T, { correlationId }: RequestContext): T =>
    result.errors === undefined
      ? result
      : { ...result, errors: result.errors.map((error) => formatError(error, correlationId)) };

  return {
    onRequestParse({ serverContext, setRequestParser }) {
      const { params } = known(serverContext);
      if (params !== undefined) setRequestParser(() => params as never);
    },
    onSubscribe({ args }) {
      const { info } = args.contextValue as unknown as ServerContext;
      return {
        // Events of a stream do not pass the hook below.
        onSubscribeResult({ result, setResult }) {
          if (!isAsyncIterable(result)) return;
          const broken = (error: Error): ExecutionResult => {
            if (error.name === 'AbortError') throw error;
            return { errors: [formatError(error, info.correlationId)] };
          };
          setResult(mapAsyncIterator(result, (event: ExecutionResult) => presentable(event, info), broken));
        },
      };
    },
    async onResultProcess({ result, setResult, serverContext }) {
      await Promise.all(known(serverContext).info.refunds);
      if (Array.isArray(result))
        setResult(result.map((one) => settle(one as AnswerParts, known(serverContext))) as never);
      else if (!(Symbol.asyncIterator in result))
        setResult(settle(result as AnswerParts, known(serverContext)) as never);
    },
    onResponse({ response, serverContext, setResponse, fetchAPI }) {
      const { info } = known(serverContext);
      let answer = response;
      if (response.status === 406) {
        const error = new BadRequestError(
          'Accept application/json or application/graphql-response+json, and text/event-stream for a subscription.',
          { field: 'headers.accept', limit: { oneOf: ANSWER_TYPES } },
          { status: 406 },
        );
        const { body, status, headers } = graphqlRefusal(formatError(error, info.correlationId), undefined, info);
        answer = new fetchAPI.Response(body as string, { status, headers: { ...headers } });
        setResponse(answer);
      }
      const isRefused = answer.status === 401;
      const extra = withoutUndefined({
        ...(isRefused ? {} : budgetHeaders(info, WINDOW_SEC)),
        'cache-control': 'no-store',
        'www-authenticate': isRefused ? 'Bearer' : undefined,
      });
      for (const [name, value] of Object.entries(extra)) answer.headers.set(name, value);
    },
  };
}
