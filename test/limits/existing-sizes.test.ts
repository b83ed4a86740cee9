import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pointsOf as createPointsOf } from '../../src/limits/points.ts';
import { createListSizes, existingPageSize } from '../../src/resolvers/common/list-sizes.ts';
import { type Front, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';

let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: { ...UNLIMITED, RATE_LIMIT_ANONYMOUS: '1000000' } });
});
afterAll(() => front.stop());

const NESTED: Readonly<Record<string, string>> = {
  strategies: 'nodes{id market{strategies{id ...on LoopStrategy{leverageLadder{leverage ltvPct}} gaps{field reason}}}}',
  markets: 'nodes{id strategies{id ...on LoopStrategy{leverageLadder{leverage ltvPct leverageApyPct}}}}',
  tokens: 'nodes{address name symbol gaps{field reason}}',
};

const costOf = async (list: string, args: string, variables: object = {}, head = '') => {
  const { body } = await front.graphql(`${head}{${list}(${args}){totalCount ${NESTED[list]}}}`, { variables });
  return { cost: body.extensions?.cost?.cost, count: body.data?.[list]?.totalCount, errors: body.errors };
};

describe('the cost of a list of the snapshot', () => {
  test.each(Object.keys(NESTED))('behavior: of %s counts what is there, nested lists included', async (list) => {
    const { count, cost: whole, errors } = await costOf(list, 'first:500');
    expect(errors).toBeUndefined();
    expect(count).toBeGreaterThan(0);
    expect((await costOf(list, `first:${count}`)).cost).toBeLessThanOrEqual(whole);
    // What is asked for counts where less is asked for.
    expect((await costOf(list, 'first:1')).cost).toBeLessThan(whole);
    expect((await costOf(list, 'last:500')).cost).toBe(whole);
  });

  test('behavior: counts the chains that are asked, by literals and variables, also when the document is known', async () => {
    const all = (await costOf('tokens', 'first:500')).cost;
    const [one, other] = [
      (await costOf('tokens', 'chainIds:[1] first:500')).cost,
      (await costOf('tokens', 'chainIds:[4663] first:500')).cost,
    ];
    expect(one + other).toBe(all + 1);
    const ofChains = (chainIds: readonly number[] | undefined) =>
      costOf('strategies', 'chainIds:$c first:500', { c: chainIds }, 'query($c:[ChainId!])');
    const costs = [];
    for (const chainIds of [undefined, [1], [4663], undefined, [4663], [1], [1, 4663]])
      costs.push((await ofChains(chainIds)).cost);
    const [whole, first, second] = costs;
    expect(costs).toEqual([whole, first, second, whole, second, first, whole]);
    expect(first + second).toBe(whole + 1);
  });
});

describe('the cost of work', () => {
  const pointsOf = async (query: string) => (await front.graphql(query)).body.extensions.cost.points;

  test('behavior: is not returned when the answer is short, or an error leaves nothing of it', async () => {
    const stress = (alias: string, args: string) => `${alias}:stress(${args}){positionCount}`;
    const tables = [1, 2, 3, 4].map((i) => stress(`a${i}`, `leverage:"1.${i}"`)).join(' ');
    const { body } = await front.graphql(`{strategies(first:2){nodes{${tables}}}}`);
    expect(body.errors).toBeUndefined();
    // Two strategies with four tables each, of 25 units.
    expect(body.extensions.cost.points).toBeGreaterThanOrEqual(2);
    const failing = stress('b', 'leverage:"99"');
    expect(await pointsOf(`{strategies(first:2){nodes{${tables} ${failing}}}}`)).toBeGreaterThanOrEqual(2);
  });

  test('behavior: a ranking costs ten points on every surface', async () => {
    const ranking =
      '{bestStrategies(amount:"1",payToken:"0xdAC17F958D2ee523a2206206994597C13D831ec7",maxDrawdownPct:"1",minExitUsd:"0"){rankedCount}}';
    expect(await pointsOf(ranking)).toBeGreaterThanOrEqual(10);
    expect(createPointsOf('BestStrategyRanking', 'Public')).toBe(10);
  });
});

describe('sizes', () => {
  const world = (chains: Readonly<Record<number, { markets: number; excluded: number }>>) =>
    createListSizes({
      catalog: { chainIds: Object.keys(chains).map(Number), chain: () => ({ tokens: [1, 2, 3] }) } as never,
      composed: ((id: number) => ({
        markets: Array.from({ length: chains[id]?.markets ?? 0 }),
        lookup: { indexed: Array.from({ length: chains[id]?.markets ?? 0 }) },
        excluded: Array.from({ length: chains[id]?.excluded ?? 0 }),
      })) as never,
    });

  test.each([
    ['what is there', { 1: { markets: 25, excluded: 0 } }, { first: 100 }, 25],
    ['what is asked for, when that is less', { 1: { markets: 25, excluded: 0 } }, { first: 10 }, 10],
    ['one at least', { 1: { markets: 0, excluded: 0 } }, { first: 10 }, 1],
    [
      'what is asked for, before a chain is measured',
      { 1: { markets: 25, excluded: 0 }, 2: { markets: 0, excluded: 9 } },
      { first: 100 },
      100,
    ],
    [
      'a measured chain beside one that is not',
      { 1: { markets: 25, excluded: 0 }, 2: { markets: 0, excluded: 9 } },
      { first: 100, chainIds: [1] },
      25,
    ],
    ['a chain that is not served', { 1: { markets: 25, excluded: 0 } }, { first: 100, chainIds: [9] }, 1],
  ] as const)('default: %s', (_name, chains, args, size) => {
    for (const list of ['strategies', 'markets'] as const)
      expect(existingPageSize(args as never, list, { sizes: world(chains) })).toBe(size);
  });

  test('behavior: without sizes what is asked for counts', () => {
    expect(existingPageSize({ first: 100 }, 'tokens', {})).toBe(100);
  });

  test('behavior: the version changes with a size', () => {
    const at = (markets: number) => world({ 1: { markets, excluded: 0 } }).version;
    expect(at(25)).not.toBe(at(26));
    expect(at(25)).toBe(at(25));
  });
});
