import {
  type ExecutionArgs,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

/** The fields that a client selected, by response key: the names of the field, and the selection below it. */
export interface Selected {
  readonly names: Set<string>;
  readonly below: Map<string, Selected>;
}

/** Fields that change with every refresh or second without other content. A change of these alone is no change. */
const MOMENTS: ReadonlySet<string> = new Set([
  'version',
  'publishedAt',
  'asOf',
  'ageSec',
  'staleForSec',
  'readAt',
  'oraclePriceAsOf',
  'since',
  'lastGoodAt',
  'lastAttemptAt',
  'lastSuccessAt',
]);

/** Read the selection below the root field of an operation, its fragments of every type condition included. */
export function selectionOf({ document, operationName }: Pick<ExecutionArgs, 'document' | 'operationName'>): Selected {
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition.selectionSet] as const] : [],
    ),
  );
  const collect = (set: SelectionSetNode, into: Selected): Selected => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(selection.name.value);
        if (fragment) collect(fragment, into);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet, into);
      } else {
        const key = selection.alias?.value ?? selection.name.value;
        const found: Selected = into.below.get(key) ?? { names: new Set(), below: new Map() };
        into.below.set(key, found);
        found.names.add(selection.name.value);
        if (selection.selectionSet) collect(selection.selectionSet, found);
      }
    }
    return into;
  };
  const operation = getOperationAST(document, operationName) as OperationDefinitionNode;
  const root = collect(operation.selectionSet, { names: new Set(), below: new Map() });
  const [first] = root.below.values();
  return first ?? root;
}

/** The response keys under which a field was selected. */
export function keysOf({ below }: Selected, field: string): readonly string[] {
  return [...below].flatMap(([key, { names }]) => (names.has(field) ? [key] : []));
}

/** Whether a field of an event has content besides the subject and the time of the event. */
export function isContent({ names }: Selected): boolean {
  return [...names].some((name) => !MOMENTS.has(name) && name !== 'chain' && name !== '__typename');
}

/** Write the content of a result as text, to compare: without the moments of its values. */
export function contentOf(value: unknown, selected: Selected | undefined): string {
  return JSON.stringify(withoutMoments(value, selected));
}

function withoutMoments(value: unknown, selected: Selected | undefined): unknown {
  if (Array.isArray(value)) return value.map((entry) => withoutMoments(entry, selected));
  if (typeof value !== 'object' || value === null || selected === undefined) return value;
  const content: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const field = selected.below.get(key);
    const isMoment = field !== undefined && [...field.names].every((name) => MOMENTS.has(name));
    if (!isMoment) content[key] = withoutMoments(inner, field);
  }
  return content;
}
