import { type GraphQLOutputType, getNamedType, getNullableType, graphql, isListType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import type { StableIndexPool } from '../../src/domain/facts.ts';
import { readStableIndex } from '../../src/resolvers/market/stable-index.ts';
import { EXAMPLES } from '../../src/schema/examples.ts';
import { buildSchema } from '../../src/schema/index.ts';
import {
  MAX_CHAINS,
  MAX_CHART_POINTS,
  MAX_INDEX_POOLS,
  MAX_LIQUIDITY_SOURCES,
} from '../../src/shared/contract/list-bounds.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { mapPriceChart } from '../../src/upstreams/coingecko/map.ts';
import { mapSharedLiquidity } from '../../src/upstreams/morpho-api/map.ts';
import { chainOf, completeFacts, NOW_MS } from '../domain/world.ts';
import { completeContext, contextOf, servicesOf } from '../resolvers/world.ts';
import { statedBound } from './lint/rules.ts';

const schema = buildSchema();

/** Every list of the schema, from the schema itself, with the number of entries that it states. */
const BOUNDS: ReadonlyMap<string, number | undefined> = new Map(
  Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
    .flatMap((type) =>
      isObjectType(type)
        ? Object.values(type.getFields())
            .filter((field) => isListType(getNullableType(field.type)))
            .map((field) => [`${type.name}.${field.name}`, statedBound(field.name, field.description)] as const)
        : [],
    ),
);

/** Every selection down to a depth, with `__typename` at each object, without arguments that have to be given. */
function selectionOf(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  const members = isObjectType(named)
    ? [named]
    : 'getFields' in named
      ? [...schema.getPossibleTypes(named as never)]
      : [];
  if (members.length === 0) return '';
  const of = (member: (typeof members)[number], prefix: string) =>
    Object.values(member.getFields())
      .filter(
        ({ name, args }) =>
          !ON_DEMAND.has(name) &&
          args.every((arg) => String(arg.type).at(-1) !== '!' || arg.defaultValue !== undefined),
      )
      .flatMap((field) => {
        const isLeaf = !('getFields' in getNamedType(field.type));
        if (isLeaf) return [`${prefix}${field.name}: ${field.name}`];
        const inner = depth > 0 ? selectionOf(field.type, depth - 1) : '';
        return inner === '' ? [] : [`${prefix}${field.name}: ${field.name} ${inner}`];
      })
      .join(' ');
  const body = members
    .map((member) => `... on ${member.name} { __typename ${of(member, `${member.name}_`)} }`)
    .join(' ');
  return `{ __typename ${body} }`;
}
/** Fields that have an upstream behind them. */
const ON_DEMAND: ReadonlySet<string> = new Set(['priceChart', 'candles']);

/** Walk an answer with names `Type_field`, and return the lists that it has and those that break their bounds. */
function listsIn(value: unknown, found: Map<string, number>, repeated: string[]): void {
  if (Array.isArray(value)) for (const entry of value) listsIn(entry, found, repeated);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      const coordinate = key.replace('_', '.');
      if (Array.isArray(inner) && BOUNDS.has(coordinate)) {
        found.set(coordinate, Math.max(inner.length, found.get(coordinate) ?? 0));
        if (key.endsWith('_gaps')) {
          const fields = inner.map((gap) => (gap as Record<string, unknown>).Gap_field);
          if (new Set(fields).size !== fields.length) repeated.push(`${coordinate}: ${fields.join(', ')}`);
        }
      }
      listsIn(inner, found, repeated);
    }
  }
}

test('default: every list states the number of its entries', () => {
  expect(BOUNDS.size).toBeGreaterThan(100);
  expect([...BOUNDS].filter(([, bound]) => bound === undefined)).toEqual([]);
});

