import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';

export interface Introspected {
  readonly schema: GraphQLSchema;
  /** A field `__schema` or `__type` of the query. */
  readonly field: FieldNode;
  readonly fragments: readonly FragmentDefinitionNode[];
  readonly variables: Readonly<Record<string, unknown>>;
  /** Counting stops above this number. */
  readonly limit: number;
}

/**
 * Count the nodes in the answer to an introspection field: its selections, times the types, fields and arguments that they
 * apply to. The result for each type is computed once, however many fields lead to it, so counting is cheaper than answering.
 *
 * @returns a number above `limit` when there are more
 */
export function countIntrospection({ schema, field, fragments, variables, limit }: Introspected): number {
  const definitions = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  const known = new Map<SelectionSetNode, Map<unknown, number>>();
  /** Memo by field: its type and its arguments do not depend on the parent. */
  const fields = new Map<FieldNode, Introspecting | null>();
  let looked = 0;

  const below = (node: FieldNode, type: GraphQLObjectType, source: unknown): number => {
    let introspection = fields.get(node);
    if (introspection === undefined) {
      introspection = introspecting(node, type, variables);
      fields.set(node, introspection);
    }
    if (introspection === null) return 1;
    const { set, named, args, resolve } = introspection;
    const value: unknown = resolve?.(source, args, undefined, { schema } as never);
    let sum = 1;
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item != null) sum += count(set, named, item);
      if (sum > limit || looked > limit) return limit + 1;
    }
    return sum;
  };
  const count = (set: SelectionSetNode, type: GraphQLObjectType, source: unknown): number => {
    const ofSet = known.get(set) ?? new Map<unknown, number>();
    known.set(set, ofSet);
    const before = ofSet.get(source);
    if (before !== undefined) return before;
    looked += 1;
    if (looked > limit) return limit + 1;
    let sum = 0;
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) sum += below(node, type, source);
      else {
        const inner = node.kind === Kind.INLINE_FRAGMENT ? node : definitions.get(node.name.value);
        if (inner) sum += count(inner.selectionSet, type, source);
      }
    }
    ofSet.set(source, sum);
    return sum;
  };
  const root = new GraphQLObjectType({ name: 'Root', fields: {} });
  return below(field, root, undefined);
}

interface Introspecting {
  readonly set: SelectionSetNode;
  readonly named: GraphQLObjectType;
  readonly args: Record<string, unknown>;
  readonly resolve: GraphQLField<unknown, unknown>['resolve'];
}

/** The members that an introspection field returns; `null` for a leaf. */
function introspecting(
  node: FieldNode,
  type: GraphQLObjectType,
  variables: Readonly<Record<string, unknown>>,
): Introspecting | null {
  const definition = metaField(type, node.name.value);
  const named = definition === undefined ? undefined : getNamedType(definition.type);
  if (definition === undefined || node.selectionSet === undefined || !(named instanceof GraphQLObjectType)) return null;
  return {
    set: node.selectionSet,
    named,
    args: getArgumentValues(definition, node, variables),
    resolve: definition.resolve,
  };
}

/** Meta fields are not among the fields of the root type. */
function metaField(type: GraphQLObjectType, name: string) {
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  return name === TypeMetaFieldDef.name ? TypeMetaFieldDef : type.getFields()[name];
}
