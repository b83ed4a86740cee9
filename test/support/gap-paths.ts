import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Json } from './service.ts';

const fieldsOf = (type: GraphQLNamedType) => (isObjectType(type) || isInterfaceType(type) ? type.getFields() : {});
const isPlain = (field: GraphQLField<unknown, unknown>) =>
  field.args.every((arg) => !isNonNullType(arg.type) || arg.defaultValue !== undefined);

/** Every object type that reports absence in `gaps`. */
export function typesWithGaps(schema: GraphQLSchema): GraphQLObjectType[] {
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => type.getFields().gaps !== undefined);
}

/**
 * Whether a dotted path leads from a type to a field. An entry of a list is named by its index, by a value of one of its
 * enums, or by the value of one of its numbers.
 */
export function leads(schema: GraphQLSchema, type: GraphQLNamedType, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return true;
  const field = fieldsOf(type)[name];
  if (field === undefined) return false;
  const target = getNamedType(field.type);
  const [entry, ...below] = rest;
  if (entry !== undefined && isListType(getNullableType(field.type)) && isEntry(target, entry)) {
    return leads(schema, target, below);
  }
  return leads(schema, target, rest);
}

function isEntry(item: GraphQLNamedType, name: string): boolean {
  if (/^\d+$/.test(name)) return true;
  return Object.values(fieldsOf(item)).some((field) => {
    const type = getNamedType(field.type);
    return isEnumType(type) && type.getValue(name) !== undefined;
  });
}

const hasGaps = (type: GraphQLNamedType): boolean => 'gaps' in fieldsOf(type);
/** Deeper values are shared ones, such as ages, whose descriptions explain `null`. */
const MAX_DEPTH = 4;

/**
 * A selection of everything that may be `null` on the objects of a type and on the values below it, and of the reasons.
 * Objects with their own `gaps` have to be selected separately.
 * @param except names of fields that are left out, because they cost too much
 */
export function nullableSelection(
  schema: GraphQLSchema,
  type: GraphQLNamedType,
  except: readonly string[] = [],
  depth = 0,
): string {
  if (isAbstractType(type)) {
    const on = (one: GraphQLObjectType) => `... on ${one.name}{${nullableSelection(schema, one, except, depth)}}`;
    return `__typename ${schema.getPossibleTypes(type).map(on).join(' ')}`;
  }
  const parts = Object.values(fieldsOf(type)).flatMap((field) => {
    const target = getNamedType(field.type);
    const isLeaf = isLeafType(target);
    if (field.name === 'gaps' || except.includes(field.name) || !isPlain(field)) return [];
    if (isLeaf && isNonNullType(field.type)) return [];
    const isValue = isObjectType(target) && !hasGaps(target) && !/Connection$/.test(target.name) && depth < MAX_DEPTH;
    const below = isValue ? nullableSelection(schema, target, except, depth + 1) : '__typename';
    if (isNonNullType(field.type) && below.trim() === '__typename') return [];
    return [`${field.name}${isLeaf ? '' : `{${below}}`}`];
  });
  const gaps = hasGaps(type) ? 'gaps{field reason message}' : '';
  return `__typename ${parts.join(' ')} ${gaps}`;
}

export interface Absences {
  /** Paths that lead nowhere: `Type: path`. */
  readonly astray: readonly string[];
  /** Fields that are `null` without a reason: `Type: path`. */
  readonly unexplained: readonly string[];
  /** Everything that was named: `Type: path`. */
  readonly named: readonly string[];
}

interface Owner {
  readonly name: string;
  readonly explained: readonly string[];
  /** From the owner to the object at hand; `*` for an entry of a list. */
  readonly path: readonly string[];
}

/** Compare the reasons of every object of an answer with its type and with the absent fields in and below it. */
export function absencesIn(schema: GraphQLSchema, data: Json): Absences {
  const [astray, unexplained, named] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const visit = (object: Json, above: Owner | null): void => {
    const type = object.__typename === undefined ? undefined : schema.getType(object.__typename);
    const gaps: Json[] | undefined = type && (hasGaps(type) ? object.gaps : undefined);
    const owner =
      gaps === undefined
        ? type && !hasGaps(type)
          ? above
          : null
        : { name: String(type?.name), explained: gaps.map(({ field }) => field), path: [] };
    for (const { field } of gaps ?? []) {
      named.add(`${type?.name}: ${field}`);
      if (type && !leads(schema, type, field.split('.'))) astray.add(`${type.name}: ${field}`);
    }
    for (const [name, value] of Object.entries<Json>(object)) {
      const here = owner && { ...owner, path: [...owner.path, name] };
      if (value === null && here && type && !isExplained(here, type, name))
        unexplained.add(`${here.name}: ${here.path.join('.')}`);
      const inList = here && { ...here, path: [...here.path, '*'] };
      for (const item of Array.isArray(value) ? value : []) if (isRecord(item)) visit(item, inList);
      if (isRecord(value) && !Array.isArray(value)) visit(value, here);
    }
  };
  visit(data, null);
  return { astray: [...astray].sort(), unexplained: [...unexplained].sort(), named: [...named].sort() };
}

const isRecord = (value: Json): boolean => typeof value === 'object' && value !== null;

/** A gap of the path, or above or below it; or the value's description explains its `null`. */
function isExplained({ explained, path }: Owner, type: GraphQLNamedType, name: string): boolean {
  if (path.length > 1 && fieldsOf(type)[name]?.description?.includes('`null`')) return true;
  return explained.some((field) => {
    const parts = field.split('.');
    return parts.slice(0, path.length).every((part, i) => part === path[i] || path[i] === '*');
  });
}
