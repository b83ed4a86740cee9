import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';

/** Something of the schema that breaks a convention. */
export interface Fault {
  /** `Type`, `Type.field`, `Type.field(argument)` or `Enum.VALUE`. */
  readonly coordinate: string;
  readonly rule: string;
  readonly message: string;
}

interface Part {
  readonly coordinate: string;
  readonly name: string;
  readonly description: string | null | undefined;
}
interface OutputPart extends Part {
  readonly kind: 'field';
  readonly parent: GraphQLNamedType;
  readonly field: GraphQLField<unknown, unknown>;
  readonly type: GraphQLOutputType;
}
interface InputPart extends Part {
  readonly kind: 'input';
  readonly parent: GraphQLNamedType;
  readonly input: GraphQLInputField | GraphQLArgument;
  readonly type: GraphQLInputType;
}
interface OtherPart extends Part {
  readonly kind: 'type' | 'value';
}
type AnyPart = OutputPart | InputPart | OtherPart;

/** Everything of a schema that has a name, its own types only. */
function partsOf(schema: GraphQLSchema): AnyPart[] {
  return Object.values(schema.getTypeMap())
    .filter(({ name }) => !name.startsWith('__') && !BUILT_IN.has(name))
    .flatMap((type): AnyPart[] => [
      { kind: 'type', coordinate: type.name, name: type.name, description: type.description },
      ...membersOf(type),
    ]);
}

const BUILT_IN: ReadonlySet<string> = new Set(['String', 'Int', 'Float', 'Boolean', 'ID']);

function membersOf(type: GraphQLNamedType): AnyPart[] {
  const at = (name: string) => `${type.name}.${name}`;
  if (isEnumType(type)) {
    return type
      .getValues()
      .map(({ name, description }) => ({ kind: 'value', coordinate: at(name), name, description }));
  }
  if (isInputObjectType(type)) {
    return Object.values(type.getFields()).map((input) => inputPart(type, at(input.name), input));
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).flatMap((field): AnyPart[] => [
    {
      kind: 'field',
      coordinate: at(field.name),
      name: field.name,
      description: field.description,
      parent: type,
      field,
      type: field.type,
    },
    ...field.args.map((arg) => inputPart(type, `${at(field.name)}(${arg.name})`, arg)),
  ]);
}

function inputPart(
  parent: GraphQLNamedType,
  coordinate: string,
  input: GraphQLInputField | GraphQLArgument,
): InputPart {
  return {
    kind: 'input',
    coordinate,
    name: input.name,
    description: input.description,
    parent,
    input,
    type: input.type,
  };
}

type Rule = (part: AnyPart, schema: GraphQLSchema) => string | readonly string[] | undefined;

const isFieldLike = (part: AnyPart): part is OutputPart | InputPart => part.kind === 'field' || part.kind === 'input';
const typeName = (part: OutputPart | InputPart): string => getNamedType(part.type).name;
const isConnection = (type: GraphQLOutputType): boolean => getNamedType(type).name.endsWith('Connection');
const isList = (type: GraphQLOutputType | GraphQLInputType): boolean => isListType(getNullableType(type));

const casing: Rule = ({ kind, name }) => {
  if (kind === 'type') return /^[A-Z][A-Za-z0-9]*$/.test(name) ? undefined : 'types are PascalCase';
  if (kind === 'value')
    return /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(name) ? undefined : 'values are SCREAMING_SNAKE_CASE';
  return /^[a-z][A-Za-z0-9]*$/.test(name) ? undefined : 'fields and arguments are camelCase';
};

const description: Rule = ({ description: text }) => (text ? undefined : 'has no description');

