import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { isErrorCode } from '../rest/envelope.ts';
import { AppError, UnauthorizedError } from '../shared/errors.ts';
import { HTML_SECURITY_HEADERS } from './headers.ts';
import { WINDOW_SEC } from './limits.ts';
import { graphqlRefusal } from './refusal.ts';
import type { ServerContext } from './server-context.ts';
import { budgetExtension, budgetHeaders } from './visit.ts';

export interface FrontDoorOptions {
  readonly formatError: (error: unknown, correlationId: string) => GraphQLError;
}

interface Shown {
  readonly errors?: readonly GraphQLError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Yoga's hooks around a request do not know the type of what the handler gave them. */
function known(serverContext: object): ServerContext {
  return serverContext as ServerContext;
}

/** Hand on what the front door has read, and put on every answer what it knows: the budget, and how to cache it. */
export function useFrontDoor({ formatError }: FrontDoorOptions): Plugin<ServerContext> {
  /** A refused key learns nothing else: neither data nor numbers, wherever it was refused. */
  const settle = (result: Shown, { info }: ServerContext): Shown => {
    if (result.errors?.some((error) => error.extensions?.code === 'unauthorized')) {
      info.standing = null;
      return { errors: [formatError(new UnauthorizedError(), info.correlationId)] };
    }
    const { extensions } = budgetExtension(info, WINDOW_SEC);
    return {
      ...result,
      ...(result.errors === undefined
        ? {}
        : { errors: result.errors.map((error) => classified(error, info.correlationId)) }),
      ...(extensions === undefined ? {} : { extensions: { ...result.extensions, ...extensions } }),
    };
  };
  /** Errors of validation come here without having been formatted. */
  const classified = (error: GraphQLError, correlationId: string) =>
    isErrorCode(error.extensions?.code) ? error : formatError(error, correlationId);

  return {
    onRequestParse({ serverContext, setRequestParser }) {
      const { params } = known(serverContext);
      if (params !== undefined) setRequestParser(() => params as never);
    },
    onResultProcess({ result, setResult, serverContext }) {
      if (Array.isArray(result)) setResult(result.map((one) => settle(one as Shown, known(serverContext))) as never);
      else if (!(Symbol.asyncIterator in result)) setResult(settle(result as Shown, known(serverContext)) as never);
    },
    onResponse({ response, serverContext, setResponse, fetchAPI }) {
      const { info } = known(serverContext);
      let answer = response;
      if (response.status === 406) {
        const error = new AppError('bad_request', 'Accept application/json or application/graphql-response+json.', {
          status: 406,
        });
        const { body, status, headers } = graphqlRefusal(formatError(error, info.correlationId), undefined, info);
        answer = new fetchAPI.Response(body as string, { status, headers: { ...headers } });
        setResponse(answer);
      }
      const html = answer.headers.get('content-type')?.startsWith('text/html') ?? false;
      const extra = {
        ...budgetHeaders(info, WINDOW_SEC),
        'cache-control': 'no-store',
        ...(answer.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
        ...(html ? HTML_SECURITY_HEADERS.graphiql : {}),
      };
      for (const [name, value] of Object.entries(extra)) answer.headers.set(name, value);
    },
  };
}
