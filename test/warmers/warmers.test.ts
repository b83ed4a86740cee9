import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FACT_GROUPS, type IncentiveCampaign, type MarketIncentives } from '../../src/domain/facts.ts';
import { UpstreamError } from '../../src/upstreams/errors.ts';
import type { RouteRequest } from '../../src/upstreams/types.ts';
import { mergeBorrowHistory } from '../../src/warmers/borrow-history.ts';
import { sellable } from '../../src/warmers/exit-liquidity.ts';
import { continueHistory } from '../../src/warmers/incentive-history.ts';
import { all, atPar, catalog, DAY_MS, ethereum, fails, NOW_MS, pct, readingAt, sizeOf, world } from './world.ts';

const token = (symbol: string) => {
  const found = ethereum.tokens.find((candidate) => candidate.symbol === symbol);
  if (!found) throw new Error(symbol);
  return found;
};
const [firstMarket] = ethereum.markets;
if (!firstMarket) throw new Error('no market');

describe('createWarmers', () => {
  test('default', () => {
    const w = world();
    expect(w.warmers.map(({ name, everySec, phase }) => `${phase} ${name} ${everySec}`)).toMatchInlineSnapshot(`
      [
        "0 lending-state:1 120",
        "1 collateral-apy-yieldmarket:1 1800",
        "1 collateral-apy-aggregator:1 43200",
        "1 collateral-apy-incentivemarket:1 43200",
        "1 collateral-apy-onchain:1 600",
        "1 incentives:1 1800",
        "2 incentive-history:1 1800",
        "1 prices:1 300",
        "2 exit-liquidity:1 43200",
        "1 shared-liquidity:1 300",
        "2 borrow-history:1 1800",
        "2 tvl:1 300",
        "0 lending-state:4663 120",
        "1 collateral-apy-aggregator:4663 43200",
        "1 collateral-apy-onchain:4663 600",
        "1 incentives:4663 1800",
        "2 incentive-history:4663 1800",
        "1 prices:4663 300",
        "2 exit-liquidity:4663 43200",
        "2 borrow-history:4663 1800",
        "2 tvl:4663 300",
        "1 stable-index 43200",
      ]
    `);
  });

  test('behavior: every group of facts has a warmer, and names are unique', () => {
    const { warmers } = world();
    expect(new Set(warmers.flatMap(({ groups }) => groups))).toEqual(new Set(FACT_GROUPS));
    expect(new Set(warmers.map(({ name }) => name)).size).toBe(warmers.length);
  });

  test('error: a chain without a reader', () => {
    const w = world();
    w.readers.delete(4663);
    expect(() => w.warmers).toThrow('4663');
  });
});

