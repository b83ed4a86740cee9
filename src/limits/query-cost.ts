import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  BREAK,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type PricedContext, WORK_COSTS } from '../shared/contract/work-costs.ts';
import { ERROR_CODES } from '../shared/errors.ts';
import { decodeGlobalId } from '../shared/ids.ts';
import { needsKey, nodeScopeOf } from './field-scopes.ts';
import { countIntrospection } from './introspection-cost.ts';
import { COMPUTED_POINTS, COST_PER_POINT, ON_DEMAND_POINTS, SURFACE_POINTS } from './points.ts';

export interface CostedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: object;
  /** Maximum cost: counting of introspection stops above it. */
  readonly limit: number;
}

export interface OperationCost {
  readonly cost: number;
  /**
   * The part of the cost that counts fields times list sizes, which may be shorter than requested: an answer with fewer fields
   * costs less. Work is no part of it. Zero for operations with a key, whose fields have fixed prices.
   */
  readonly sized: number;
  /** The cost of the errors that the execution may make beside its answer: of root fields, and of ids. */
  readonly errors: number;
}

/** Cost of an error in an answer, which takes as long as some ten fields. */
const ERROR_COST = 10;
/** Errors that the point of every request covers. */
const COVERED_ERRORS = 5;

/** Cost of a number of errors. */
export function costOfErrors(count: number): number {
  return ERROR_COST * Math.max(0, count - COVERED_ERRORS);
}

/** Whether fields below the root ask an upstream: they have the cost of their type, even for a small answer. */
function relaysBelowRoot(schema: GraphQLSchema, document: DocumentNode): boolean {
  const text = document.loc?.source.body;
  if (text !== undefined && !Object.keys(ON_DEMAND_POINTS).some((name) => text.includes(name))) return false;
  const types = new TypeInfo(schema);
  let found = false;
  visit(
    document,
    visitWithTypeInfo(types, {
      Field({ name }) {
        const isRelay = Object.hasOwn(ON_DEMAND_POINTS, name.value) && types.getParentType()?.name === 'Token';
        if (!isRelay) return undefined;
        found = true;
        return BREAK;
      },
    }),
  );
  return found;
}

/** Whether a document may have fields with work. */
function hasWork({ loc }: DocumentNode): boolean {
  const text = loc?.source.body;
  return text === undefined || Object.keys(WORK_COSTS).some((name) => text.includes(name));
}

/** The context in which fields have no work. */
function priceless(context: object): object {
  const without: PricedContext = { withoutWork: true };
  return Object.assign(Object.create(context), without);
}

export function countFields(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  if (Array.isArray(value)) {
    for (const item of value) sum += countFields(item);
    return sum;
  }
  // Most values of an answer are leaves, so they get no call and no array of values.
  for (const name in value) {
    sum += 1;
    const inner = (value as Readonly<Record<string, unknown>>)[name];
    if (typeof inner === 'object') sum += countFields(inner);
  }
  return sum;
}

/** Introspection nodes per unit of cost: they are read from memory, at a tenth of the cost of resolved fields. */
const NODES_PER_COST = 4;
const INTROSPECTION_COST = 100;

/**
 * Compute the cost of the operation that will run: one per field, times the list sizes above it, and for root fields that ask
 * an upstream or a chain the same price as on REST.
 * @returns `null` when there is no operation to run or its variables do not fit, which execution refuses itself
 * @throws BadRequestError (in a GraphQLError) or GraphQLError for an argument that does not fit
 */
export function costOf({
  schema,
  document,
  operationName,
  variables,
  context,
  limit,
}: CostedOperation): OperationCost | null {
  const operation = getOperationAST(document, operationName);
  if (!operation) return null;
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  // The library computes the first operation of a document, so the one that runs has to be the first.
  const one: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] };
  const root = schema.getRootType(operation.operation)?.getFields() ?? {};
  let extra = 0;
  let keyed = false;
  const fields = [...rootFields(operation.selectionSet, fragments)];
  for (const { name } of fields) {
    const field = root[name.value];
    if (INTROSPECTION.has(name.value)) extra += INTROSPECTION_COST;
    else if (field) {
      keyed ||= needsKey(field);
      const own = ON_DEMAND_POINTS[name.value] ?? COMPUTED_POINTS[name.value];
      extra += COST_PER_POINT * (own ?? (needsKey(field) ? SURFACE_POINTS.Partner : 0));
    }
  }
  const introspected = fields.filter(({ name }) => INTROSPECTION.has(name.value));
  const byIds = fields.filter(({ name }) => BY_IDS.has(name.value));
  const valued = introspected.length + byIds.length === 0 ? undefined : valuesOf(schema, operation, variables);
  if (valued === null) return null;
  const ids = byIds.flatMap((field) => idsOf(root[field.name.value], field, valued ?? {}));
  const errors = costOfErrors(fields.length + ids.length);
  // Above the limit there is no need to decode the ids.
  if (errors > limit) return { cost: 0, sized: 0, errors };
  const keyedIds = countKeyedNodes(schema, ids);
  keyed ||= keyedIds > 0;
  extra += keyedIds * COST_PER_POINT * SURFACE_POINTS.Partner;
  for (const field of introspected) {
    const left = Math.max(0, limit - extra) * NODES_PER_COST;
    const nodes = countIntrospection({ schema, field, fragments, variables: valued ?? {}, limit: left });
    extra += nodes / NODES_PER_COST;
    // Above the limit there is no need to count further.
    if (extra > limit) return { cost: Math.ceil(extra), sized: 0, errors };
  }
  try {
    keyed ||= relaysBelowRoot(schema, document);
    const complexityIn = (ctx: object) =>
      complexityFromQuery(one, { schema, variables: { ...variables }, ctx }).complexity;
    const complexity = complexityIn(context);
    const sized = keyed ? 0 : hasWork(document) ? complexityIn(priceless(context)) : complexity;
    return { cost: Math.ceil(complexity + extra), sized, errors };
  } catch (error) {
    if (valuesOf(schema, operation, variables) === null) return null;
    // An argument does not fit its field. The other fields would be executed, at an unknown cost.
    throw asRequestError(error);
  }
}