/** Names end with their unit, and only names state units. */
const units: Rule = (part) => {
  if (!isFieldLike(part)) return undefined;
  const { name } = part;
  const type = typeName(part);
  const faults: string[] = [];
  const ends = (...endings: readonly string[]) =>
    endings.some((ending) => name.endsWith(ending) || name === ending.toLowerCase());
  const needs = (ending: string, wanted: readonly string[]) => {
    if (ends(ending) && !wanted.includes(type)) faults.push(`…${ending} is ${wanted.join(' or ')}, not ${type}`);
  };
  needs('Pct', ['Decimal', 'PctMeans', 'WindowMeans']);
  needs('Usd', ['Decimal', 'KnownTotal']);
  // Slippage may be a fraction of a basis point.
  needs('Bps', ['NonNegativeInt', 'Decimal']);
  needs('Sec', part.kind === 'input' ? ['Int'] : ['NonNegativeInt']);
  needs('Wad', ['BigInteger']);
  if (type === 'DateTime' && !/(^at|At|^asOf|AsOf|^since|Since|Before|After)$/.test(name))
    faults.push('times end with At or AsOf');
  if (/Ms$/.test(name)) faults.push('times are DateTime, not milliseconds');
  if (/\bWAD\b|1e18/.test(part.description ?? '') && !ends('Wad')) faults.push('WAD values end with Wad');
  if (type === 'Decimal' && /\bpercent\b/i.test(part.description ?? '') && !/Pct/.test(name) && !ends('Usd'))
    faults.push('percents end with Pct');
  return faults;
};

/** Objects with an identity are nodes, and only a node has an `id`. */
const identity: Rule = (part, schema) => {
  if (part.kind === 'input' && (part.name === 'id' || part.name === 'ids')) {
    return typeName(part) === 'ID' ? undefined : 'domain ids have names of their own; `id` is a global id';
  }
  if (part.kind !== 'field' || part.name !== 'id') return undefined;
  if (String(part.type) !== 'ID!') return '`id` is ID!';
  if (part.parent.name === 'Node') return undefined;
  const node = schema.getType('Node');
  const implementing = (isObjectType(part.parent) || isInterfaceType(part.parent)) && part.parent.getInterfaces();
  return implementing && isInterfaceType(node) && implementing.includes(node)
    ? undefined
    : 'has an `id` and is no Node';
};

const connections: Rule = (part) => {
  if (part.kind === 'type' && part.name.endsWith('Connection')) return undefined;
  if (part.kind !== 'field') return undefined;
  const args = new Map(part.field.args.map((arg) => [arg.name, arg]));
  if (!isConnection(part.type))
    return args.has('first') || args.has('after') ? 'pages without a connection' : undefined;
  const faults: string[] = [];
  for (const [name, type] of Object.entries({ first: 'Int', last: 'Int', after: 'String', before: 'String' })) {
    const arg = args.get(name);
    if (!arg) faults.push(`a connection takes ${name}`);
    else if (String(arg.type) !== type || arg.defaultValue !== undefined)
      faults.push(`${name} is ${type} without a default`);
  }
  return faults;
};

const connectionShape: Rule = (part, schema) => {
  if (part.kind !== 'type' || !part.name.endsWith('Connection')) return undefined;
  const type = schema.getType(part.name);
  const fields = isObjectType(type) ? type.getFields() : {};
  return ['edges', 'nodes', 'pageInfo', 'totalCount'].filter((name) => !fields[name]).map((name) => `lacks ${name}`);
};

/** One field that fails leaves the others. */
const nullableRoots: Rule = (part) =>
  part.kind === 'field' && (part.parent.name === 'Query' || part.parent.name === 'Ops') && isNonNullType(part.type)
    ? 'fields of Query and Ops are nullable'
    : undefined;

/**
 * Read the number of entries that a list has at most. `gaps` has one for each of the fields, and states no other number;
 * `undefined` = the description states none.
 */
