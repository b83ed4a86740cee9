import {
  buildSchema,
  findBreakingChanges,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedDirective,
  isUnionType,
} from 'graphql';
import { isSame } from './schema-values.ts';

/**
 * List the changes of a GraphQL schema that can break a client of the earlier one. Another default is one too, also where there
 * was none: the same document then asks for something else.
 */
export function breakingGraphqlChanges(before: string, after: string): readonly string[] {
  const [known, next] = [buildSchema(before), buildSchema(after)];
  return [
    ...findBreakingChanges(known, next).map(({ description }) => description),
    ...Object.values(known.getTypeMap()).flatMap(({ name }) => typeChanges(known, next, name)),
    ...directiveChanges(known, next),
    ...rootChanges(known, next),
  ];
}

/** The changes of a type that the package does not find. */
function typeChanges(before: GraphQLSchema, after: GraphQLSchema, name: string): readonly string[] {
  const [type, next] = [before.getType(name), after.getType(name)];
  if (isInputObjectType(type) && isInputObjectType(next)) {
    const limited = next.isOneOf && !type.isOneOf ? [`${name} allows one field only.`] : [];
    return [...limited, ...inputChanges(`${name}.`, Object.values(type.getFields()), Object.values(next.getFields()))];
  }
  if (isScalarType(type) && isScalarType(next)) {
    const [url, other] = [type.specifiedByURL, next.specifiedByURL];
    return url && url !== other ? [`${name} has changed its specification from ${url} to ${other ?? 'none'}.`] : [];
  }
  if (isUnionType(type) && isUnionType(next)) return addedMembers(after, type.getTypes(), next.getTypes(), name);
  if ((!isObjectType(type) || !isObjectType(next)) && (!isInterfaceType(type) || !isInterfaceType(next))) return [];
  return Object.values(type.getFields()).flatMap((field) => {
    const found = next.getFields()[field.name];
    return found === undefined ? [] : inputChanges(`${name}.${field.name} argument `, field.args, found.args);
  });
}

/** The types that an answer may newly be. Kinds of refusals may be added at any time. */
function addedMembers(
  after: GraphQLSchema,
  members: readonly { readonly name: string }[],
  next: readonly { readonly name: string }[],
  name: string,
): readonly string[] {
  const isRefusal = (member: string) => {
    const type = after.getType(member);
    return isObjectType(type) && type.getInterfaces().some((each) => each.name === 'Refusal');
  };
  const hasRefusals = members.some((member) => isRefusal(member.name));
  return next
    .filter((member) => !members.some((known) => known.name === member.name))
    .filter((member) => !(hasRefusals && isRefusal(member.name)))
    .map((member) => `${member.name} was added to the union ${name}.`);
}

/** Arguments of directives, whose types and defaults the package does not compare. */
function directiveChanges(before: GraphQLSchema, after: GraphQLSchema): readonly string[] {
  return before.getDirectives().flatMap((directive) => {
    const next = after.getDirective(directive.name);
    if (!next || isSpecifiedDirective(directive)) return [];
    const types = directive.args.flatMap((arg) => {
      const found = next.args.find(({ name }) => name === arg.name);
      if (found === undefined || isWithin(arg.type, found.type)) return [];
      return [`@${directive.name} argument ${arg.name} has changed its type from ${arg.type} to ${found.type}.`];
    });
    return [...types, ...inputChanges(`@${directive.name} argument `, directive.args, next.args)];
  });
}

/** Documents name the operation and no type of it. */
function rootChanges(before: GraphQLSchema, after: GraphQLSchema): readonly string[] {
  const rootsOf = (schema: GraphQLSchema) => ({
    query: schema.getQueryType()?.name,
    mutation: schema.getMutationType()?.name,
    subscription: schema.getSubscriptionType()?.name,
  });
  const next: Readonly<Record<string, string | undefined>> = rootsOf(after);
  return Object.entries(rootsOf(before)).flatMap(([operation, name]) =>
    name === undefined || next[operation] === name
      ? []
      : [`The type of ${operation} was ${name} and is ${next[operation] ?? 'none'}.`],
  );
}

type Input = GraphQLArgument | GraphQLInputField;

/** Defaults of arguments and of fields of input types. */
function inputChanges(place: string, inputs: readonly Input[], next: readonly Input[]): readonly string[] {
  const textOf = (value: unknown) => JSON.stringify(value) ?? 'none';
  return inputs.flatMap(({ name, defaultValue }) => {
    const found = next.find((input) => input.name === name);
    if (found === undefined || isSame(defaultValue, found.defaultValue)) return [];
    return [`${place}${name} has changed its default from ${textOf(defaultValue)} to ${textOf(found.defaultValue)}.`];
  });
}

/** Whether every value of an input type is one of the other. */
function isWithin(type: GraphQLInputType, other: GraphQLInputType): boolean {
  if (isNonNullType(type)) return isWithin(type.ofType, isNonNullType(other) ? other.ofType : other);
  if (isNonNullType(other)) return false;
  if (isListType(type)) return isListType(other) && isWithin(type.ofType, other.ofType);
  return isListType(other) ? isWithin(type, other.ofType) : type === other || `${type}` === `${other}`;
}
