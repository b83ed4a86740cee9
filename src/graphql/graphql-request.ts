/** One operation as it is asked for, in the plain form that most requests have. */
export interface Asked {
  readonly text: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Equal for equal operations. */
  readonly key: string;
}

const KNOWN_PARAMS: ReadonlySet<string> = new Set(['query', 'operationName', 'variables', 'documentId']);

/**
 * Read what the front door has read of a request: one operation and nothing beside it that could mean something.
 * @returns `undefined` for any other form.
 */
export function readAsked(params: unknown, textOf: (id: string) => string | undefined): Asked | undefined {
  if (!isRecord(params)) return undefined;
  const { query, documentId, operationName, variables } = params;
  for (const name in params) if (!KNOWN_PARAMS.has(name)) return undefined;
  const text = query ?? (typeof documentId === 'string' ? textOf(documentId) : undefined);
  if (typeof text !== 'string' || (operationName != null && typeof operationName !== 'string')) return undefined;
  if (variables != null && !isRecord(variables)) return undefined;
  return {
    text,
    operationName: operationName ?? undefined,
    variables: variables ?? {},
    key: keyOf(text, operationName, variables),
  };
}

export function keyOf(text: string, operationName: string | null | undefined, variables: unknown): string {
  return `${operationName ?? ''} ${JSON.stringify(variables ?? {})} ${text}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
