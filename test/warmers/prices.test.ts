import { describe, expect, test } from 'vitest';
import type { Token } from '../../src/catalog/types.ts';
import { createMemoryLease } from '../../src/snapshot/lease.ts';
import { priceKey } from '../../src/upstreams/types.ts';
import { createWarmerRunner } from '../../src/warmers/runner/runner.ts';
import type { Warmer } from '../../src/warmers/types.ts';
import { rememberingLogger } from '../snapshot/logs.ts';
import { all, fails, NOW_MS, pct, token, world } from './world.ts';

describe('prices', () => {
  test('behavior: one request for the tokens of all chains, and an address that both have is priced by its own coin', async () => {
    const w = world();
    const [first] = w.ports.prices;
    const asked: number[] = [];
    w.ports.prices = [
      {
        name: 'coingecko',
        usdPrices: (tokens) => {
          asked.push(...new Set(tokens.map(({ chainId }) => chainId)));
          return first.usdPrices(tokens);
        },
      },
      w.ports.prices[1],
    ];
    await w.run('prices');
    expect(asked).toEqual([1, 4663]);
    const native = token('ETH').address;
    expect(w.facts().groups.price.failures.get(native)?.reason).toBe('not_configured');
    expect(w.facts(4663).groups.price.items.get(native)?.source).toBe('coingecko');
  });

  const sourceOf = (w: ReturnType<typeof world>, symbol: string) =>
    w.facts().groups.price.items.get(token(symbol).address)?.source;

  test('behavior: a token without an id at both providers is not configured, and the attempt succeeds', async () => {
    const w = world();
    expect(await w.run('prices')).toMatchObject({ retryable: 0 });
    const { failures, lastSuccessMs } = w.facts().groups.price;
    expect(failures.get(token('sUSDS').address)?.reason).toBe('not_configured');
    expect(lastSuccessMs).toBe(NOW_MS);
    expect(sourceOf(w, 'USDC')).toBe('coingecko');
  });

  test('behavior: requests only failed tokens from the second provider', async () => {
    const w = world();
    const [first, second] = w.ports.prices;
    const requested: string[] = [];
    const missing = priceKey(token('DAI'));
    await w.run('prices');
    w.ports.prices = [
      {
        name: 'coingecko',
        usdPrices: async (tokens) => {
          const { values, failures } = await first.usdPrices(tokens);
          const remaining = [...values].filter(([key]) => key !== missing);
          return { values: new Map(remaining), failures: new Map([...failures, [missing, 'implausible' as const]]) };
        },
      },
      {
        name: 'defillama',
        usdPrices: (tokens) => {
          requested.push(...tokens.filter(({ coingeckoId }) => coingeckoId).map(({ symbol }) => symbol));
          return second.usdPrices(tokens);
        },
      },
    ];
    await w.run('prices');
    expect([requested, sourceOf(w, 'DAI'), sourceOf(w, 'USDC')]).toEqual([['DAI'], 'defillama', 'coingecko']);
  });

  test('behavior: the second provider answers for all during an outage of the first, and its gaps stay not configured', async () => {
    const w = world();
    w.ports.prices = [{ name: 'coingecko', usdPrices: fails('rate_limited') }, w.ports.prices[1]];
    expect(await w.run('prices')).toMatchObject({ retryable: 0 });
    expect(sourceOf(w, 'USDC')).toBe('defillama');
    expect(w.facts().groups.price.failures.get(token('sUSDS').address)?.reason).toBe('not_configured');
  });

  test('behavior: during an outage of the second, tokens without a first price keep their reason', async () => {
    const w = world();
    const [first] = w.ports.prices;
    await w.run('prices');
    w.ports.prices = [
      {
        name: 'coingecko',
        usdPrices: async (tokens) => ({ values: new Map(), failures: (await first.usdPrices(tokens)).failures }),
      },
      { name: 'defillama', usdPrices: fails('timeout') },
    ];
    const before = w.facts().groups.price.items;
    await w.run('prices');
    const { items, failures } = w.facts().groups.price;
    expect(items).toEqual(before);
    expect(failures.get(token('USDC').address)?.reason).toBe('missing');
    expect(failures.get(token('sUSDS').address)?.reason).toBe('not_configured');
  });

  describe('an implausible price', () => {
    const usdc = token('USDC').address;
    const priced =
      (usd: string) => async (tokens: Parameters<ReturnType<typeof world>['ports']['prices'][0]['usdPrices']>[0]) =>
        all(tokens.filter(({ coingeckoId }) => coingeckoId).map(priceKey), (key) => ({
          usd: pct(key === priceKey(token('USDC')) ? usd : '1'),
        }));
    const refreshWith = async (w: ReturnType<typeof world>, first: string, second: string | null) => {
      w.ports.prices = [
        { name: 'coingecko', usdPrices: priced(first) },
        { name: 'defillama', usdPrices: second === null ? fails('timeout') : priced(second) },
      ];
      await w.time.advance(300_000);
      const report = await w.run('prices');
      const { items, failures } = w.facts().groups.price;
      const fact = items.get(usdc);
      return [fact?.value.usd.toFixed(), fact?.source, failures.get(usdc)?.suspect?.value.toFixed(), report.awaiting];
    };

    test.each(['1.5', '100', '0.01', '900000000'])(
      '%s of one provider: requests and publishes the other',
      async (absurd) => {
        const w = world();
        await refreshWith(w, '1', '1');
        expect(await refreshWith(w, absurd, '1.001')).toEqual(['1.001', 'defillama', undefined, undefined]);
        expect(await refreshWith(w, '1', '1')).toEqual(['1', 'coingecko', undefined, undefined]);
      },
    );

    test('without the other the last good one remains until three readings confirm', async () => {
      const w = world();
      await refreshWith(w, '1', '1');
      expect(await refreshWith(w, '0.5', null)).toEqual(['1', 'coingecko', '0.5', 1]);
      expect(await refreshWith(w, '0.505', null)).toEqual(['1', 'coingecko', '0.505', 1]);
      expect(await refreshWith(w, '0.5', null)).toEqual(['0.5', 'coingecko', undefined, undefined]);
    });

    test('contradicting readings do not confirm', async () => {
      const w = world();
      await refreshWith(w, '1', '1');
      for (const usd of ['1.5', '0.5', '1.5', '0.5', '3']) expect((await refreshWith(w, usd, null))[0]).toBe('1');
    });

    test.each([null, 1.025])(
      'a continuing loss of the peg (second source: %s of the first) shows at the third reading',
      async (of) => {
        const w = world();
        await refreshWith(w, '1', '1');
        const observed: unknown[] = [];
        for (const usd of [0.75, 0.72, 0.69, 0.66]) {
          observed.push((await refreshWith(w, String(usd), of === null ? null : String(usd * of)))[0]);
        }
        expect(observed).toEqual(['1', '1', '0.69', '0.66']);
      },
    );

    test('a failed reading keeps a value unconfirmed, and the next equal one counts', async () => {
      const w = world();
      await refreshWith(w, '1', '1');
      await refreshWith(w, '0.5', null);
      w.ports.prices = [
        { name: 'coingecko', usdPrices: fails('rate_limited') },
        { name: 'defillama', usdPrices: fails('timeout') },
      ];
      await expect(w.run('prices')).rejects.toMatchObject({ reason: 'rate_limited' });
      expect(w.facts().groups.price.failures.get(usdc)).toMatchObject({
        reason: 'rate_limited',
        suspect: { readings: 1 },
      });
      expect((await refreshWith(w, '0.5', null))[0]).toBe('1');
      expect((await refreshWith(w, '0.5', null))[0]).toBe('0.5');
      expect(w.facts().groups.price.failures.get(usdc)).toBeUndefined();
    });

    test('publishes a loss of the peg by both sources at once, of any size', async () => {
      const w = world();
      await refreshWith(w, '1', '1');
      expect(await refreshWith(w, '0.31', '0.312')).toEqual(['0.31', 'coingecko', undefined, undefined]);
    });

    test('shows a loss of the peg by a single source within a minute, if that dates its prices', async () => {
      const w = world();
      await refreshWith(w, '1', null);
      const known = w.warmers.find(({ name }) => name === 'prices');
      if (!known) throw new Error('a warmer of prices expected');
      const prices: Warmer = { ...known, run: (signal, mode) => w.run('prices', mode, signal) };
      const { clock, timers } = w.time;
      const lease = createMemoryLease();
      const reported: (string | undefined)[] = [];
      const onRun = () => reported.push(w.facts().groups.price.items.get(usdc)?.value.usd.toFixed());
      w.ports.prices = [
        {
          name: 'coingecko',
          usdPrices: async (tokens) => ({
            ...(await priced('0.7')(tokens)),
            measuredMs: new Map(tokens.map((each) => [priceKey(each), clock.now()])),
          }),
        },
        { name: 'defillama', usdPrices: fails('timeout') },
      ];
      const logger = rememberingLogger();
      const runner = createWarmerRunner({ warmers: [prices], clock, timers, logger, lease, random: () => 0, onRun });
      await runner.start();
      const firstMs = clock.now();
      while (reported.at(-1) !== '0.7') {
        expect(clock.now() - firstMs, String(reported)).toBeLessThan(60_000);
        await w.time.advance(1_000);
      }
      expect(reported).toEqual(['1', '1', '0.7']);
      await runner.stop();
    });

    test.each(['900000000', '0.001'])(
      'on a first start %s of one provider is compared with the oracle and not published',
      async (absurd) => {
        const { address } = token('sUSDe');
        const collateral = (usd: string) => async (tokens: readonly Token[]) =>
          all(tokens.map(priceKey), (key) => ({ usd: pct(key === priceKey(token('sUSDe')) ? usd : '1') }));
        const first = async (second: string | null) => {
          const w = world();
          await w.run('lending-state:1');
          w.ports.prices = [
            { name: 'coingecko', usdPrices: collateral(absurd) },
            { name: 'defillama', usdPrices: second === null ? fails('timeout') : collateral(second) },
          ];
          await w.run('prices');
          const { items, failures } = w.facts().groups.price;
          return [items.get(address)?.value.usd.toFixed(), failures.get(address)?.suspect?.value.toFixed()];
        };
        expect(await first(null)).toEqual([undefined, absurd]);
        expect(await first('1.1')).toEqual(['1.1', undefined]);
      },
    );

    test.each([
      ['1', '1.1'],
      [null, undefined],
    ])(
      'on a first start a provider with hundredfold prices does not confirm itself (other: %s)',
      async (second, shown) => {
        const w = world();
        await w.run('lending-state:1');
        const { address } = token('sUSDe');
        const scaled = (factor: string) => async (tokens: readonly Token[]) =>
          all(tokens.map(priceKey), (key) => ({
            usd: pct(key === priceKey(token('sUSDe')) ? '1.1' : '1').times(factor),
          }));
        w.ports.prices = [
          { name: 'coingecko', usdPrices: scaled('100') },
          { name: 'defillama', usdPrices: second === null ? fails('timeout') : scaled(second) },
        ];
        await w.run('prices');
        expect(w.facts().groups.price.items.get(address)?.value.usd.toFixed()).toBe(shown);
      },
    );

    test.each([
      ['of it alone', 'WETH', (symbol: string) => symbol === 'WETH'],
      ['of all that follows it', 'weETH', (symbol: string) => /ETH/.test(symbol)],
    ])(
      'on a first start a false price of a loan token (%s) is compared with two oracles',
      async (_, symbol, isFalse) => {
        const actual = (usd: string) => async (tokens: readonly Token[]) =>
          all(tokens.map(priceKey), (key) => ({
            usd: pct(tokens.some((t) => priceKey(t) === key && isFalse(t.symbol)) ? usd : '1'),
          }));
        const first = async (second: string | null) => {
          const w = world();
          await w.run('lending-state:1');
          w.ports.prices = [
            { name: 'coingecko', usdPrices: actual('900000000') },
            { name: 'defillama', usdPrices: second === null ? fails('timeout') : actual(second) },
          ];
          await w.run('prices');
          const { items, failures } = w.facts().groups.price;
          const { address } = token(symbol);
          return [items.get(address)?.value.usd.toFixed(), failures.get(address)?.suspect?.value.toFixed()];
        };
        expect(await first(null)).toEqual([undefined, '900000000']);
        expect(await first('1')).toEqual(['1', undefined]);
      },
    );

    test('on a first start a stablecoin at 1.5 USD of one provider is not published', async () => {
      expect((await refreshWith(world(), '1.5', null))[0]).toBeUndefined();
      expect((await refreshWith(world(), '1.5', '1'))[0]).toBe('1');
    });
  });

  describe('an old price of a provider', () => {
    const usdc = token('USDC').address;
    const MINUTE = 60_000;
    const found = (usd: string, agoMin: number) => async (tokens: readonly Token[]) => {
      const keys = tokens.map(priceKey);
      const measuredMs = new Map(keys.map((key) => [key, NOW_MS - agoMin * MINUTE]));
      return { ...all(keys, () => ({ usd: pct(usd) })), measuredMs };
    };
    const priced = async (first: readonly [string, number], second: readonly [string, number] | null) => {
      const w = world();
      w.ports.prices = [
        { name: 'coingecko', usdPrices: found(...first) },
        { name: 'defillama', usdPrices: second === null ? fails('timeout') : found(...second) },
      ];
      await w.run('prices');
      const fact = w.facts().groups.price.items.get(usdc);
      return [fact?.source, fact && (NOW_MS - fact.asOfMs) / MINUTE];
    };

    test('keeps its age at every request', async () => {
      expect(await priced(['1', 300], null)).toEqual(['coingecko', 300]);
    });

    test('is replaced only by a newer one of the second provider', async () => {
      expect(await priced(['1', 300], ['1', 2])).toEqual(['defillama', 2]);
      expect(await priced(['1', 300], ['1', 400])).toEqual(['coingecko', 300]);
      expect(await priced(['1', 3], ['1', 0])).toEqual(['coingecko', 3]);
    });
  });
});