describe('lending-state', () => {
  test('default', async () => {
    const w = world();
    expect(await w.run('lending-state:1')).toMatchObject({ failures: 0 });
    const { lendingState, oracle } = w.facts().groups;
    expect(lendingState.items.size).toBe(ethereum.markets.length);
    expect(lendingState.items.get(firstMarket.id)).toMatchObject({ asOfMs: NOW_MS, source: 'chain' });
    expect(oracle.items.get(firstMarket.oracle)).toMatchObject({ asOfMs: NOW_MS, source: 'chain' });
  });

  test('behavior: one sample per measured market, as fractions', async () => {
    const w = world();
    await w.run('lending-state:1');
    expect(w.samples).toHaveLength(ethereum.markets.length);
    const [sample] = w.samples;
    expect(sample).toMatchObject({ marketId: firstMarket.id, atMs: NOW_MS, liquidityAssets: 100n * 10n ** 6n });
    expect([sample?.utilization.toFixed(), sample?.borrowApy.toFixed(4)]).toEqual(['0.9', '0.0408']);
  });

  test('behavior: a database that is away is told once and stops nothing', async () => {
    const w = world();
    const warmer = w.warmers.find(({ name }) => name === 'lending-state:1');
    for (const keeps of [false, false, true, true]) {
      w.keepSamples = keeps;
      await warmer?.run(new AbortController().signal, 'due');
    }
    expect(w.logs).toEqual(['rate samples not kept', 'rate samples kept again']);
    expect(w.facts().groups.lendingState.lastSuccessMs).toBe(NOW_MS);
  });

  test.each([
    ['behind in time', 90n, NOW_MS - 20_000],
    ['behind in number within the same second', 99n, NOW_MS],
  ])('behavior: a block %s is not believed', async (_what, number, atMs) => {
    const w = world();
    await w.run('lending-state:1');
    const before = w.facts().groups;
    Object.assign(w.readers.get(1) ?? {}, { readLendingState: async () => readingAt(ethereum, number, atMs) });
    await expect(w.run('lending-state:1')).rejects.toMatchObject({ reason: 'implausible' });
    const after = w.facts().groups;
    expect([after.lendingState.items, after.oracle.items]).toEqual([before.lendingState.items, before.oracle.items]);
    expect([...after.oracle.failures.values()][0]?.reason).toBe('implausible');
    expect(w.samples).toHaveLength(ethereum.markets.length);
  });

  test('behavior: a chain that was started anew, with low numbers and later times, is believed', async () => {
    const w = world();
    await w.run('lending-state:1');
    Object.assign(w.readers.get(1) ?? {}, { readLendingState: async () => readingAt(ethereum, 3n, NOW_MS + 5_000) });
    await w.run('lending-state:1');
    expect(w.facts().groups.lendingState.items.get(firstMarket.id)?.value.blockNumber).toBe(3n);
  });

  test('behavior: one reverting oracle fails alone', async () => {
    const w = world();
    const reading = readingAt(ethereum, 100n, NOW_MS);
    const values = new Map([...reading.oracle.values].filter(([address]) => address !== firstMarket.oracle));
    const failures = new Map([[firstMarket.oracle, 'reverted' as const]]);
    Object.assign(w.readers.get(1) ?? {}, {
      readLendingState: async () => ({ ...reading, oracle: { values, failures } }),
    });
    expect(await w.run('lending-state:1')).toMatchObject({ failures: 1, retryable: 1 });
    expect([...w.facts().groups.oracle.failures.keys()]).toEqual([firstMarket.oracle]);
    expect(w.facts().groups.oracle.lastSuccessMs).toBeNull();
    expect(w.facts().groups.lendingState.lastSuccessMs).toBe(NOW_MS);
  });
});

describe('collateral-apy', () => {
  test('behavior: every source fills its own tokens; those with none are asked nowhere', async () => {
    const w = world();
    for (const { name } of w.warmers.filter(({ groups }) => groups.includes('collateralApy'))) await w.run(name);
    for (const chain of catalog.chains) {
      const { items, failures } = w.facts(chain.chainId).groups.collateralApy;
      for (const { address, apySource } of chain.tokens) {
        const known = items.get(address)?.source ?? failures.get(address)?.source;
        expect(known).toBe(apySource === 'none' ? undefined : apySource);
      }
    }
  });

  test('behavior: a per-second rate in ray becomes an APY; no growth is a measured zero', async () => {
    const w = world();
    await w.run('collateral-apy-onchain:1');
    expect(w.facts().groups.collateralApy.items.get(token('stUSDS').address)?.value.apyPct.toFixed()).toBe('0');
  });

  test('behavior: a principal token is not asked about once it has matured, and its last-good stays', async () => {
    const w = world();
    await w.run('collateral-apy-yieldmarket:1');
    const before = w.facts().groups.collateralApy.items;
    const first = Math.min(...ethereum.tokens.flatMap(({ maturity }) => maturity ?? [])) * 1_000;
    await w.time.advance(first - w.time.clock.now());
    const sound = w.ports.yieldmarket.apys;
    const asked: string[] = [];
    w.ports.yieldmarket = {
      name: 'yieldmarket',
      apys: (chain, tokens) => {
        asked.push(...tokens.map(({ symbol }) => symbol));
        return sound(chain, tokens);
      },
    };
    await w.run('collateral-apy-yieldmarket:1');
    expect(asked).toEqual(['PT-apxUSD-5NOV2026', 'PT-apyUSD-5NOV2026']);
    const matured = token('PT-stcUSD-23JUL2026').address;
    expect(w.facts().groups.collateralApy.items.get(matured)).toBe(before.get(matured));
    expect(w.facts().groups.collateralApy.failures.size).toBe(0);
  });

  test('behavior: a source that tells no history this time does not take the known one away', async () => {
    const w = world();
    const history = [{ atMs: 1, apyPct: pct('3') }];
    const keys = [token('wstETH').address];
    w.ports.aggregator = { name: 'aggregator', apys: async () => all(keys, () => ({ apyPct: pct('3'), history })) };
    await w.run('collateral-apy-aggregator:1');
    w.ports.aggregator = { name: 'aggregator', apys: async () => all(keys, () => ({ apyPct: pct('4') })) };
    await w.run('collateral-apy-aggregator:1');
    const value = w.facts().groups.collateralApy.items.get(token('wstETH').address)?.value;
    expect([value?.apyPct.toFixed(), value?.history]).toEqual(['4', history]);
  });
});