export function statedBound(field: string, description: string | null | undefined): number | undefined {
  const text = description ?? '';
  if (field === 'gaps' && text.endsWith('at most one entry per field.')) return Number.POSITIVE_INFINITY;
  const number = /\bat most (\d+)\b/i.exec(text)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** Every list states the number of its entries at most, pages and edges too. */
const bounds: Rule = (part) => {
  if (part.kind !== 'field' || !isList(part.type)) return undefined;
  return statedBound(part.name, part.description) === undefined
    ? 'a list states the number of its entries at most'
    : undefined;
};

const ENVELOPES = /^(Query|Mutation|Subscription|Ops|PageInfo)$|(Connection|Edge)$/;

/** A field that may be `null` is explained by `gaps` of its object or the one around it, or has one meaning: "`null` = …". */
const absence: Rule = (part) => {
  if (part.kind !== 'field' || ENVELOPES.test(part.parent.name) || part.name === 'gaps') return undefined;
  const text = part.description ?? '';
  const isExplained = /`null` = /.test(text);
  if (/`null`/.test(text) && !isExplained) return 'absence is told as "`null` = …", or by `gaps`';
  if (isNonNullType(part.type)) return isExplained ? 'tells of a `null` that cannot be' : undefined;
  const type = part.parent;
  const hasGaps = (isObjectType(type) || isInterfaceType(type)) && type.getFields().gaps !== undefined;
  return isExplained || hasGaps || /`gaps`/.test(type.description ?? '')
    ? undefined
    : 'does not tell what `null` means';
};

const chains: Rule = (part) =>
  part.kind === 'input' && /^chainIds?$/.test(part.name) && part.input.defaultValue !== undefined
    ? 'no chain is a default'
    : undefined;

/** Words of fixed sets. */
const FIXED =
  /^(kind|status|type|reason|severity|action|group|direction|method|code|policy|profile|category|timeframe)s?$/;
const enums: Rule = (part) =>
  isFieldLike(part) && FIXED.test(part.name) && typeName(part) === 'String'
    ? 'words of a fixed set are an enum'
    : undefined;

const RULES: Readonly<Record<string, Rule>> = {
  casing,
  description,
  units,
  identity,
  connections,
  connectionShape,
  nullableRoots,
  bounds,
  absence,
  chains,
  enums,
};

/** Check every part of a schema by itself, and then names against each other. */
export function lint(schema: GraphQLSchema): Fault[] {
  const parts = partsOf(schema);
  const faults = parts.flatMap((part) =>
    Object.entries(RULES).flatMap(([rule, check]) =>
      [check(part, schema) ?? []].flat().map((message) => ({ coordinate: part.coordinate, rule, message })),
    ),
  );
  return [...faults, ...meanings(parts), ...unused(schema)];
}

/** Every type is that of a field or argument, a member of a union, or an implementation of an interface. */
function unused(schema: GraphQLSchema): Fault[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__') && !BUILT_IN.has(name));
  const used = new Set<string>(roots.flatMap((root) => (root ? [root.name] : [])));
  for (const part of partsOf(schema)) if (isFieldLike(part)) used.add(typeName(part));
  for (const type of types) {
    if (isUnionType(type) || isInterfaceType(type))
      for (const { name } of schema.getPossibleTypes(type)) used.add(name);
    if (isObjectType(type)) for (const { name } of type.getInterfaces()) used.add(name);
  }
  const idle = types.filter(({ name }) => !used.has(name));
  return idle.map(({ name }) => ({ coordinate: name, rule: 'unused', message: 'nothing refers to it' }));
}

/** One name means one thing: an object or a value, and an id of one type. */
function meanings(parts: readonly AnyPart[]): Fault[] {
  const named = new Map<string, OutputPart[]>();
  for (const part of parts) {
    if (part.kind !== 'field' || /^(Query|Subscription)$|(Connection|Edge)$/.test(part.parent.name)) continue;
    named.set(part.name, [...(named.get(part.name) ?? []), part]);
  }
  return [...named].flatMap(([name, fields]) => {
    const leaves = fields.filter(({ type }) => isLeafType(getNamedType(type)));
    const mixed = leaves.length > 0 && leaves.length < fields.length;
    const few = leaves.length * 2 <= fields.length ? leaves : fields.filter((field) => !leaves.includes(field));
    const faults = mixed
      ? few.map(({ coordinate }) => ({
          coordinate,
          rule: 'meanings',
          message: `${name} is an object here and a value there`,
        }))
      : [];
    const types = new Set(leaves.map((part) => typeName(part)));
    if (/(Id|Index)$/.test(name) && types.size > 1) {
      faults.push(
        ...leaves.map((part) => ({
          coordinate: part.coordinate,
          rule: 'meanings',
          message: `${name} is ${[...types].join(' and ')}`,
        })),
      );
    }
    return faults;
  });
}