test('default: the answers of a complete world are within the stated numbers', async () => {
  const contextValue = completeContext();
  const query = schema.getQueryType()?.getFields() ?? {};
  const found = new Map<string, number>();
  const repeated: string[] = [];
  const roots: readonly (readonly [name: string, args: string, depth: number])[] = [
    ['chains', '', 2],
    ['tokens', '(first: 500)', 2],
    ['markets', '(first: 500)', 3],
    ['strategies', '(first: 500, filter: { listedOnly: false })', 3],
    ['freshness', '', 2],
    ['stableIndex', '', 2],
    ['tvl', '', 3],
  ];
  for (const [name, args, depth] of roots) {
    const field = query[name];
    if (!field) throw new Error(`${name} expected`);
    const source = `{ Query_${name}: ${name}${args} ${selectionOf(field.type, depth)} }`;
    const { data, errors } = await graphql({ schema, source, contextValue });
    expect(errors).toBeUndefined();
    listsIn(data, found, repeated);
  }
  const beyond = [...found].filter(([coordinate, length]) => length > (BOUNDS.get(coordinate) ?? 0));
  expect([beyond, repeated]).toEqual([[], []]);
  expect(found.size).toBeGreaterThan(30);
  expect([...found.values()].filter((length) => length > 0).length).toBeGreaterThan(20);
});

test.each(EXAMPLES.public.map((example) => [example.title, example] as const))(
  'default: the example "%s" has no list beyond the largest number',
  async (_, { query: source, variables }) => {
    const { data } = await graphql({
      schema,
      source,
      variableValues: { ...variables },
      contextValue: completeContext(),
    });
    const largest = new Map<string, number>();
    // Aliases of examples are free, so a name is held to the largest bound of its field name.
    for (const [coordinate, bound = 0] of BOUNDS) {
      const name = coordinate.split('.')[1] ?? '';
      largest.set(name, Math.max(bound, largest.get(name) ?? 0));
    }
    const beyond: string[] = [];
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        if (Array.isArray(inner) && inner.length > (largest.get(key) ?? Number.POSITIVE_INFINITY)) beyond.push(key);
        walk(inner);
      }
    };
    walk(data);
    expect(beyond).toEqual([]);
  },
);

test('behavior: of an index with too many pools the latest measured ones are shown', () => {
  const facts = completeFacts(chainOf(1));
  const pool = (id: string): StableIndexPool => ({ id, asset: 'A', avg7dPct: new Decimal(1), history: [] });
  const items = new Map(
    Array.from({ length: MAX_INDEX_POOLS + 5 }, (_, i) => [
      `pool-${i}`,
      { value: pool(`pool-${i}`), asOfMs: NOW_MS - (i < 5 ? 60_000 : 1_000), source: 'stableindex' },
    ]),
  );
  const groups = { ...facts.groups, stableIndex: { ...facts.groups.stableIndex, items } };
  const context = contextOf(servicesOf([{ ...facts, groups }, completeFacts(chainOf(4663))]));
  const { pools } = readStableIndex(context);
  expect(pools).toHaveLength(MAX_INDEX_POOLS);
  expect(pools.some(({ pool: { id } }) => id === 'pool-0')).toBe(false);
});

test('behavior: a chart with too many points keeps the latest, and too many sources keep the largest', () => {
  const prices = Array.from({ length: MAX_CHART_POINTS + 2 }, (_, i) => [NOW_MS - i * 1_000, i]);
  const { chart, dropped } = mapPriceChart({ prices, market_caps: [], total_volumes: [] }, NOW_MS);
  expect([chart.prices.length, chart.prices.at(-1)?.[0], dropped]).toEqual([MAX_CHART_POINTS, NOW_MS, 2]);
  const rows = Array.from({ length: MAX_LIQUIDITY_SOURCES + 2 }, (_, i) => ({
    assets: String(i + 1),
    vault: { address: `0x${'1'.repeat(40)}`, publicAllocatorConfig: { fee: '0' } },
    withdrawMarket: { marketId: `0x${i.toString(16).padStart(64, '0')}` },
  }));
  const shared = mapSharedLiquidity({ publicAllocatorSharedLiquidity: rows });
  const assets = shared.ok ? shared.value.sources.map((source) => source.assets) : [];
  expect([assets.length, assets[0], assets.at(-1)]).toEqual([MAX_LIQUIDITY_SOURCES, 1_002n, 3n]);
});

test('error: a catalog with more chains than the lists over it state is refused', () => {
  const [chain] = curatedChains;
  if (!chain) throw new Error('chain expected');
  const many = Array.from({ length: MAX_CHAINS + 1 }, (_, i) => ({
    ...chain,
    chainId: 1_000 + i,
    markets: [],
    equityVaults: [],
  }));
  expect(() => createCatalog(many)).toThrow(`${MAX_CHAINS + 1} chains, and at most ${MAX_CHAINS} are served`);
});
