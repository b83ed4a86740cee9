import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COLLATERAL_CATEGORIES } from '../../src/catalog/schema.ts';
import { STRATEGY_ORDERS } from '../../src/domain/strategy/keys.ts';
import { findMarket, listMarkets } from '../../src/resolvers/market/markets.ts';
import { findStrategy, listStrategies } from '../../src/resolvers/strategy/strategies.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { BadRequestError, NotFoundError, NotReadyError } from '../../src/shared/errors.ts';
import type { StrategyId } from '../../src/shared/ids.ts';
import { chainOf, completeFacts } from '../domain/world.ts';
import { CHAIN_IDS, completeContext, contextOf, halfContext, servicesOf } from './world.ts';

const ctx = completeContext();

const filters = fc.record(
  {
    chainIds: fc.subarray([...CHAIN_IDS]),
    categories: fc.subarray([...COLLATERAL_CATEGORIES], { minLength: 1 }),
    correlated: fc.boolean(),
    kinds: fc.constantFrom<('loop' | 'equity')[]>(['loop'], ['equity']),
    minMaxLeverage: fc.integer({ min: 1, max: 12 }).map((value) => new Decimal(value)),
    listedOnly: fc.boolean(),
  },
  { requiredKeys: [] },
);
const orders = fc.record({
  field: fc.constantFrom(...STRATEGY_ORDERS),
  direction: fc.constantFrom('asc' as const, 'desc' as const),
});

describe('listStrategies', () => {
  it('default', () => {
    const page = listStrategies({ first: 50 }, ctx);
    expect(page.totalCount).toBeGreaterThan(10);
    expect(new Set(page.edges.map(({ node }) => node.chainId))).toEqual(new Set(CHAIN_IDS));
    expect(page.edges.every(({ node }) => node.visibility.visible)).toBe(true);
    const apys = page.edges.map(({ node }) => Number(node.defaultLeverage.leverageApyPct));
    expect(apys).toEqual([...apys].sort((a, b) => b - a));
  });

  it('behavior: all pages give the whole list, under any filter and order', () => {
    fc.assert(
      fc.property(filters, orders, fc.integer({ min: 1, max: 9 }), (filter, orderBy, first) => {
        const whole = listStrategies({ filter, orderBy, first: 500 }, ctx);
        const walked: string[] = [];
        let after: string | null = null;
        for (;;) {
          const page = listStrategies({ filter, orderBy, first, after }, ctx);
          expect(page.totalCount).toBe(whole.totalCount);
          expect(page.pageInfo.hasPreviousPage).toBe(after !== null && walked.length > 0);
          walked.push(...page.edges.map(({ node }) => `${node.chainId}:${node.id}`));
          after = page.pageInfo.endCursor;
          if (!page.pageInfo.hasNextPage) break;
        }
        const ids = whole.edges.map(({ node }) => `${node.chainId}:${node.id}`);
        expect(walked).toEqual(ids);
        // Backward from the end: the same list.
        const back: string[] = [];
        let before: string | null = null;
        for (;;) {
          const page = listStrategies({ filter, orderBy, last: first, before }, ctx);
          expect(page.pageInfo.hasNextPage).toBe(before !== null && back.length > 0);
          back.unshift(...page.edges.map(({ node }) => `${node.chainId}:${node.id}`));
          before = page.pageInfo.startCursor;
          if (!page.pageInfo.hasPreviousPage) break;
        }
        expect(back).toEqual(ids);
      }),
      { numRuns: 60 },
    );
  });

  it('behavior: a cursor stays valid when another strategy disappears', () => {
    const [first, second, third] = listStrategies({ first: 3 }, ctx).edges;
    if (!first || !second || !third) throw new Error('three strategies expected');
    const services = servicesOf(CHAIN_IDS.map((chainId) => completeFacts(chainOf(chainId))));
    const without = contextOf({
      ...services,
      composed: (chainId) => {
        const composed = services.composed(chainId);
        return { ...composed, strategies: composed.strategies.filter(({ id }) => id !== first.node.id) };
      },
    });
    const page = listStrategies({ first: 1, after: second.cursor }, without);
    expect(page.edges[0]?.node.id).toBe(third.node.id);
  });

  it.each([0, -1, 501, 1.5])('error: BadRequestError for first %s', (first) => {
    expect(() => listStrategies({ first }, ctx)).toThrow(BadRequestError);
  });

  it('error: BadRequestError for a cursor of another order, and for an invalid one', () => {
    const { endCursor } = listStrategies({ first: 1 }, ctx).pageInfo;
    const orderBy = { field: 'name', direction: 'asc' } as const;
    expect(() => listStrategies({ first: 1, orderBy, after: endCursor }, ctx)).toThrow(BadRequestError);
    expect(() => listStrategies({ first: 1, after: 'nonsense' }, ctx)).toThrow(BadRequestError);
  });

  it('error: BadRequestError naming the served chains', () => {
    expect(() => listStrategies({ first: 1, chainIds: [5] }, ctx)).toThrow(
      expect.objectContaining({
        code: 'bad_request',
        details: { field: 'chainIds', value: '5', limit: { oneOf: CHAIN_IDS } },
      }),
    );
  });

  it('error: NotReadyError for an unmeasured chain; in a list of all chains it is left out', () => {
    const half = halfContext();
    expect(() => listStrategies({ first: 1, chainIds: [4663] }, half)).toThrow(NotReadyError);
    expect(listStrategies({ first: 1 }, half).missingChains.map(({ chainId }) => chainId)).toEqual([4663]);
    expect(listStrategies({ first: 1, chainIds: [1] }, half).edges).toHaveLength(1);
  });
});

