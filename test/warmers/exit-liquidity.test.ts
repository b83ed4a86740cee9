import { describe, expect, test } from 'vitest';
import { UpstreamError } from '../../src/upstreams/errors.ts';
import type { RouteRequest } from '../../src/upstreams/types.ts';
import { sellable } from '../../src/warmers/exit-liquidity.ts';
import { atPar, ethereum, fails, NOW_MS, sizeOf, token, world } from './world.ts';

describe('exit-liquidity', () => {
  const prime = async (w: ReturnType<typeof world>) => {
    await w.run('lending-state:1');
    await w.run('prices');
  };
  const sold = token('sUSDe').address;

  test('behavior: loss in percent of the sale, per size; no route is a measured null', async () => {
    const w = world();
    await prime(w);
    w.ports.routes = {
      route: async (request) => {
        if (sizeOf(request) === '5000000') return null;
        return { amountOut: (atPar(request.chain, request.tokenIn, request.amountIn) * 995n) / 1000n };
      },
    };
    expect(await w.run('exit-liquidity:1')).toMatchObject({ items: sellable(ethereum, NOW_MS).length, failures: 0 });
    const sweep = w.facts().groups.exitLiquidity.items.get(sold)?.value.slippagePct;
    expect(Object.entries(sweep ?? {}).map(([size, loss]) => [size, loss?.toFixed() ?? null])).toEqual([
      ['100000', '0.5'],
      ['500000', '0.5'],
      ['1000000', '0.5'],
      ['5000000', null],
    ]);
  });

  test('behavior: one failing size keeps only its token at last-good', async () => {
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

  test('behavior: a refusing provider ends the sweep; the next run requests only the rest', async () => {
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
    const requested = new Set<string>();
    w.ports.routes = {
      route: (request, options) => {
        requested.add(request.tokenIn);
        return sound(request, options);
      },
    };
    await w.run('exit-liquidity:1', 'due');
    expect([...requested].filter((address) => done.has(address))).toEqual([]);
    expect(w.facts().groups.exitLiquidity.items.size).toBe(sellable(ethereum, NOW_MS).length);
    expect(w.facts().groups.exitLiquidity.failures.size).toBe(0);
  });

  test('behavior: our own budget ends a run without a failure, and the next run measures the rest', async () => {
    const w = world();
    await prime(w);
    const sound = w.ports.routes.route;
    let left = 40;
    w.ports.routes = {
      route: (request, options) => {
        left -= 1;
        return left < 0 ? Promise.reject(new UpstreamError('AggregatorOne', 'throttled', 9)) : sound(request, options);
      },
    };
    expect(await w.run('exit-liquidity:1', 'due')).toMatchObject({
      items: 10,
      failures: 0,
      retryable: 0,
      resumeSec: 9,
    });
    expect(w.facts().groups.exitLiquidity.failures.size).toBe(0);
    left = Number.POSITIVE_INFINITY;
    const report = await w.run('exit-liquidity:1', 'due');
    expect([report.items, report.resumeSec]).toEqual([sellable(ethereum, NOW_MS).length - 10, undefined]);
  });

  test('behavior: the first result of a first start is published before the sweep is over', async () => {
    const w = world();
    await prime(w);
    const sound = w.ports.routes.route;
    const published: number[] = [];
    w.ports.routes = {
      route: (request, options) => {
        published.push(w.facts().groups.exitLiquidity.items.size);
        return sound(request, options);
      },
    };
    await w.run('exit-liquidity:1', 'due');
    expect(published.slice(0, 5)).toEqual([0, 0, 0, 0, 1]);
    expect(new Set(published)).toEqual(new Set([0, 1]));
  });

  test('behavior: a first sweep measures the collateral of the most markets first, and matured ones last', async () => {
    for (const mode of ['all', 'due'] as const) {
      const w = world();
      await prime(w);
      const requested: string[] = [];
      const sound = w.ports.routes.route;
      w.ports.routes = {
        route: (request, options) => {
          if (!requested.includes(request.tokenIn)) requested.push(request.tokenIn);
          return sound(request, options);
        },
      };
      const matured = ethereum.tokens.filter(({ maturity }) => maturity !== undefined && maturity * 1_000 <= NOW_MS);
      await w.run('exit-liquidity:1', mode);
      const marketsOf = (address: string) =>
        matured.some((one) => one.address === address)
          ? 0
          : ethereum.markets.filter(({ collateral }) => collateral.address === address).length;
      const counts = requested.map(marketsOf);
      expect(counts).toEqual(counts.toSorted((a, b) => b - a));
      expect([counts[0], requested.length]).toEqual([3, sellable(ethereum, NOW_MS).length]);
    }
  });

  test('behavior: a sweep is spread over its cadence, the oldest measurements first', async () => {
    const w = world();
    await prime(w);
    await w.run('exit-liquidity:1', 'due');
    const asOf = () => [...w.facts().groups.exitLiquidity.items.values()].map(({ asOfMs }) => asOfMs - NOW_MS);
    const all = sellable(ethereum, NOW_MS).length;
    expect(asOf()).toEqual(Array.from({ length: all }, () => 0));
    const perRun: number[] = [];
    for (let run = 0; run < 24; run += 1) {
      await w.time.advance(1_800_000);
      await prime(w);
      perRun.push((await w.run('exit-liquidity:1', 'due')).items);
    }
    // None is older than the cadence, and no run measures more than its part.
    expect(Math.min(...asOf())).toBeGreaterThan(0);
    expect(Math.max(...perRun)).toBe(Math.ceil(all / 24));
  });

  test('behavior: one sale at a time, and none of a token without a venue', async () => {
    const w = world();
    await prime(w);
    let now = 0;
    let most = 0;
    const observed = new Set<string>();
    w.ports.routes = {
      route: async ({ chain, tokenIn, amountIn }: RouteRequest) => {
        now += 1;
        most = Math.max(most, now);
        observed.add(tokenIn);
        await Promise.resolve();
        now -= 1;
        return { amountOut: atPar(chain, tokenIn, amountIn) };
      },
    };
    await w.run('exit-liquidity:1');
    expect(most).toBe(1);
    expect([observed.has(token('sNUSD').address), observed.has(ethereum.stable.address)]).toEqual([false, false]);
  });

  test('behavior: publishes nothing without a price or for a sale with a gain', async () => {
    const w = world();
    expect(await w.run('exit-liquidity:1')).toMatchObject({ items: 0 });
    expect(w.facts().groups.exitLiquidity.failures.get(sold)?.reason).toBe('missing');
    await prime(w);
    w.ports.routes = {
      route: async ({ chain, tokenIn, amountIn }) => ({ amountOut: atPar(chain, tokenIn, amountIn) * 2n }),
    };
    await w.run('exit-liquidity:1');
    const doubted = () => w.facts().groups.exitLiquidity.failures.get(sold);
    expect(doubted()).toMatchObject({ reason: 'implausible', suspect: { readings: 1 } });
    expect(doubted()?.suspect?.value.toFixed(0)).toBe('-100');
    // An impossible sale stays impossible, however often it is reported.
    for (let i = 0; i < 4; i += 1) await w.run('exit-liquidity:1');
    expect(w.facts().groups.exitLiquidity.items.size).toBe(0);
  });

  describe('an absent route', () => {
    const CADENCE_MS = 43_200_000;
    const none = { route: async () => null };
    const state = (w: ReturnType<typeof world>) => w.facts().groups.exitLiquidity;

    test.each([true, false])(
      'is published after three observations, each a cadence apart, with a known sweep: %s',
      async (isKnown) => {
        const w = world();
        await prime(w);
        if (isKnown) await w.run('exit-liquidity:1');
        const before = state(w).items.get(sold);
        w.ports.routes = none;
        for (const readings of [1, 2]) {
          await prime(w);
          for (let again = 0; again < 4; again += 1) {
            await w.run('exit-liquidity:1');
            await w.time.advance(4_000);
          }
          expect(state(w).failures.get(sold)).toMatchObject({ reason: 'implausible', suspect: { readings } });
          expect(state(w).items.get(sold)).toBe(before);
          await w.time.advance(CADENCE_MS);
        }
        await prime(w);
        await w.run('exit-liquidity:1');
        expect(Object.values(state(w).items.get(sold)?.value.slippagePct ?? {})).toEqual([null, null, null, null]);
      },
    );

    test('of one size awaits confirmation as well, and ends with a route', async () => {
      const w = world();
      await prime(w);
      const sound = w.ports.routes;
      await w.run('exit-liquidity:1');
      w.ports.routes = {
        route: (request, options) =>
          sizeOf(request) === '5000000' ? Promise.resolve(null) : sound.route(request, options),
      };
      await w.run('exit-liquidity:1');
      expect(state(w).failures.get(sold)?.suspect?.value.toFixed()).toBe('100');
      w.ports.routes = sound;
      await w.run('exit-liquidity:1');
      expect(state(w).failures.get(sold)).toBeUndefined();
    });

    test('a loss with a date of its provider is confirmed by later dates', async () => {
      const w = world();
      await prime(w);
      await w.run('exit-liquidity:1');
      const losing = (quotedMs: number) => ({
        route: async ({ chain, tokenIn, amountIn }: RouteRequest) => ({
          amountOut: atPar(chain, tokenIn, amountIn) / 4n,
          quotedMs,
        }),
      });
      for (const [quotedMs, readings] of [
        [NOW_MS - 9, 1],
        [NOW_MS - 9, 1],
        [NOW_MS - 8, 2],
      ] as const) {
        w.ports.routes = losing(quotedMs);
        await w.run('exit-liquidity:1');
        expect(state(w).failures.get(sold)?.suspect?.readings).toBe(readings);
      }
      w.ports.routes = losing(NOW_MS - 7);
      await w.run('exit-liquidity:1');
      expect(state(w).items.get(sold)?.value.slippagePct['100000']?.toFixed()).toBe('75');
    });
  });
});
