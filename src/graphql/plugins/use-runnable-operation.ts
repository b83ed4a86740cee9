import { GraphQLError, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { ERROR_CODES } from '../../shared/errors.ts';
import type { ServerContext } from '../context.ts';

/**
 * Refuse a document without the operation that the request names, and a mutation by GET. Yoga has the same check, for its own
 * request objects only.
 */
export function useRunnableOperation(): Plugin<ServerContext> {
  return {
    onParse: () => {
      return ({ result, context }) => {
        const { params, isRead } = context as unknown as ServerContext & { params?: { operationName?: string } };
        if (result === null) return;
        if (result instanceof Error) {
          if (result instanceof GraphQLError) result.extensions.http ??= { spec: true, status: BAD_REQUEST };
          return;
        }
        const operation = getOperationAST(result, params?.operationName);
        if (!operation) throw refusal('Could not determine what operation to execute.', BAD_REQUEST);
        if (isRead && operation.operation === 'mutation') {
          throw refusal('Can only perform a mutation operation from a POST request.', METHOD_NOT_ALLOWED, {
            allow: 'POST',
          });
        }
      };
    },
  };
}

const BAD_REQUEST = ERROR_CODES.bad_request.status;
const METHOD_NOT_ALLOWED = ERROR_CODES.method_not_allowed.status;

function refusal(message: string, status: number, headers: Readonly<Record<string, string>> = {}): GraphQLError {
  return new GraphQLError(message, { extensions: { http: { status, headers } } });
}
