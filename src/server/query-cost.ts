import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type DocumentNode, type GraphQLSchema, getOperationAST, Kind } from 'graphql';

export interface CostedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: object;
}

/** What `__schema` and `__type` cost each: their answers are large, and the schema gives them no cost. */
const INTROSPECTION_COST = 100;

/**
 * Compute the cost of the operation that will run: one per field, times the list sizes above it.
 * @returns `null` when there is none to run or its variables do not fit, which execution refuses by itself.
 */
export function costOf({ schema, document, operationName, variables, context }: CostedOperation): number | null {
  const operation = getOperationAST(document, operationName);
  if (!operation) return null;
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  // The library costs the first operation of a document: the one that runs has to be it.
  const one: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] };
  const introspections = operation.selectionSet.selections.filter(
    (node) => node.kind === Kind.FIELD && (node.name.value === '__schema' || node.name.value === '__type'),
  ).length;
  try {
    const { complexity } = complexityFromQuery(one, { schema, variables: { ...variables }, ctx: context });
    return complexity + introspections * INTROSPECTION_COST;
  } catch {
    return null;
  }
}
