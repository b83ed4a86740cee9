import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { ERROR_CODES } from '../../shared/errors.ts';
import { formatValue } from '../../shared/ids.ts';
import { bearerOf } from '../../shared/request-info.ts';

export interface PersistedOptions {
  /** Text by sha-256. */
  readonly operations: ReadonlyMap<string, string>;
  /** Whether documents that are not persisted may run for callers without a key. */
  readonly anyDocument: boolean;
}

/** Accept persisted operations by `documentId` and by `extensions.persistedQuery.sha256Hash`. */
export function usePersisted({ operations, anyDocument }: PersistedOptions): Plugin {
  const refusal = (code: 'bad_request' | 'not_found', message: string, details: object) => ({
    message,
    extensions: { code, details, http: { status: ERROR_CODES[code].status } },
  });
  return usePersistedOperations({
    getPersistedOperation: (id) => operations.get(id) ?? null,
    extractPersistedOperationId: idOf,
    // A request with an invalid key is refused before.
    allowArbitraryOperations: (request) =>
      anyDocument || bearerOf(request.headers.get('authorization') ?? undefined) !== undefined,
    customErrors: {
      notFound: ({ params }) => {
        const { message, extensions } = refusal(
          'not_found',
          'No persisted operation has this id. The ids are the sha256 values of src/rest/generated/manifest.json.',
          { resource: 'persisted operation', id: formatValue(idOf(params)) },
        );
        return new GraphQLError(message, { extensions });
      },
      persistedQueryOnly: refusal(
        'bad_request',
        'Without a key only persisted operations are allowed. Send a documentId, or a key.',
        { field: 'query' },
      ),
      keyNotFound: refusal('bad_request', 'Send a GraphQL "query", or the "documentId" of a persisted operation.', {
        field: 'query',
      }),
    },
  }) as Plugin;
}

function idOf(params: object): string | null {
  const { documentId, extensions } = params as {
    documentId?: unknown;
    extensions?: { persistedQuery?: { sha256Hash?: unknown } | undefined } | undefined;
  };
  const id = documentId ?? extensions?.persistedQuery?.sha256Hash;
  return typeof id === 'string' ? id.replace(/^sha256:/, '') : null;
}
