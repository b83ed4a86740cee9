import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getOperationAST,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
  typeFromAST,
} from 'graphql';

/** Enums in an answer: the values by name, or the same for the fields below. */
interface EnumsOf {
  readonly values?: ReadonlyMap<unknown, unknown>;
  readonly fields: ReadonlyMap<string, EnumsOf>;
}

/** Translates between the enum names of GraphQL and the internal values, for one persisted operation. */
export interface EnumValues {
  /** Convert values to names in variables. A value that is not in its enum stays, and execution refuses it. */
  named(variables: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Convert names to values in the data of an answer. */
  valued(data: unknown): unknown;
}

/** Create the translation for one operation from the schema. The /v1 contract uses the internal values of the enums. */
export function createEnumValues(schema: GraphQLSchema, document: DocumentNode): EnumValues {
  const answer = enumsOf(schema, document);
  const types = new Map<string, GraphQLInputType>();
  for (const { variable, type } of getOperationAST(document)?.variableDefinitions ?? []) {
    const input = typeFromAST(schema, type as never) as GraphQLInputType | undefined;
    if (input) types.set(variable.name.value, input);
  }
  return {
    named: (variables) =>
      Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, nameIn(types.get(name), value)])),
    valued: (data) => valueIn(answer, data),
  };
}

function nameIn(type: GraphQLInputType | undefined, value: unknown): unknown {
  const nullable = getNullableType(type);
  if (value === null || value === undefined || !nullable) return value;
  if (isListType(nullable)) {
    const inner = nullable.ofType as GraphQLInputType;
    return Array.isArray(value) ? value.map((item) => nameIn(inner, item)) : nameIn(inner, value);
  }
  if (isEnumType(nullable)) return nullable.getValues().find((one) => one.value === value)?.name ?? value;
  if (!isInputObjectType(nullable) || typeof value !== 'object') return value;
  const fields = nullable.getFields();
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, nameIn(fields[name]?.type, item)]));
}

function valueIn(enums: EnumsOf, data: unknown): unknown {
  if (data === null || data === undefined) return data;
  if (Array.isArray(data)) return data.map((item) => valueIn(enums, item));
  if (enums.values) return enums.values.has(data) ? enums.values.get(data) : data;
  if (enums.fields.size === 0) return data;
  const changed: Record<string, unknown> = { ...data };
  for (const [name, below] of enums.fields) {
    if (Object.hasOwn(changed, name)) changed[name] = valueIn(below, changed[name]);
  }
  return changed;
}

/**
 * Collect the enums of an answer by response name. Validation ensures that fields of one response name have one type in all
 * fragments.
 */
function enumsOf(schema: GraphQLSchema, document: DocumentNode): EnumsOf {
  const fragments = new Map(
    document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );
  const collect = (type: GraphQLNamedType | undefined | null, set: SelectionSetNode, found: Map<string, EnumsOf>) => {
    for (const node of set.selections) {
      if (node.kind === Kind.FRAGMENT_SPREAD || node.kind === Kind.INLINE_FRAGMENT) {
        const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
        const on = fragment?.typeCondition?.name.value;
        if (fragment) collect(on === undefined ? type : schema.getType(on), fragment.selectionSet, found);
        continue;
      }
      const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
      if (!field) continue;
      const name = node.alias?.value ?? node.name.value;
      const inner = getNamedType(field.type);
      if (isEnumType(inner)) {
        const values = inner.getValues();
        if (values.some((one) => one.name !== one.value)) {
          found.set(name, { values: new Map(values.map((one) => [one.name, one.value])), fields: NONE });
        }
      } else if (node.selectionSet) {
        const fields = new Map(found.get(name)?.fields);
        collect(inner, node.selectionSet, fields);
        if (fields.size > 0) found.set(name, { fields });
      }
    }
  };
  const operation = getOperationAST(document);
  const fields = new Map<string, EnumsOf>();
  if (operation) collect(schema.getRootType(operation.operation), operation.selectionSet, fields);
  return { fields };
}

const NONE: ReadonlyMap<string, EnumsOf> = new Map();