describe('findStrategy', () => {
  it('behavior: finds loops and vaults on any chain', () => {
    for (const chainId of CHAIN_IDS) {
      for (const { id } of ctx.live().composed(chainId).strategies) {
        expect(findStrategy({ strategyId: id }, ctx)).toMatchObject({ id, chainId });
      }
    }
  });

  it('error: NotFoundError', () => {
    const strategyId = `0x${'0'.repeat(64)}` as StrategyId;
    expect(() => findStrategy({ strategyId }, ctx)).toThrow(NotFoundError);
  });

  it('error: NotReadyError when its chain is not measured', () => {
    const vault = chainOf(4663).equityVaults[0];
    if (!vault) throw new Error('vault expected');
    expect(() => findStrategy({ strategyId: vault.id }, halfContext())).toThrow(NotReadyError);
  });
});

describe('a chain beside an id', () => {
  const [market] = chainOf(1).markets;
  if (!market) throw new Error('market expected');

  it('behavior: is not needed, and changes nothing when it is the right one', () => {
    const found = findMarket({ marketId: market.id }, ctx);
    expect(findMarket({ marketId: market.id, chainId: 1 }, ctx)).toBe(found);
  });

  it('error: BadRequestError naming the right one', () => {
    const refused = { code: 'bad_request', details: { field: 'chainId', value: '4663', limit: { oneOf: [1] } } };
    expect(() => findMarket({ marketId: market.id, chainId: 4663 }, ctx)).toThrow(expect.objectContaining(refused));
    const strategyId = market.id as string as StrategyId;
    expect(() => findStrategy({ strategyId, chainId: 4663 }, ctx)).toThrow(expect.objectContaining(refused));
  });
});

describe('listMarkets', () => {
  it('behavior: pages follow the catalog completely', () => {
    const ids: string[] = [];
    let after: string | null = null;
    do {
      const page = listMarkets({ first: 7, after }, ctx);
      ids.push(...page.edges.map(({ node }) => node.market.id));
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after !== null);
    expect(ids).toEqual(CHAIN_IDS.flatMap((chainId) => chainOf(chainId).markets.map(({ id }) => id)));
  });

  it('behavior: listed splits the list', () => {
    const all = listMarkets({ first: 500 }, ctx).totalCount;
    const listed = listMarkets({ first: 500, listed: true }, ctx).totalCount;
    expect(listMarkets({ first: 500, listed: false }, ctx).totalCount).toBe(all - listed);
  });

  it('error: BadRequestError for an invalid cursor', () => {
    const all = listMarkets({ first: 500 }, ctx).edges;
    const end = listMarkets({ last: 4 }, ctx);
    expect(end.edges).toEqual(all.slice(-4));
    expect(end.pageInfo).toMatchObject({ hasPreviousPage: true, hasNextPage: false });
    const before = listMarkets({ last: 3, before: end.pageInfo.startCursor }, ctx);
    expect(before.edges).toEqual(all.slice(-7, -4));
    const between = listMarkets({ first: 2, after: all[0]?.cursor, before: all[5]?.cursor }, ctx);
    expect(between.edges).toEqual(all.slice(1, 3));
    expect(listMarkets({ first: 9, after: all[3]?.cursor, before: all[4]?.cursor }, ctx).edges).toEqual([]);
  });

  it.each([
    [{ first: 1, last: 1 }, 'last'],
    [{ last: 0 }, 'last'],
    [{ last: 501 }, 'last'],
    [{ first: 1, before: 'nonsense' }, 'before'],
    [{ first: 1, after: 'nonsense' }, 'after'],
    [{ first: 1, after: btoa('tokens:1') }, 'after'],
    [{ last: 1, before: btoa('positions:1') }, 'before'],
  ])('error: BadRequestError for %j', (args, field) => {
    expect(() => listMarkets(args, ctx)).toThrow(
      expect.objectContaining({ code: 'bad_request', details: expect.objectContaining({ field }) }),
    );
  });
});
