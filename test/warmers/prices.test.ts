import { describe, expect, test } from 'vitest';
import { fails, NOW_MS, token, world } from './world.ts';

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
