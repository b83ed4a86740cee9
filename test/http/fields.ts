import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { type FieldScope, scopeOf } from '../../src/limits/field-scopes.ts';

export type Tier = 'anonymous' | 'partner' | 'ops';

/** One field of the schema with a query that selects it, and the arguments on its path. */
export interface AskedField {
  readonly coordinate: string;
  readonly query: string;
  readonly scope: FieldScope;
  /** The field with its required arguments and, unless it is a leaf, a selection. */
  readonly selection: string;
  /** The text around a selection on its type. */
  readonly wrap: (selection: string) => string;
}

const RANK: Readonly<Record<FieldScope, number>> = { public: 0, partner: 1, ops: 2 };
const TIER_RANK: Readonly<Record<Tier, number>> = { anonymous: 0, partner: 1, ops: 2 };

export function isAllowed(scope: FieldScope, tier: Tier): boolean {
  return TIER_RANK[tier] >= RANK[scope];
}

const MARKET_ID = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const SAMPLES: Readonly<Record<string, unknown>> = {
  Address: '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497',
  BigInteger: '1',
  Boolean: true,
  ChainId: 1,
  DateTime: '2026-06-01T00:00:00.000Z',
  Decimal: '1',
  Float: 1,
  HexData: '0x',
  ID: '1',
  Int: 1,
  MarketId: MARKET_ID,
  PositionId: '1-0',
  StrategyId: MARKET_ID,
  String: 'ethereum',
};

/** A value that an input accepts; objects have their required fields only. */
export function sampleOf(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType);
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [sampleOf(nullable.ofType)];
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name;
  if (isInputObjectType(nullable)) {
    const required = Object.values(nullable.getFields()).filter((field) => isNonNullType(field.type));
    const named = nullable.isOneOf ? Object.values(nullable.getFields()).slice(0, 1) : required;
    return Object.fromEntries(named.map((field) => [field.name, sampleOf(field.type)]));
  }
  const sample = SAMPLES[nullable.name];
  if (sample === undefined) throw new Error(`no sample for ${nullable.name}`);
  return sample;
}

function literal(type: GraphQLInputType, value: unknown): string {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return `[${(value as unknown[]).map((item) => literal(nullable.ofType, item)).join(' ')}]`;
  if (isEnumType(nullable)) return String(value);
  if (isInputObjectType(nullable)) {
    const fields = nullable.getFields();
    const entries = Object.entries(value as object).flatMap(([name, item]) => {
      const field = fields[name];
      return field ? [`${name}:${literal(field.type, item)}`] : [];
    });
    return `{${entries.join(' ')}}`;
  }
  return JSON.stringify(value);
}

/** A field with a value for every argument that it requires. */
export function callOf(field: GraphQLField<unknown, unknown>): string {
  // Pages of one: full pages inside each other exceed the limit of the cost.
  const required = field.args.filter(
    (arg) => arg.name === 'first' || (isNonNullType(arg.type) && arg.defaultValue === undefined),
  );
  if (required.length === 0) return field.name;
  return `${field.name}(${required.map((arg) => `${arg.name}:${literal(arg.type, sampleOf(arg.type))}`).join(' ')})`;
}

interface Way {
  readonly scope: FieldScope;
  /** The text around a selection on the type. */
  readonly wrap: (selection: string) => string;
}

/** Every field of every object that queries and mutations can reach, by the way that needs the least. */
export function everyField(schema: GraphQLSchema): AskedField[] {
  const roots = [schema.getQueryType(), schema.getMutationType()].filter((root) => root != null);
  const ways = new Map<GraphQLObjectType, Way>(
    roots.map((root) => [root, { scope: 'public', wrap: (selection) => `${root.name.toLowerCase()}{${selection}}` }]),
  );
  for (const allowed of ['public', 'partner', 'ops'] as const) spread(schema, ways, allowed);
  return [...ways].flatMap(([type, way]) =>
    Object.values(type.getFields()).map((field) => {
      const selection = isLeafType(getNamedType(field.type)) ? callOf(field) : `${callOf(field)}{__typename}`;
      return {
        coordinate: `${type.name}.${field.name}`,
        query: way.wrap(selection),
        scope: stricter(way.scope, scopeOf(field)),
        selection,
        wrap: way.wrap,
      };
    }),
  );
}

/**
 * The fields that a caller may read, those of one type together in one query, and each other field in a query of its own: a
 * query is answered if all of its fields are allowed, and refused if one of them is not.
 */
export function togetherIfAllowed(fields: readonly AskedField[], tier: Tier): readonly AskedField[] {
  const alone = fields.filter(({ scope, query }) => !isAllowed(scope, tier) || query.startsWith('mutation'));
  const byType = new Map<AskedField['wrap'], AskedField[]>();
  for (const field of fields) {
    if (!alone.includes(field)) byType.set(field.wrap, [...(byType.get(field.wrap) ?? []), field]);
  }
  const together = [...byType].flatMap(([wrap, ofType]) =>
    Array.from({ length: Math.ceil(ofType.length / MOST_TOGETHER) }, (_, i): AskedField => {
      const part = ofType.slice(i * MOST_TOGETHER, (i + 1) * MOST_TOGETHER);
      const selection = part.map((field) => field.selection).join(' ');
      const [scope = 'public'] = part.map((field) => field.scope).sort((a, b) => RANK[b] - RANK[a]);
      return {
        coordinate: part.map(({ coordinate }) => coordinate).join(' '),
        query: wrap(selection),
        scope,
        selection,
        wrap,
      };
    }),
  );
  return [...alone, ...together];
}

/** More would exceed the limit of the cost of a query. */
const MOST_TOGETHER = 8;

function stricter(a: FieldScope, b: FieldScope): FieldScope {
  return RANK[a] >= RANK[b] ? a : b;
}

/** Breadth first, so that ways are short; only over fields that need at most `allowed`. */
function spread(schema: GraphQLSchema, ways: Map<GraphQLObjectType, Way>, allowed: FieldScope): void {
  const queue = [...ways.keys()];
  for (let type = queue.shift(); type !== undefined; type = queue.shift()) {
    const way = ways.get(type);
    if (!way) continue;
    for (const field of Object.values(type.getFields())) {
      // The field does not show the rights that a global id needs.
      if (getNamedType(field.type).name === 'Node') continue;
      const scope = stricter(way.scope, scopeOf(field));
      if (RANK[scope] > RANK[allowed]) continue;
      const named: GraphQLNamedType = getNamedType(field.type);
      const targets = isAbstractType(named) ? schema.getPossibleTypes(named) : isObjectType(named) ? [named] : [];
      for (const target of targets) {
        if (ways.has(target)) continue;
        const on = (selection: string) => (isAbstractType(named) ? `... on ${target.name}{${selection}}` : selection);
        ways.set(target, { scope, wrap: (selection) => way.wrap(`${callOf(field)}{${on(selection)}}`) });
        queue.push(target);
      }
    }
  }
}
