import { describe, expect, it } from 'vitest';
import { emptyChainFacts } from '../../src/domain/facts.ts';
import { readFreshness } from '../../src/resolvers/common/freshness.ts';
import { readCandles, readPriceChart } from '../../src/resolvers/market/charts.ts';
import { listHistories, readHistory } from '../../src/resolvers/market/histories.ts';
import { readStableIndex } from '../../src/resolvers/market/stable-index.ts';
import { readPrice } from '../../src/resolvers/market/tokens.ts';
import { readTvl } from '../../src/resolvers/market/tvl.ts';
import { BadRequestError, NotFoundError, NotReadyError } from '../../src/shared/errors.ts';
import type { StrategyId } from '../../src/shared/ids.ts';
import { chainOf, completeFacts, DAY, NOW_MS, withItem } from '../domain/world.ts';
import { completeContext, contextOf, halfContext, servicesOf } from './world.ts';

const ctx = completeContext();
const chain = chainOf(1);
const token = chain.stable.address;
const history = { resolution: 'DAY', downsampling: 'MEAN' } as const;

describe('readCandles', () => {
  const args = { chainId: 1, address: token, timeframe: 'hour', aggregate: 1, limit: 168 } as const;

  it('default', async () => {
    expect(await readCandles(args, ctx)).toMatchObject({ ...args, source: 'geckoterminal', stale: false });
  });

  it.each([
    { timeframe: 'minute', aggregate: 4 },
    { timeframe: 'hour', aggregate: 5 },
    { timeframe: 'day', aggregate: 4 },
    { limit: 0 },
    { limit: 1001 },
    { chainId: 2 },
  ] as const)('error: BadRequestError for %o', async (change) => {
    await expect(readCandles({ ...args, ...change }, ctx)).rejects.toThrow(BadRequestError);
  });

  it('error: NotFoundError without a pool', async () => {
    const zero = '0x0000000000000000000000000000000000000000';
    await expect(readCandles({ ...args, address: zero }, ctx)).rejects.toThrow(NotFoundError);
  });
});

describe('readPriceChart', () => {
  const args = { coinId: 'ethereum', days: 7, currency: 'USD' };

  it('default', async () => {
    expect(await readPriceChart(args, ctx)).toMatchObject({ coinId: 'ethereum', days: 7, currency: 'usd' });
  });

  it.each([{ days: 0 }, { days: 366 }, { coinId: '../ping' }, { coinId: 'unknown-coin' }, { currency: '' }])(
    'error: BadRequestError for %o',
    async (change) => {
      await expect(readPriceChart({ ...args, ...change }, ctx)).rejects.toThrow(BadRequestError);
    },
  );
});

describe('readHistory', () => {
  const [unrecorded, recorded] = chain.markets;
  if (!unrecorded || !recorded) throw new Error('two markets expected');

  it('behavior: one read serves many markets; an unrecorded one has a reason', async () => {
    const all = (
      await Promise.all([1, 4663].map((id) => listHistories(chainOf(id), { kind: 'borrowApy', ...history }, ctx)))
    ).flat();
    const gaps = all.filter((row) => row.gaps.length > 0);
    expect(all).toHaveLength(chainOf(1).markets.length + chainOf(4663).markets.length);
    expect(gaps.map(({ market }) => market.id)).toEqual([1, 4663].map((id) => chainOf(id).markets[0]?.id));
    expect(all[1]?.points.every(({ atMs }) => atMs % DAY === 0)).toBe(true);
  });

  it('behavior: a source that always failed is stale; one without histories is not', async () => {
    const failure = { reason: 'timeout', source: 'aggregator', sinceMs: NOW_MS - DAY } as const;
    const requested = chain.markets.find(({ collateral }) => collateral.apySource === 'aggregator');
    const plain = chain.markets.find(({ collateral }) => collateral.apySource === 'none');
    if (!requested || !plain) throw new Error('both kinds of market expected');
    const dead = withItem(completeFacts(chain), 'collateralApy', requested.collateral.address, { failure });
    const services = servicesOf([dead, completeFacts(chainOf(4663))]);
    const context = contextOf({ ...services, histories: { read: async () => new Map() } });
    const strategyIds = [requested.id, plain.id] as readonly string[] as readonly StrategyId[];
    const list = await listHistories(chain, { kind: 'collateralApy', ...history, strategyIds }, context);
    expect(list.map(({ stamp }) => stamp)).toEqual([null, null]);
    expect(list.map(({ gaps: [gap] }) => gap?.reason).sort()).toEqual(['NOT_APPLICABLE', 'SOURCE_FAILED']);
  });

  it('behavior: a market without incentives has none and is not stale', async () => {
    const [market] = chain.markets;
    const unpaid = withItem(completeFacts(chain), 'incentiveHistory', market?.id ?? '', {});
    const context = contextOf(servicesOf([unpaid, completeFacts(chainOf(4663))]));
    if (!market) throw new Error('market expected');
    const { gaps, stamp } = await readHistory('incentiveApr', market, history, context);
    expect([stamp, gaps[0]?.reason]).toEqual([null, 'NONE']);
  });

  it('behavior: from is included, to is excluded', async () => {
    const [from, to] = [new Date(NOW_MS - 2 * DAY), new Date(NOW_MS - DAY)];
    const range = { ...history, resolution: 'RAW', fromAt: from, toAt: to } as const;
    const { points } = await readHistory('borrowApy', recorded, range, ctx);
    expect(points).toHaveLength(24);
    expect(points[0]?.atMs).toBe(from.getTime());
  });

  it('error: BadRequestError for a range that is too long, empty or has too many points', async () => {
    const from = new Date(NOW_MS - 401 * DAY);
    await expect(listHistories(chain, { kind: 'borrowApy', ...history, fromAt: from }, ctx)).rejects.toThrow(
      BadRequestError,
    );
    const backwards = { fromAt: new Date(NOW_MS), toAt: new Date(NOW_MS) };
    await expect(listHistories(chain, { kind: 'borrowApy', ...history, ...backwards }, ctx)).rejects.toThrow(
      BadRequestError,
    );
    const many = { fromAt: new Date(NOW_MS - 399 * DAY), resolution: 'HOUR' } as const;
    await expect(listHistories(chain, { kind: 'borrowApy', ...history, ...many }, ctx)).rejects.toThrow(
      BadRequestError,
    );
  });

  it('error: NotFoundError', async () => {
    const strategyIds = [`0x${'0'.repeat(64)}` as StrategyId];
    const found = listHistories(chain, { kind: 'borrowApy', ...history, strategyIds }, ctx);
    await expect(found).rejects.toThrow(NotFoundError);
  });
});