describe('stable-index', () => {
  test('behavior: the list is published on every chain, and tokens are matched by id, then by symbol', async () => {
    const w = world();
    await w.run('stable-index');
    for (const { chainId } of catalog.chains) expect(w.facts(chainId).groups.stableIndex.items.size).toBe(2);
    const { items, failures } = w.facts().groups.collateralApy;
    expect(items.get(token('sUSDe').address)?.value.apyPct.toFixed()).toBe('4.25');
    expect(items.get(token('sUSDS').address)?.value.history).toHaveLength(1);
    expect(failures.get(token('syrupUSDC').address)?.reason).toBe('missing');
  });

  test('behavior: a pool that failed or left the list keeps its last-good, and so does its token', async () => {
    const w = world();
    await w.run('stable-index');
    const id = '66985a81-9c51-46ca-9977-42b4fe7bc6df';
    const before = w.facts().groups;
    w.ports.stableIndex = { pools: async () => ({ values: new Map(), failures: new Map([[id, 'malformed']]) }) };
    await w.run('stable-index');
    const { stableIndex, collateralApy } = w.facts().groups;
    expect([stableIndex.items, collateralApy.items]).toEqual([before.stableIndex.items, before.collateralApy.items]);
    expect([stableIndex.failures.get(id)?.reason, stableIndex.failures.get('other')?.reason]).toEqual([
      'malformed',
      'missing',
    ]);
    expect(collateralApy.failures.get(token('sUSDe').address)?.reason).toBe('malformed');
  });

  test('behavior: an index that never answered is no success', async () => {
    const w = world();
    w.ports.stableIndex = { pools: fails('unreachable') };
    await expect(w.run('stable-index')).rejects.toMatchObject({ reason: 'unreachable' });
    const { lastAttemptMs, lastSuccessMs } = w.facts(4663).groups.stableIndex;
    expect([lastAttemptMs, lastSuccessMs]).toEqual([NOW_MS, null]);
  });
});

describe('prices', () => {
  const sourceOf = (w: ReturnType<typeof world>, symbol: string) =>
    w.facts().groups.price.items.get(token(symbol).address)?.source;

  test('behavior: a token that neither provider has an id for is not configured, and the attempt is a success', async () => {
    const w = world();
    expect(await w.run('prices:1')).toMatchObject({ retryable: 0 });
    const { failures, lastSuccessMs } = w.facts().groups.price;
    expect(failures.get(token('sUSDS').address)?.reason).toBe('not_configured');
    expect(lastSuccessMs).toBe(NOW_MS);
    expect(sourceOf(w, 'USDC')).toBe('coingecko');
  });

  test('behavior: the second provider is asked only for what the first failed on', async () => {
    const w = world();
    const [first, second] = w.ports.prices;
    const asked: string[] = [];
    const missing = token('DAI').address;
    w.ports.prices = [
      {
        name: 'coingecko',
        usdPrices: async (tokens) => {
          const { values, failures } = await first.usdPrices(tokens);
          const kept = [...values].filter(([address]) => address !== missing);
          return { values: new Map(kept), failures: new Map([...failures, [missing, 'implausible' as const]]) };
        },
      },
      {
        name: 'defillama',
        usdPrices: (tokens) => {
          asked.push(...tokens.filter(({ coingeckoId }) => coingeckoId).map(({ symbol }) => symbol));
          return second.usdPrices(tokens);
        },
      },
    ];
    await w.run('prices:1');
    expect([asked, sourceOf(w, 'DAI'), sourceOf(w, 'USDC')]).toEqual([['DAI'], 'defillama', 'coingecko']);
  });

  test('behavior: with the first provider down the second answers for all, and its own gaps stay not configured', async () => {
    const w = world();
    w.ports.prices = [{ name: 'coingecko', usdPrices: fails('rate_limited') }, w.ports.prices[1]];
    expect(await w.run('prices:1')).toMatchObject({ retryable: 0 });
    expect(sourceOf(w, 'USDC')).toBe('defillama');
    expect(w.facts().groups.price.failures.get(token('sUSDS').address)?.reason).toBe('not_configured');
  });

  test('behavior: with the second down, what the first could not price keeps its reason', async () => {
    const w = world();
    const [first] = w.ports.prices;
    await w.run('prices:1');
    w.ports.prices = [
      {
        name: 'coingecko',
        usdPrices: async (tokens) => ({ values: new Map(), failures: (await first.usdPrices(tokens)).failures }),
      },
      { name: 'defillama', usdPrices: fails('timeout') },
    ];
    const before = w.facts().groups.price.items;
    await w.run('prices:1');
    const { items, failures } = w.facts().groups.price;
    expect(items).toEqual(before);
    expect(failures.get(token('USDC').address)?.reason).toBe('missing');
    expect(failures.get(token('sUSDS').address)?.reason).toBe('not_configured');
  });
});

