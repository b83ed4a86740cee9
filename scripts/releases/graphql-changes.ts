import {
  buildSchema,
  DangerousChangeType,
  findBreakingChanges,
  findDangerousChanges,
  type GraphQLSchema,
  isInputObjectType,
} from 'graphql';
import { isSame } from './schema-changes.ts';

/**
 * List the changes of a GraphQL schema that can break a client of the earlier one. Another default is one too: the same document
 * then asks for something else.
 */
export function breakingGraphqlChanges(before: string, after: string): readonly string[] {
  const [known, next] = [buildSchema(before), buildSchema(after)];
  const dangerous = findDangerousChanges(known, next).filter(
    ({ type }) => type === DangerousChangeType.ARG_DEFAULT_VALUE_CHANGE,
  );
  const changes = [...findBreakingChanges(known, next), ...dangerous].map(({ description }) => description);
  return [...changes, ...inputDefaultChanges(known, next)];
}

/** Defaults of the fields of input types, which the package does not compare. */
function inputDefaultChanges(before: GraphQLSchema, after: GraphQLSchema): readonly string[] {
  return Object.values(before.getTypeMap()).flatMap((type) => {
    const next = after.getType(type.name);
    if (!isInputObjectType(type) || !isInputObjectType(next)) return [];
    return Object.values(type.getFields()).flatMap(({ name, defaultValue }) => {
      const found = next.getFields()[name];
      if (defaultValue === undefined || found === undefined || isSame(defaultValue, found.defaultValue)) return [];
      return [
        `${type.name}.${name} has changed its default from ${JSON.stringify(defaultValue)} to ${JSON.stringify(found.defaultValue) ?? 'none'}.`,
      ];
    });
  });
}
