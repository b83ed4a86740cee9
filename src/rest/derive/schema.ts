import {
  type GraphQLEnumType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  getNullableType,
  isEnumType,
  isListType,
  isNonNullType,
} from 'graphql';
import { deprecationOf } from '../../shared/contract/deprecation.ts';
import { ADDRESS_PATTERN, MARKET_ID_PATTERN, STRATEGY_ID_PATTERN } from '../../shared/ids.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';
import type { JsonSchema, Refer } from '../openapi/json-schema.ts';
import { deprecatedMeta } from '../row-deprecation.ts';
import { EXAMPLE_ADDRESS, EXAMPLE_MARKET_ID } from '../schemas/common.ts';
import type { Conversions } from './conversion.ts';
import { conversionOf } from './project.ts';
import type { Member, Shape } from './shape.ts';

/** The JSON schema of the bodies of a shape. A fragment that is the whole selection of a field is a named schema. */
export function schemaOfShape(shape: Shape, conversions: Conversions, refer: Refer): JsonSchema {
  const { fragment, choices, type } = shape;
  if (choices) return { anyOf: choices.map((choice) => schemaOfShape(choice, conversions, refer)) };
  const make = () => ({ description: type.description ?? '', ...objectSchema(shape, conversions, refer) });
  const named = () => (hasGaps(make().properties) ? make() : withoutGaps(make()));
  return fragment === undefined ? objectSchema(shape, conversions, refer) : refer(fragment, named);
}

