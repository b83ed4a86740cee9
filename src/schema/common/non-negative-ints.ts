import {
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

/**
 * Give whole numbers of answers the type `NonNegativeInt`: counts, indexes, seconds, days and places are never negative, and a signed
 * number is a `Decimal`. Inputs stay `Int`, as connections of Relay demand, and refusals name their limits.
 */
export function withNonNegativeInts(schema: GraphQLSchema): GraphQLSchema {
  const nonNegative = schema.getType('NonNegativeInt') as GraphQLScalarType;
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__') || !(isObjectType(type) || isInterfaceType(type))) continue;
    for (const field of Object.values(type.getFields())) field.type = replaced(field.type, nonNegative);
  }
  return schema;
}

function replaced(type: GraphQLOutputType, nonNegative: GraphQLScalarType): GraphQLOutputType {
  if (isNonNullType(type)) return new GraphQLNonNull(replaced(type.ofType, nonNegative)) as GraphQLOutputType;
  if (isListType(type)) return new GraphQLList(replaced(type.ofType, nonNegative));
  return type === GraphQLInt ? nonNegative : type;
}
