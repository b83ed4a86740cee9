import { createHash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { ERROR_CODES } from '../../shared/errors.ts';
import { formatValue } from '../../shared/ids.ts';
import type { ServerContext } from '../context.ts';
import { idsIn } from '../graphql-request.ts';

/** Documents by their sha-256. */
export type RegisteredDocuments = Pick<LRUCache<string, string>, 'get' | 'set'>;

export interface PersistedOptions {
  /** Text by sha-256. */
  readonly operations: ReadonlyMap<string, string>;
  /** Documents that clients have sent together with their sha-256, by it. They are charged and limited as any other document. */
  readonly registered: RegisteredDocuments;
  /** Whether documents that are not persisted may run for callers without a key. */
  readonly anyDocument: boolean;
}

/**
 * Accept persisted operations by `documentId` and by `extensions.persistedQuery.sha256Hash`, and automatic persisted queries:
 * a client sends the hash of its document alone, and the document with the hash after `PersistedQueryNotFound`.
 */
export function usePersisted({ operations, registered, anyDocument }: PersistedOptions): Plugin {
  const register = (query: string, hash: string): void => {
    if (operations.get(hash) === query || registered.get(hash) === query) return;
    if (createHash('sha256').update(query).digest('hex') !== hash) {
      throw refusal('bad_request', 'The hash is not that of the query. Send its SHA-256 in lower-case hex, or none.', {
        field: 'extensions.persistedQuery.sha256Hash',
        value: formatValue(hash),
      });
    }
    registered.set(hash, query);
  };
  return {
    onParams({ params, setParams, context }) {
      const { info, transport } = context as unknown as ServerContext;
      // The rows run operations of their own.
      if (transport === 'rest') return;
      const mayRunAny = anyDocument || info.caller.kind === 'key';
      const { documentId, hash } = idsIn(params);
      if (params.query) {
        if (!mayRunAny) throw refusal('bad_request', ONLY_PERSISTED, { field: 'query' });
        if (documentId === undefined && hash !== undefined) register(params.query, hash);
        return;
      }
      const id = (documentId ?? hash)?.replace(/^sha256:/, '');
      if (id === undefined) throw refusal('bad_request', NOTHING_SENT, { field: 'query' });
      const query = operations.get(id) ?? (mayRunAny ? registered.get(id) : undefined);
      if (query !== undefined) {
        setParams({ ...params, query });
        return;
      }
      const details = { resource: 'persisted operation', id: formatValue(id) };
      if (documentId !== undefined) throw refusal('not_found', UNKNOWN_ID, details);
      // Clients compare the message, and most of them read no answer with another status.
      throw refusal('not_found', mayRunAny ? 'PersistedQueryNotFound' : 'PersistedQueryNotSupported', details, 200);
    },
  };
}

const MAX_REGISTERED = 2_000;
const MAX_REGISTERED_CHARS = 8 * 2 ** 20;

/** Create the memory of automatic persisted queries: the documents that were used last. */
export function createRegisteredDocuments(): RegisteredDocuments {
  return new LRUCache<string, string>({
    max: MAX_REGISTERED,
    maxSize: MAX_REGISTERED_CHARS,
    sizeCalculation: (text) => text.length + 1,
  });
}

const ONLY_PERSISTED = 'Without a key only persisted operations are allowed. Send a documentId, or a key.';
const NOTHING_SENT = 'Send a GraphQL "query", or the "documentId" of a persisted operation.';
const UNKNOWN_ID = 'No persisted operation has this documentId. Send the document as "query".';

function refusal(
  code: 'bad_request' | 'not_found',
  message: string,
  details: object,
  status: number = ERROR_CODES[code].status,
): GraphQLError {
  return new GraphQLError(message, { extensions: { code, details, http: { status } } });
}