describe('incentives', () => {
  const campaign = (endsAtMs: number): IncentiveCampaign => ({
    id: 'c',
    symbol: 'X',
    aprPct: pct('2'),
    startsAtMs: 0,
    endsAtMs,
  });
  const live = (incentives: MarketIncentives) => async (_chain: unknown, ids: readonly string[]) =>
    all(ids, (id) => (id === firstMarket.id ? incentives : { borrow: [], collateral: [] }));

  test('behavior: a wholly empty answer is not believed while a known campaign should still run', async () => {
    const w = world();
    w.ports.incentives = { ...w.ports.incentives, live: live({ borrow: [campaign(NOW_MS + 1)], collateral: [] }) };
    await w.run('incentives:1');
    const before = w.facts().groups.incentives.items;
    w.ports.incentives = { ...w.ports.incentives, live: live({ borrow: [], collateral: [] }) };
    expect(await w.run('incentives:1')).toMatchObject({ items: 0 });
    expect(w.facts().groups.incentives.items).toEqual(before);
    await w.time.advance(2);
    await w.run('incentives:1');
    expect(w.facts().groups.incentives.items.get(firstMarket.id)?.value.borrow).toEqual([]);
    expect(w.facts().groups.incentives.failures.size).toBe(0);
  });

  test('behavior: a market without campaigns beside one with some is a measured none', async () => {
    const w = world();
    w.ports.incentives = { ...w.ports.incentives, live: live({ borrow: [campaign(NOW_MS + 1)], collateral: [] }) };
    await w.run('incentives:1');
    expect(w.facts().groups.incentives.items.size).toBe(ethereum.markets.length);
  });

  test('behavior: history asks the running campaigns only, and steps to zero when they have ended', async () => {
    const w = world();
    const asked: unknown[] = [];
    w.ports.incentives = {
      live: live({ borrow: [campaign(NOW_MS + 1)], collateral: [] }),
      history: async (campaigns) => {
        asked.push([...campaigns]);
        return all([...campaigns.keys()], () => ({ points: [{ atMs: 5, aprPct: pct('2') }] }));
      },
    };
    await w.run('incentives:1');
    await w.run('incentive-history:1');
    expect(asked).toEqual([[[firstMarket.id, ['c']]]]);
    await w.time.advance(10);
    w.ports.incentives = { ...w.ports.incentives, live: live({ borrow: [], collateral: [] }) };
    await w.run('incentives:1');
    await w.run('incentive-history:1');
    await w.run('incentive-history:1');
    expect(asked).toHaveLength(1);
    const points = w.facts().groups.incentiveHistory.items.get(firstMarket.id)?.value.points;
    expect(points?.map(({ atMs, aprPct }) => [atMs, aprPct.toFixed()])).toEqual([
      [5, '2'],
      [NOW_MS + 10, '0'],
    ]);
  });

  test('behavior: what an earlier campaign paid is remembered', () => {
    const step = (atMs: number, apr: string) => ({ atMs, aprPct: pct(apr) });
    const known = { points: [step(1, '1'), step(5, '2')] };
    expect(continueHistory({ points: [step(4, '3')] }, known).points.map(({ atMs }) => atMs)).toEqual([1, 4]);
    expect(continueHistory({ points: [] }, known)).toBe(known);
  });
});

