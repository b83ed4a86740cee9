import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

type Input = Pick<GraphQLArgument | GraphQLInputField, 'name' | 'type' | 'defaultValue'>;
type Values = Record<string, unknown>;

/**
 * Make `null` the same as absence in every optional argument and input field: an input with a default takes `null`, and gets the
 * default, and resolvers never see it.
 */
export function withAbsentNulls(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isInputObjectType(type)) Object.values(type.getFields()).forEach(takeNull);
    if (isObjectType(type) || isInterfaceType(type)) Object.values(type.getFields()).forEach(readAbsentNulls);
  }
  return schema;
}

/** Clients may send `null` for what has a default. */
function takeNull(input: { type: GraphQLInputType; readonly defaultValue?: unknown }): void {
  if (input.defaultValue !== undefined && isNonNullType(input.type)) input.type = getNullableType(input.type);
}

function readAbsentNulls(field: GraphQLField<unknown, unknown>): void {
  if (field.args.length === 0) return;
  field.args.forEach(takeNull);
  const { resolve, subscribe } = field;
  if (resolve) field.resolve = (source, args, ...rest) => resolve(source, present(args, field.args), ...rest);
  if (subscribe) field.subscribe = (source, args, ...rest) => subscribe(source, present(args, field.args), ...rest);
}

/** The same values without those that are `null`. */
function present(values: Values, inputs: readonly Input[]): Values {
  let changed: Values | undefined;
  for (const { name, type, defaultValue } of inputs) {
    const given = values[name];
    if (given === undefined) continue;
    const kept = given === null ? defaultValue : nested(given, type);
    if (kept === given) continue;
    changed ??= { ...values };
    if (kept === undefined) delete changed[name];
    else changed[name] = kept;
  }
  return changed ?? values;
}

function nested(value: unknown, type: GraphQLInputType): unknown {
  const bare = getNullableType(type);
  if (isListType(bare)) return Array.isArray(value) ? presentItems(value, bare.ofType) : value;
  return isInputObjectType(bare) ? present(value as Values, Object.values(bare.getFields())) : value;
}

function presentItems(items: readonly unknown[], type: GraphQLInputType): readonly unknown[] {
  const kept = items.map((item) => nested(item, type));
  return kept.some((item, i) => item !== items[i]) ? kept : items;
}