/** The coerced variables; `null` = they do not fit. */
function valuesOf(
  schema: GraphQLSchema,
  { variableDefinitions }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | null {
  const { coerced } = getVariableValues(schema, variableDefinitions ?? [], variables, { maxErrors: 1 });
  return coerced ?? null;
}

function asRequestError(error: unknown): unknown {
  if (error instanceof GraphQLError || !(error instanceof Error)) return error;
  const http = { spec: true, status: ERROR_CODES.bad_request.status };
  return new GraphQLError(error.message, { originalError: error, extensions: { http } });
}

/** Fields that find objects by their global ids. */
const BY_IDS: ReadonlySet<string> = new Set(['node', 'nodes']);

/** The ids that a field requests. */
function idsOf(
  field: GraphQLField<unknown, unknown> | undefined,
  node: FieldNode,
  variables: Readonly<Record<string, unknown>>,
): readonly unknown[] {
  if (!field) return [];
  try {
    return Object.values(getArgumentValues(field, node, variables)).flat();
  } catch {
    // The check of the arguments, or the execution, refuses it.
    return [];
  }
}

/** Count the requested ids whose types need a key: each costs as much as the root field of its type. */
function countKeyedNodes(schema: GraphQLSchema, ids: readonly unknown[]): number {
  const scopes = ids.map((id) => nodeScopeOf(schema.getType(typenameIn(String(id)) ?? '')));
  return scopes.filter((scope) => scope !== undefined && scope !== 'public').length;
}

/** Return the type in a global id; `undefined` for an invalid id, which the field itself refuses. */
function typenameIn(id: string): string | undefined {
  try {
    return decodeGlobalId(id).typename;
  } catch {
    return undefined;
  }
}

const INTROSPECTION: ReadonlySet<string> = new Set(['__schema', '__type']);

/** The root fields, also inside fragments. The document is valid: fragments have no cycles. */
function* rootFields(
  set: SelectionSetNode,
  fragments: readonly FragmentDefinitionNode[],
): Generator<FieldNode, void, undefined> {
  for (const node of set.selections) {
    if (node.kind === Kind.FIELD) yield node;
    else if (node.kind === Kind.INLINE_FRAGMENT) yield* rootFields(node.selectionSet, fragments);
    else {
      const fragment = fragments.find(({ name }) => name.value === node.name.value);
      if (fragment) yield* rootFields(fragment.selectionSet, fragments);
    }
  }
}

/** Types of variables that a cost may depend on; of the filter, its chains. Costs that depend on a string are not cached. */
const COSTLY_TYPES: ReadonlySet<string> = new Set(['Int', 'Boolean', 'ID', 'ChainId', 'StrategyFilter']);

/**
 * List the variables of a document that its cost may depend on: page sizes are integers, batches are lists, directives depend
 * on booleans, lists of the snapshot have the size of their chains, and a global id contains its type. No cost in the schema
 * reads another argument
 * (`test/limits/query-cost.test.ts`).
 */
export function costlyVariables({ definitions, loc }: DocumentNode): readonly string[] {
  const names = new Set<string>();
  // The argument of `__type` is a string, so such a cost is not cached.
  const asksType = loc?.source.body.includes('__type') ?? true;
  for (const definition of definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    for (const { variable, type } of definition.variableDefinitions ?? []) {
      const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
      // The size of a list may decide as well, so such a cost is not cached.
      if (named.kind === Kind.LIST_TYPE || asksType || COSTLY_TYPES.has(named.name.value))
        names.add(variable.name.value);
    }
  }
  return [...names];
}