describe('exit-liquidity', () => {
  const prime = async (w: ReturnType<typeof world>) => {
    await w.run('lending-state:1');
    await w.run('prices:1');
  };
  const sold = token('sUSDe').address;

  test('behavior: loss in percent of what was sold, per size; no route is a measured null', async () => {
    const w = world();
    await prime(w);
    w.ports.routes = {
      route: async (request) => {
        if (sizeOf(request) === '5000000') return null;
        return { amountOut: (atPar(request.chain, request.tokenIn, request.amountIn) * 995n) / 1000n };
      },
    };
    expect(await w.run('exit-liquidity:1')).toMatchObject({ items: sellable(ethereum).length, failures: 0 });
    const sweep = w.facts().groups.exitLiquidity.items.get(sold)?.value.slippagePct;
    expect(Object.entries(sweep ?? {}).map(([size, loss]) => [size, loss?.toFixed() ?? null])).toEqual([
      ['100000', '0.5'],
      ['500000', '0.5'],
      ['1000000', '0.5'],
      ['5000000', null],
    ]);
  });

  test('behavior: one size that cannot be asked keeps the whole token at last-good, and no other', async () => {
    const w = world();
    await prime(w);
    await w.run('exit-liquidity:1');
    const before = w.facts().groups.exitLiquidity.items.get(sold);
    const sound = w.ports.routes.route;
    await w.time.advance(1_000);
    w.ports.routes = {
      route: (request, options) =>
        request.tokenIn === sold && sizeOf(request) === '1000000' ? fails('server_error')() : sound(request, options),
    };
    expect(await w.run('exit-liquidity:1')).toMatchObject({ failures: 1 });
    const { items, failures } = w.facts().groups.exitLiquidity;
    expect([...failures.keys()]).toEqual([sold]);
    expect(items.get(sold)).toBe(before);
    expect(items.get(token('sUSDS').address)?.asOfMs).toBe(NOW_MS + 1_000);
  });

  test('behavior: a provider that refuses ends the sweep; the next due run asks only for the rest', async () => {
    const w = world();
    await prime(w);
    const sound = w.ports.routes.route;
    let left = 40;
    w.ports.routes = {
      route: (request, options) => {
        left -= 1;
        return left < 0
          ? Promise.reject(new UpstreamError('AggregatorOne', 'rate_limited', 9))
          : sound(request, options);
      },
    };
    await expect(w.run('exit-liquidity:1', 'due')).rejects.toMatchObject({ reason: 'rate_limited', retryAfterSec: 9 });
    const done = new Set(w.facts().groups.exitLiquidity.items.keys());
    expect(done.size).toBe(10);
    const asked = new Set<string>();
    w.ports.routes = {
      route: (request, options) => {
        asked.add(request.tokenIn);
        return sound(request, options);
      },
    };
    await w.run('exit-liquidity:1', 'due');
    expect([...asked].filter((address) => done.has(address))).toEqual([]);
    expect(w.facts().groups.exitLiquidity.items.size).toBe(sellable(ethereum).length);
    expect(w.facts().groups.exitLiquidity.failures.size).toBe(0);
  });

  test('behavior: never more sales side by side than allowed, and none of a token known to have no venue', async () => {
    const w = world();
    await prime(w);
    let now = 0;
    let most = 0;
    const seen = new Set<string>();
    w.ports.routes = {
      route: async ({ chain, tokenIn, amountIn }: RouteRequest) => {
        now += 1;
        most = Math.max(most, now);
        seen.add(tokenIn);
        await Promise.resolve();
        now -= 1;
        return { amountOut: atPar(chain, tokenIn, amountIn) };
      },
    };
    await w.run('exit-liquidity:1');
    expect(most).toBe(2);
    expect([seen.has(token('sNUSD').address), seen.has(ethereum.stable.address)]).toEqual([false, false]);
  });

  test('behavior: without a price, and for a sale that gains, nothing is claimed', async () => {
    const w = world();
    expect(await w.run('exit-liquidity:1')).toMatchObject({ items: 0 });
    expect(w.facts().groups.exitLiquidity.failures.get(sold)?.reason).toBe('missing');
    await prime(w);
    w.ports.routes = {
      route: async ({ chain, tokenIn, amountIn }) => ({ amountOut: atPar(chain, tokenIn, amountIn) * 2n }),
    };
    await w.run('exit-liquidity:1');
    expect(w.facts().groups.exitLiquidity.failures.get(sold)?.reason).toBe('implausible');
    expect(w.facts().groups.exitLiquidity.items.size).toBe(0);
  });
});