describe('readPrice', () => {
  it('behavior: last-good with its age, or the reason', () => {
    const failure = { reason: 'timeout', source: 'coingecko', sinceMs: NOW_MS - DAY } as const;
    const failed = withItem(completeFacts(chain), 'price', token, { failure });
    const context = contextOf(servicesOf([failed, completeFacts(chainOf(4663))]));
    expect(readPrice(chain.stable, context)).toMatchObject({ gap: { reason: 'SOURCE_FAILED', sinceMs: NOW_MS - DAY } });
    expect(readPrice(chain.stable, ctx).price?.value.usd.toFixed()).toBe('0.9998');
  });
});

describe('readFreshness', () => {
  it('behavior: an unmeasured chain names its missing groups', () => {
    const [first, second] = readFreshness({}, halfContext());
    expect(first).toMatchObject({ primed: true, waitingFor: [] });
    expect(second).toMatchObject({ primed: false, publishedMs: null, waitingFor: ['lendingState', 'oracle'] });
    expect(second?.groups.every(({ status, items }) => status === 'never' && items === 0)).toBe(true);
  });

  it('behavior: names failing items with their last good value', () => {
    const failure = { reason: 'malformed', source: 'coingecko', sinceMs: NOW_MS } as const;
    const facts = completeFacts(chain);
    const price = { ...facts.groups.price, failures: new Map([[token as string, failure]]) };
    const failing = { ...facts, groups: { ...facts.groups, price } };
    const [row] = readFreshness({ chainIds: [1] }, contextOf(servicesOf([failing, completeFacts(chainOf(4663))])));
    const group = row?.groups.find((entry) => entry.group === 'price');
    expect(group?.failing).toEqual([{ key: token, symbol: chain.stable.symbol, failure, lastGoodMs: NOW_MS - 60_000 }]);
    expect(group).toMatchObject({ itemsAtLastGood: 1 });
  });
});

describe('readStableIndex', () => {
  it('behavior: an empty list is reported as empty, never as fresh', () => {
    expect(readStableIndex(halfContext())).toMatchObject({ oldest: null, pools: [] });
    const cold = contextOf(servicesOf([emptyChainFacts(1), emptyChainFacts(4663)]));
    expect(readStableIndex(cold).gaps).toMatchObject([{ field: 'freshness', reason: 'NOT_MEASURED' }]);
  });
});

describe('readTvl', () => {
  it('behavior: has the age of its oldest chain', () => {
    const stamp = { asOfMs: NOW_MS - DAY };
    expect(readTvl(ctx)).toMatchObject({ stamp, chains: [{ chainId: 1, stamp }], missingChains: [{ chainId: 4663 }] });
  });

  it('error: NotReadyError before the first chain', () => {
    expect(() => readTvl(contextOf({ ...ctx.live(), tvl: () => null }))).toThrow(NotReadyError);
  });
});
