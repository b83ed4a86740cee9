import {
  type DocumentNode,
  type GraphQLSchema,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

const NAME = (value: string) => ({ kind: Kind.NAME, value }) as const;
const FIELD = (name: string) => ({ kind: Kind.FIELD, name: NAME(name) }) as const;

/** The schema data that client caches need: abstract types, objects with a global id, and values without one. */
export function cacheConfigOf(schema: GraphQLSchema) {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const node = schema.getType('Node');
  if (!isInterfaceType(node)) throw new Error('Node expected');
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const objects = types.filter(isObjectType).filter((type) => !roots.includes(type));
  const possibleTypes = Object.fromEntries(
    types.filter(isAbstractType).map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)]),
  );
  return {
    possibleTypes,
    nodes: objects.filter((type) => type.getInterfaces().includes(node)).map(({ name }) => name),
    values: objects.filter((type) => !type.getInterfaces().includes(node)).map(({ name }) => name),
  };
}

/** Ask for `__typename` everywhere and for the `id` of every node, as clients with a normalised cache do. */
export function withKeys(schema: GraphQLSchema, text: string): DocumentNode {
  const info = new TypeInfo(schema);
  return visit(
    parse(text),
    visitWithTypeInfo(info, {
      SelectionSet(set, _key, parent): SelectionSetNode | undefined {
        const type = info.getParentType();
        if (!type || (parent && 'kind' in parent && parent.kind === Kind.OPERATION_DEFINITION)) return undefined;
        const hasId = (isObjectType(type) || isInterfaceType(type)) && type.getFields().id !== undefined;
        const requested = new Set(
          set.selections.flatMap((one) => (one.kind === Kind.FIELD && !one.alias ? [one.name.value] : [])),
        );
        const missing = ['__typename', ...(hasId ? ['id'] : [])].filter((name) => !requested.has(name)).map(FIELD);
        return { ...set, selections: [...set.selections, ...missing] };
      },
    }),
  );
}
