import { describe, expect, test } from 'vitest';
import type { Token } from '../../src/catalog/types.ts';
import { createMemoryLease } from '../../src/snapshot/lease.ts';
import { createWarmerRunner } from '../../src/warmers/runner/runner.ts';
import type { Warmer } from '../../src/warmers/types.ts';
import { rememberingLogger } from '../snapshot/logs.ts';
import { all, fails, NOW_MS, pct, token, world } from './world.ts';

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
    await w.run('prices:1');
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

  describe('a price that is not plausible', () => {
    const usdc = token('USDC').address;
    const priced =
      (usd: string) => async (tokens: Parameters<ReturnType<typeof world>['ports']['prices'][0]['usdPrices']>[0]) =>
        all(
          tokens.filter(({ coingeckoId }) => coingeckoId).map(({ address }) => address),
          (address) => ({ usd: pct(address === usdc ? usd : '1') }),
        );
    const tell = async (w: ReturnType<typeof world>, first: string, second: string | null) => {
      w.ports.prices = [
        { name: 'coingecko', usdPrices: priced(first) },
        { name: 'defillama', usdPrices: second === null ? fails('timeout') : priced(second) },
      ];
      const report = await w.run('prices:1');
      const { items, failures } = w.facts().groups.price;
      const fact = items.get(usdc);
      return [fact?.value.usd.toFixed(), fact?.source, failures.get(usdc)?.suspect?.value.toFixed(), report.suspects];
    };

    test.each(['1.5', '100', '0.01', '900000000'])(
      '%s of one provider: the other is asked and published',
      async (absurd) => {
        const w = world();
        await tell(w, '1', '1');
        expect(await tell(w, absurd, '1.001')).toEqual(['1.001', 'defillama', undefined, undefined]);
        expect(await tell(w, '1', '1')).toEqual(['1', 'coingecko', undefined, undefined]);
      },
    );

    test('with the other away the last good one goes on, and three readings confirm', async () => {
      const w = world();
      await tell(w, '1', '1');
      expect(await tell(w, '0.5', null)).toEqual(['1', 'coingecko', '0.5', 1]);
      expect(await tell(w, '0.505', null)).toEqual(['1', 'coingecko', '0.505', 1]);
      expect(await tell(w, '0.5', null)).toEqual(['0.5', 'coingecko', undefined, undefined]);
    });

    test('readings that contradict each other confirm nothing', async () => {
      const w = world();
      await tell(w, '1', '1');
      for (const usd of ['1.5', '0.5', '1.5', '0.5', '3']) expect((await tell(w, usd, null))[0]).toBe('1');
    });

    test.each([null, 1.025])(
      'a loss of the peg that goes on (second source: %s of the first) is told by the third reading',
      async (of) => {
        const w = world();
        await tell(w, '1', '1');
        const seen: unknown[] = [];
        for (const usd of [0.75, 0.72, 0.69, 0.66]) {
          seen.push((await tell(w, String(usd), of === null ? null : String(usd * of)))[0]);
        }
        expect(seen).toEqual(['1', '1', '0.69', '0.66']);
      },
    );

    test('a reading that fails leaves a value in doubt, and the next one that tells it counts', async () => {
      const w = world();
      await tell(w, '1', '1');
      await tell(w, '0.5', null);
      w.ports.prices = [
        { name: 'coingecko', usdPrices: fails('rate_limited') },
        { name: 'defillama', usdPrices: fails('timeout') },
      ];
      await expect(w.run('prices:1')).rejects.toMatchObject({ reason: 'rate_limited' });
      expect(w.facts().groups.price.failures.get(usdc)).toMatchObject({
        reason: 'rate_limited',
        suspect: { readings: 1 },
      });
      expect((await tell(w, '0.5', null))[0]).toBe('1');
      expect((await tell(w, '0.5', null))[0]).toBe('0.5');
      expect(w.facts().groups.price.failures.get(usdc)).toBeUndefined();
    });

    test('a real loss of the peg that both tell is published at once, however large', async () => {
      const w = world();
      await tell(w, '1', '1');
      expect(await tell(w, '0.31', '0.312')).toEqual(['0.31', 'coingecko', undefined, undefined]);
    });

    test('a real loss of the peg that only one can tell is shown within a minute of its first reading', async () => {
      const w = world();
      await tell(w, '1', null);
      const known = w.warmers.find(({ name }) => name === 'prices:1');
      if (!known) throw new Error('a warmer of prices expected');
      const prices: Warmer = { ...known, run: (signal, mode) => w.run('prices:1', mode, signal) };
      const { clock, timers } = w.time;
      const lease = createMemoryLease();
      const told: (string | undefined)[] = [];
      const onRun = () => told.push(w.facts().groups.price.items.get(usdc)?.value.usd.toFixed());
      w.ports.prices = [
        { name: 'coingecko', usdPrices: priced('0.7') },
        { name: 'defillama', usdPrices: fails('timeout') },
      ];
      const logger = rememberingLogger();
      const runner = createWarmerRunner({ warmers: [prices], clock, timers, logger, lease, random: () => 0, onRun });
      await runner.start();
      const firstMs = clock.now();
      while (told.at(-1) !== '0.7') {
        expect(clock.now() - firstMs, String(told)).toBeLessThan(60_000);
        await w.time.advance(1_000);
      }
      expect(told).toEqual(['1', '1', '0.7']);
      await runner.stop();
    });

    test.each(['900000000', '0.001'])(
      'before any price is known, %s of one provider is held against the oracle, and not published',
      async (absurd) => {
        const { address } = token('sUSDe');
        const collateral = (usd: string) => async (tokens: readonly { address: string }[]) =>
          all(
            tokens.map((each) => each.address),
            (each) => ({ usd: pct(each === address ? usd : '1') }),
          );
        const first = async (second: string | null) => {
          const w = world();
          await w.run('lending-state:1');
          w.ports.prices = [
            { name: 'coingecko', usdPrices: collateral(absurd) },
            { name: 'defillama', usdPrices: second === null ? fails('timeout') : collateral(second) },
          ];
          await w.run('prices:1');
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
      'before any price is known, one that tells all a hundredfold confirms nothing by its own prices (other: %s)',
      async (second, shown) => {
        const w = world();
        await w.run('lending-state:1');
        const { address } = token('sUSDe');
        const scaled = (factor: string) => async (tokens: readonly { address: string }[]) =>
          all(
            tokens.map((each) => each.address),
            (each) => ({ usd: pct(each === address ? '1.1' : '1').times(factor) }),
          );
        w.ports.prices = [
          { name: 'coingecko', usdPrices: scaled('100') },
          { name: 'defillama', usdPrices: second === null ? fails('timeout') : scaled(second) },
        ];
        await w.run('prices:1');
        expect(w.facts().groups.price.items.get(address)?.value.usd.toFixed()).toBe(shown);
      },
    );

    test.each([
      ['of it alone', 'WETH', (symbol: string) => symbol === 'WETH'],
      ['of all that follows it', 'weETH', (symbol: string) => /ETH/.test(symbol)],
    ])(
      'before any price is known, a false one of a loan token (%s) is held against what two oracles make of it',
      async (_, symbol, isFalse) => {
        const told = (usd: string) => async (tokens: readonly Token[]) =>
          all(
            tokens.map(({ address }) => address),
            (address) => ({ usd: pct(tokens.some((t) => t.address === address && isFalse(t.symbol)) ? usd : '1') }),
          );
        const first = async (second: string | null) => {
          const w = world();
          await w.run('lending-state:1');
          w.ports.prices = [
            { name: 'coingecko', usdPrices: told('900000000') },
            { name: 'defillama', usdPrices: second === null ? fails('timeout') : told(second) },
          ];
          await w.run('prices:1');
          const { items, failures } = w.facts().groups.price;
          const { address } = token(symbol);
          return [items.get(address)?.value.usd.toFixed(), failures.get(address)?.suspect?.value.toFixed()];
        };
        expect(await first(null)).toEqual([undefined, '900000000']);
        expect(await first('1')).toEqual(['1', undefined]);
      },
    );

    test('before anything is known, a stablecoin at 1.5 USD of one provider is not published', async () => {
      expect((await tell(world(), '1.5', null))[0]).toBeUndefined();
      expect((await tell(world(), '1.5', '1'))[0]).toBe('1');
    });
  });

  describe('a price that its provider saw long ago', () => {
    const usdc = token('USDC').address;
    const MINUTE = 60_000;
    const seen = (usd: string, agoMin: number) => async (tokens: readonly { readonly address: string }[]) => {
      const keys = tokens.map(({ address }) => address);
      const measuredMs = new Map(keys.map((key) => [key, NOW_MS - agoMin * MINUTE]));
      return { ...all(keys, () => ({ usd: pct(usd) })), measuredMs };
    };
    const priced = async (first: readonly [string, number], second: readonly [string, number] | null) => {
      const w = world();
      w.ports.prices = [
        { name: 'coingecko', usdPrices: seen(...first) },
        { name: 'defillama', usdPrices: second === null ? fails('timeout') : seen(...second) },
      ];
      await w.run('prices:1');
      const fact = w.facts().groups.price.items.get(usdc);
      return [fact?.source, fact && (NOW_MS - fact.asOfMs) / MINUTE];
    };

    test('is as old as that, however often it is asked', async () => {
      expect(await priced(['1', 300], null)).toEqual(['coingecko', 300]);
    });

    test('is replaced by a newer one of the second provider, and by no older one', async () => {
      expect(await priced(['1', 300], ['1', 2])).toEqual(['defillama', 2]);
      expect(await priced(['1', 300], ['1', 400])).toEqual(['coingecko', 300]);
      expect(await priced(['1', 3], ['1', 0])).toEqual(['coingecko', 3]);
    });
  });
});
