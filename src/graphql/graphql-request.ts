import { isRecord } from '../shared/input/record.ts';

/** One operation of a request in plain form, which most requests have. */
export interface GraphQLRequest {
  readonly text: string;
  readonly operationName: string | undefined;
  readonly variables: unknown;
  /** Whether it was requested by the id of a persisted operation. */
  readonly isPersisted: boolean;
}

const KNOWN_PARAMS: ReadonlySet<string> = new Set(['query', 'operationName', 'variables', 'documentId']);

/**
 * Read the parameters of one operation without any parameter that could change its meaning.
 * @returns `undefined` for any other form
 */
export function readGraphQLRequest(
  params: unknown,
  textOf: (id: string) => string | undefined,
): GraphQLRequest | undefined {
  if (!isRecord(params)) return undefined;
  const { query, documentId, operationName, variables } = params;
  for (const name in params) if (!KNOWN_PARAMS.has(name)) return undefined;
  const isPersisted = documentId != null;
  if (isPersisted && query != null) return undefined;
  const text = typeof documentId === 'string' ? textOf(documentId) : query;
  if (typeof text !== 'string' || (operationName != null && typeof operationName !== 'string')) return undefined;
  if (variables != null && !isRecord(variables)) return undefined;
  return { text, operationName: operationName ?? undefined, variables, isPersisted };
}

/** The ids by which one operation may be requested instead of its text. */
export function idsIn(params: object): { readonly documentId: string | undefined; readonly hash: string | undefined } {
  const { documentId, extensions } = params as {
    readonly documentId?: unknown;
    readonly extensions?: { readonly persistedQuery?: { readonly sha256Hash?: unknown } | null } | null;
  };
  const hash = extensions?.persistedQuery?.sha256Hash;
  return {
    documentId: typeof documentId === 'string' ? documentId : undefined,
    hash: typeof hash === 'string' ? hash : undefined,
  };
}

/** The text of one operation in any form; `undefined` = not known, which execution refuses. */
export function textIn(params: object, textOf: (id: string) => string | undefined): string | undefined {
  const { query } = params as { readonly query?: unknown };
  if (typeof query === 'string') return query;
  const { documentId, hash } = idsIn(params);
  const id = documentId ?? hash;
  return id === undefined ? undefined : textOf(id);
}

/**
 * Cache key of an operation: equal for equal documents, operation names and variables. Distinct from the keys of REST rows,
 * which start with a path.
 */
export function answerKey(text: string, operationName: string | null | undefined, variables: unknown): string {
  return `graphql ${operationName ?? ''} ${JSON.stringify(variables ?? {})} ${text}`;
}
