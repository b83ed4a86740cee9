import { execute, isInterfaceType, isNonNullType, isObjectType, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { type ChainFacts, emptyGroup, type FactGroup, type Failure } from '../../src/domain/facts.ts';
import type { AppContext } from '../../src/resolvers/common/context.ts';
import { buildSchema } from '../../src/schema/index.ts';
import { chainOf, completeFacts, NOW_MS } from '../domain/world.ts';
import { CHAIN_IDS, contextOf, servicesOf } from '../resolvers/world.ts';
import { absencesIn, leads, nullableSelection } from '../support/gap-paths.ts';

/** `gaps` names fields that exist, and names every field that is `null`, for any unknown input. */

const schema = buildSchema();
/** Fields that have gaps of their own or an upstream behind them. */
const ELSEWHERE = [
  'priceChart',
  'candles',
  'leveragedApyHistory',
  'borrowApyHistory',
  'collateralApyHistory',
  'borrowIncentiveHistory',
];
const on = (name: string) => nullableSelection(schema, schema.getType(name) as never, ELSEWHERE);
const QUERIES = [
  `{ chains { ${on('Chain')} deployment { ${on('ChainDeployment')} } } tvl { totals { ${on('TvlTotals')} } chains { ${on('ChainTvl')} } } stableIndex { ${on('StableIndex')} } }`,
  `{ tokens(first: 200) { nodes { ${on('Token')} } } }`,
  `{ markets(first: 100) { nodes { ${on('Market')} deployment { ${on('MarketDeployment')} } } } }`,
  `{ strategies(filter: { listedOnly: false }, first: 100) { nodes { ${on('Strategy')} } } }`,
  `{ chains { ${['BORROW_APY', 'COLLATERAL_APY', 'BORROW_INCENTIVE_APR'].map((kind) => `${kind}: rateHistories(kind: ${kind}) { ${on('RateHistory')} }`).join(' ')} } }`,
];

/** Parsed and validated once: they are long, and asked of every world. */
const DOCUMENTS = QUERIES.map((source) => parse(source));

const COMPLETE: readonly ChainFacts[] = CHAIN_IDS.map((chainId) => completeFacts(chainOf(chainId)));
const GROUPS = Object.keys(COMPLETE[0]?.groups ?? {}) as FactGroup[];
const failure = (reason: Failure['reason']): Failure => ({ reason, source: 'test', sinceMs: NOW_MS - 1_000 });
/** The facts without a group: never tried, or failed for one of the reasons. */
const without = (group: FactGroup, reason?: Failure['reason']): ChainFacts[] =>
  COMPLETE.map((facts) => {
    const { items, failures } = facts.groups[group];
    const failed = [...items.keys(), ...failures.keys()].map((key) => [key, failure(reason ?? 'timeout')] as const);
    const gone = {
      ...emptyGroup<never>(),
    };
    const failing = { ...gone, failures: new Map(failed), lastAttemptMs: NOW_MS };
    return { ...facts, groups: { ...facts.groups, [group]: reason === undefined ? gone : failing } };
  });
const WORLDS: readonly (readonly [string, () => AppContext])[] = [
  ['everything known', () => contextOf(servicesOf(COMPLETE))],
  ...GROUPS.flatMap((group) =>
    ([undefined, 'timeout', 'implausible', 'not_configured'] as const).map(
      (reason) =>
        [`no ${group}: ${reason ?? 'never tried'}`, () => contextOf(servicesOf(without(group, reason)))] as const,
    ),
  ),
];

test('default: the queries are valid', () => {
  expect(DOCUMENTS.flatMap((document) => validate(schema, document))).toEqual([]);
});

describe.each(WORLDS)('%s', (_name, contextFor) => {
  test('default: every path leads to a field, and every empty field has a reason', async () => {
    const contextValue = contextFor();
    for (const document of DOCUMENTS) {
      const { data, errors = [] } = await execute({ schema, document, contextValue });
      // A value that no chain knows is an error of its field.
      const other = errors.filter(
        ({ originalError }) => (originalError as { code?: string } | null)?.code !== 'not_ready',
      );
      expect(other).toEqual([]);
      expect(absencesIn(schema, data)).toMatchObject({ astray: [], unexplained: [] });
    }
  });
});

test('behavior: the check detects a path that does not exist', () => {
  const strategy = schema.getType('LoopStrategy');
  if (!strategy) throw new Error('LoopStrategy expected');
  const is = (path: string) => leads(schema, strategy, path.split('.'));
  expect(
    ['curator', 'visibility.checks.HAS_YIELD', 'leverageApyMeans.avg30dPct', 'exitLiquidity.slippages.100000'].map(is),
  ).toEqual([true, true, true, true]);
  expect(
    ['nothing', 'curator.x', 'visibility.checks.NOTHING', 'leverageApyMeans.avg30d', 'ltvLimits.0'].map(is),
  ).toEqual([false, false, false, false, false]);
});

test('behavior: every type with nullable fields documents how their absence is reported', () => {
  const roots = ['Query', 'Mutation', 'Ops'];
  const silent = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .filter((type) => !type.name.startsWith('__') && !roots.includes(type.name))
    .filter((type) => type.getFields().gaps === undefined && !/`(null|gaps)`/.test(type.description ?? ''))
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })))
    .filter(({ field }) => !isNonNullType(field.type) && !/`null`/.test(field.description ?? ''))
    .map(({ type, field }) => `${type.name}.${field.name}`);
  expect(silent).toEqual([]);
});