interface ObjectSchema extends JsonSchema {
  readonly type: 'object';
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/** A property while the object is put together: members may be placed inside of each other. */
interface Properties {
  readonly required: Set<string>;
  readonly properties: Map<string, JsonSchema>;
}

/** The same of an object without a name, for a body that has more beside it. */
export function objectSchema(shape: Shape, conversions: Conversions, refer: Refer): ObjectSchema {
  const own: Properties = { required: new Set(), properties: new Map() };
  const shown = shape.members.filter(({ isHidden }) => !isHidden);
  const paths = shown.map(pathOf);
  for (const [i, member] of shown.entries()) {
    // An object that others are placed in is no named schema.
    const isOpen = paths.some((path, j) => j !== i && `${path}.`.startsWith(`${paths[i]}.`));
    add(own, member, { isOpen, isTogether: isTogether(member, shown) }, conversions, refer);
  }
  return closed(own);
}

/** What a field of the schema declares for its JSON beside its type. */
interface FieldExtensions {
  /** Keywords by which its values are narrower than those of its type. */
  readonly jsonSchema?: JsonSchema | undefined;
  /** Name of a thing; the fields with the same one are null together, when there is none. */
  readonly nullWith?: string | undefined;
}

const extensionsOf = ({ extensions }: Member['field']): FieldExtensions => extensions as object;

/**
 * Whether the members of the object that is made for a place are there together: all are of the same types, and null together if
 * they are nullable.
 */
function isTogether({ name, place, types, field }: Member, shown: readonly Member[]): boolean {
  const [first = name] = place ?? [];
  const group = shown.filter((other) => (other.place?.[0] ?? other.name) === first);
  const { nullWith } = extensionsOf(field);
  return (
    group.length > 1 &&
    group.every(
      (other) =>
        other.types.size === types.size &&
        [...other.types].every((type) => types.has(type)) &&
        (!nullWith || extensionsOf(other.field).nullWith === nullWith),
    )
  );
}

const pathOf = ({ name, place }: Member) => (place ?? [name]).join('.');

function closed({ required, properties: shown }: Properties): ObjectSchema {
  const properties = Object.fromEntries(shown);
  const told = hasGaps(properties)
    ? properties
    : Object.fromEntries([...shown].map(([name, schema]) => [name, withoutGaps(schema)]));
  return { type: 'object', required: [...required], properties: told };
}

const hasGaps = (properties: ObjectSchema['properties']) => 'gaps' in properties || 'gap' in properties;

/** Leave out of a description where the graph has the reason of a `null`: the answer does not show it. */
function withoutGaps<S extends JsonSchema>(schema: S): S {
  const { description } = schema;
  if (typeof description !== 'string') return schema;
  const text = description.replace(/[;,:] (?:(?:and|see|its|`null` = see) )*`gaps`[^.;]*|(?<=\.) `gaps` .*$/g, '');
  return text === description ? schema : { ...schema, description: text };
}

function add(
  own: Properties,
  member: Member,
  { isOpen, isTogether }: { readonly isOpen: boolean; readonly isTogether: boolean },
  conversions: Conversions,
  refer: Refer,
): void {
  const { name, place, about, isAlways, keepsNull, field, shape } = member;
  const conversion = conversionOf(member, conversions);
  const isAnswered =
    conversion?.mayBeAbsent !== true &&
    (isNonNullType(field.type) || keepsNull === 'always' || conversion?.takesNull === true);
  const isRequired = isAlways && isAnswered;
  if (place?.length === 0) {
    const inline = shape ? objectSchema(shape, conversions, refer) : { type: 'object' };
    const plain = isListType(getNullableType(field.type)) ? { type: 'array', items: inline } : inline;
    const joined = (conversion?.schema(plain, refer) ?? plain) as ObjectSchema;
    for (const [key, schema] of Object.entries(joined.properties)) own.properties.set(key, schema);
    for (const key of isRequired ? joined.required : []) own.required.add(key);
    return;
  }
  const whole = memberSchema(isOpen ? withoutFragment(member) : member, conversions, refer);
  const isRequiredThere = isTogether ? isAnswered || extensionsOf(field).nullWith !== undefined : isRequired;
  // Without the member, those that are placed in it are alone.
  const schema = isOpen && !isRequiredThere ? { ...whole, required: [] } : whole;
  const [first = name, ...rest] = place ?? [name];
  own.properties.set(first, placed(own.properties.get(first), rest, schema, { isRequired: isRequiredThere, about }));
  if (isRequired) own.required.add(first);
}

/** Put the schema of a member inside of another one. */
function placed(
  known: JsonSchema | undefined,
  [name, ...rest]: readonly string[],
  schema: JsonSchema,
  as: { readonly isRequired: boolean; readonly about: string | undefined },
): JsonSchema {
  if (name === undefined) return known === undefined ? schema : joinedSchemas(schema, known);
  const { properties = {}, required = [] } = (known ?? {}) as Partial<ObjectSchema>;
  return {
    ...(as.about === undefined ? {} : { description: as.about }),
    ...known,
    type: 'object',
    required: as.isRequired && !required.includes(name) ? [...required, name] : required,
    properties: { ...properties, [name]: placed(properties[name], rest, schema, { ...as, about: undefined }) },
  };
}

function joinedSchemas(one: JsonSchema, other: JsonSchema): JsonSchema {
  const [a, b] = [one, other] as [ObjectSchema, ObjectSchema];
  return {
    ...a,
    ...b,
    required: [...new Set([...a.required, ...b.required])],
    properties: { ...a.properties, ...b.properties },
  };
}

function withoutFragment({ shape, ...member }: Member): Member {
  return { ...member, shape: shape && { ...shape, fragment: undefined } };
}

function memberSchema(member: Member, conversions: Conversions, refer: Refer): JsonSchema {
  const { field, keepsNull } = member;
  const plain = { ...typeSchema(field.type, member, conversions, refer), ...extensionsOf(field).jsonSchema };
  const conversion = conversionOf(member, conversions);
  const shown = inRange(conversion?.schema(plain, refer) ?? plain);
  const schema = keepsNull ? { anyOf: [shown, { type: 'null' }] } : shown;
  const says = typeof conversion?.says === 'function' ? conversion.says(plain) : conversion?.says;
  const reason = field.deprecationReason ?? undefined;
  const description = [field.description, says, reason].filter(Boolean).join(' ');
  return { ...(description === '' ? {} : { description }), ...schema, ...deprecatedMeta(deprecationOf(reason ?? '')) };
}

/** Bounds of JSON Schema are those of JSON numbers. One that is not included replaces the included one of the type. */
function inRange({ minimum, maximum, exclusiveMinimum, ...schema }: JsonSchema): JsonSchema {
  if (schema.type !== 'integer' && schema.type !== 'number') return schema;
  return {
    ...schema,
    ...withoutUndefined(exclusiveMinimum === undefined ? { minimum, maximum } : { exclusiveMinimum, maximum }),
  };
}

function typeSchema(type: GraphQLOutputType, member: Member, conversions: Conversions, refer: Refer): JsonSchema {
  if (isNonNullType(type)) return typeSchema(type.ofType, member, conversions, refer);
  if (isListType(type)) return { type: 'array', items: typeSchema(type.ofType, member, conversions, refer) };
  if (member.shape) return schemaOfShape(member.shape, conversions, refer);
  return leafSchema(type, member);
}

/** Words by which a field says that its number may be negative. Others are 0 or more. */
const SIGNED = /\bsigned\b|negative/i;

function leafSchema(type: GraphQLNamedType, { field, isNumber }: Member): JsonSchema {
  if (isEnumType(type)) return { type: 'string', enum: valuesOf(type) };
  const isUnsigned = !SIGNED.test(field.description ?? '');
  const range = isUnsigned ? { minimum: 0 } : {};
  if (isNumber) return { type: 'number', ...range };
  switch (type.name) {
    case 'Decimal':
      return { type: 'string', pattern: isUnsigned ? '^\\d+(\\.\\d+)?$' : '^-?\\d+(\\.\\d+)?$' };
    case 'BigInteger':
      return { type: 'string', pattern: isUnsigned ? '^\\d+$' : '^-?\\d+$' };
    case 'ChainId':
      return { type: 'integer', minimum: 1, format: 'int32' };
    case 'NonNegativeInt':
      return { type: 'integer', minimum: 0, format: 'int32' };
    case 'Int':
      return { type: 'integer', ...range, format: 'int32' };
    case 'Float':
      return { type: 'number', ...range };
    case 'Boolean':
      return { type: 'boolean' };
    case 'DateTime':
      return { type: 'string', format: 'date-time' };
    case 'Address':
      return { type: 'string', pattern: ADDRESS_PATTERN.source, examples: [EXAMPLE_ADDRESS] };
    case 'MarketId':
      return { type: 'string', pattern: MARKET_ID_PATTERN.source, examples: [EXAMPLE_MARKET_ID] };
    case 'URL':
      return { type: 'string', format: 'uri' };
    case 'UUID':
      return { type: 'string', format: 'uuid' };
    case 'HexData':
      return { type: 'string', pattern: '^0x([0-9a-f]{2})*$', examples: ['0x095ea7b3'] };
    case 'JSONObject':
    case 'PortfolioDocument':
      return { type: 'object' };
    case 'StrategyId':
      return { type: 'string', pattern: STRATEGY_ID_PATTERN.source, examples: [EXAMPLE_MARKET_ID] };
    case 'String':
    case 'ID':
    case 'PositionId':
      return { type: 'string' };
    default:
      throw new Error(`the scalar ${type.name} has no JSON schema`);
  }
}

/** The values as the rows have them. */
function valuesOf(type: GraphQLEnumType): unknown[] {
  return type.getValues().map(({ value }) => value);
}