describe('shared-liquidity', () => {
  test('behavior: an indexer that withdrew the field does not turn known liquidity into none', async () => {
    const w = world();
    const source = { vault: ethereum.contracts.morphoBlue, withdrawMarketId: firstMarket.id, assets: 5n, feeWei: 0n };
    w.ports.indexer = {
      ...w.ports.indexer,
      sharedLiquidity: async (_c, ids) => all(ids, () => ({ sources: [source] })),
    };
    await w.run('shared-liquidity:1');
    const before = w.facts().groups.sharedLiquidity.items;
    w.ports.indexer = { ...w.ports.indexer, sharedLiquidity: async (_c, ids) => all(ids, () => ({ sources: [] })) };
    await w.run('shared-liquidity:1');
    expect(w.facts().groups.sharedLiquidity.items).toEqual(before);
  });
});

describe('borrow-history', () => {
  const day = (n: number) => 20_000 * DAY_MS - n * DAY_MS;
  const backfill = (n: number, apy: string) => ({ atSec: day(n) / 1_000 + 3_600, apy: pct(apy) });
  const shown = (w: ReturnType<typeof world>) =>
    w
      .facts()
      .groups.borrowHistory.items.get(firstMarket.id)
      ?.value.points.map(({ apy }) => apy.toFixed());

  test('behavior: our own days win, the indexer fills the others, and neither going silent loses a day', async () => {
    const w = world();
    w.days = [{ marketId: firstMarket.id, dayMs: day(1), borrowApy: pct('0.05') }];
    w.ports.indexer = {
      ...w.ports.indexer,
      borrowHistory: async (_c, ids) => all(ids, () => ({ points: [backfill(2, '0.01'), backfill(1, '0.02')] })),
    };
    await w.run('borrow-history:1');
    expect(shown(w)).toEqual(['0.01', '0.05']);

    w.ports.indexer = { ...w.ports.indexer, borrowHistory: fails('malformed') };
    w.days = [...w.days, { marketId: firstMarket.id, dayMs: day(0), borrowApy: pct('0.06') }];
    await expect(w.run('borrow-history:1')).rejects.toMatchObject({ reason: 'malformed' });
    expect(shown(w)).toEqual(['0.01', '0.05', '0.06']);

    w.days = new Error('the database is away');
    await expect(w.run('borrow-history:1')).rejects.toThrow();
    expect(shown(w)).toEqual(['0.01', '0.05', '0.06']);
  });

  test('mergeBorrowHistory: behavior: sorted, every preferred point kept, no foreign point on a preferred day', () => {
    const points = fc.uniqueArray(fc.integer({ min: 0, max: 90 * 24 }), { maxLength: 40 }).map((hours) => ({
      points: hours.sort((a, b) => a - b).map((h) => ({ atSec: h * 3_600, apy: pct(String(h)) })),
    }));
    fc.assert(
      fc.property(points, points, (own, other) => {
        const merged = mergeBorrowHistory(own, other).points;
        const days = new Set(own.points.map(({ atSec }) => Math.floor(atSec / 86_400)));
        expect(merged.filter(({ atSec }) => days.has(Math.floor(atSec / 86_400)))).toEqual(own.points);
        expect(merged).toHaveLength(
          own.points.length + other.points.filter(({ atSec }) => !days.has(Math.floor(atSec / 86_400))).length,
        );
        expect(merged.every((point, i) => i === 0 || (merged[i - 1]?.atSec ?? 0) <= point.atSec)).toBe(true);
      }),
    );
  });
});
