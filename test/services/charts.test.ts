import { describe, expect, it } from 'vitest';
import { createCandles, createCharts } from '../../src/services/charts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address } from '../../src/shared/ids.ts';
import { systemTimers, type Timers } from '../../src/shared/timers.ts';
import { chainOf } from '../domain/world.ts';

const OURS = 'weth';
const MINUTE_MS = 60_000;

function clockOf() {
  let nowMs = 1_000_000;
  return {
    now: () => nowMs,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe('createCharts', () => {
  const world = () => {
    const clock = clockOf();
    const requested: string[] = [];
    const unlisted: string[] = [];
    const charts = createCharts({
      clock,
      timeouts: systemTimers,
      isOurs: (coinId) => coinId === OURS,
      upstream: {
        chart: async (coinId, _days, _currency, options) => {
          requested.push(coinId);
          if (options?.isUnlisted) unlisted.push(coinId);
          return coinId === OURS ? { prices: [[1, 2]], marketCaps: [], totalVolumes: [] } : null;
        },
      },
    });
    return { clock, requests: requested, unlisted, charts };
  };

  it('default', async () => {
    const { charts } = world();
    expect(await charts.chart(OURS, 7, 'usd')).toMatchObject({ source: 'coingecko', prices: [[1, 2]] });
  });

  it('behavior: a coin that is not in the catalog is requested as such', async () => {
    const { charts, unlisted } = world();
    await charts.chart(OURS, 7, 'usd');
    await charts.chart('made-up', 7, 'usd');
    expect(unlisted).toEqual(['made-up']);
  });

  it.each([
    [1, 5],
    [7, 30],
    [365, 30],
  ])('behavior: a chart of %s days is requested again after %s minutes', async (days, minutes) => {
    const { charts, requests, clock } = world();
    await charts.chart(OURS, days, 'usd');
    clock.pass(minutes * MINUTE_MS - 1);
    await charts.chart(OURS, days, 'usd');
    expect(requests).toHaveLength(1);
    clock.pass(1);
    await charts.chart(OURS, days, 'usd');
    expect(requests).toHaveLength(2);
  });

  it('behavior: does not request an unknown coin again soon', async () => {
    const { charts, requests: input, clock } = world();
    for (let n = 0; n < 50; n += 1) expect(await charts.chart('made-up', 7, 'usd')).toBe(null);
    expect(input).toEqual(['made-up']);
    clock.pass(30 * MINUTE_MS);
    await charts.chart('made-up', 7, 'usd');
    expect(input).toHaveLength(2);
  });
});

describe('createCandles', () => {
  it('behavior: a token that is not in the catalog is requested as such, its pool as well as its candles', async () => {
    const chain = chainOf(1);
    const unlisted: [string, boolean | undefined][] = [];
    const { candles } = createCandles({
      clock: clockOf(),
      timeouts: systemTimers,
      chain: () => chain,
      upstream: {
        deepestPool: async (_chain, _token, options) => {
          unlisted.push(['pool', options?.isUnlisted]);
          return { address: '0x1', name: 'a', dex: 'b', reserveUsd: new Decimal(1), side: 'base' };
        },
        candles: async (_chain, _pool, _query, options) => {
          unlisted.push(['candles', options?.isUnlisted]);
          return { candles: [], dropped: 0 };
        },
      },
    });
    const query = { chainId: 1, timeframe: 'hour', aggregate: 1, limit: 10 } as const;
    const ours = chain.tokens[0]?.address as Address;
    for (const token of [`0xfade${'0'.repeat(36)}` as Address, ours]) await candles({ ...query, token });
    expect(unlisted).toEqual([
      ['pool', true],
      ['candles', true],
      ['pool', false],
      ['candles', false],
    ]);
  });
});

describe('a provider that does not answer', () => {
  /** Timers that fire at once, and the waits that were asked for. */
  const waits: number[] = [];
  const timeouts: Timers = {
    setTimeout: (callback, ms) => {
      waits.push(ms);
      return setImmediate(callback);
    },
    clearTimeout: (handle) => clearImmediate(handle as NodeJS.Immediate),
  };
  const never = () => new Promise<never>(() => {});
  const late = (provider: string) => ({
    code: 'upstream_unavailable',
    details: { provider, reason: 'timeout' },
    retryAfterSec: 5,
  });

  it('error: UpstreamUnavailableError for a chart after 5 s', async () => {
    waits.length = 0;
    const charts = createCharts({ clock: clockOf(), timeouts, isOurs: () => true, upstream: { chart: never } });
    await expect(charts.chart(OURS, 7, 'usd')).rejects.toMatchObject(late('coingecko'));
    expect(waits).toEqual([5_000]);
  });

  it('error: UpstreamUnavailableError for candles after 5 s for pool and candles together', async () => {
    waits.length = 0;
    const chain = chainOf(1);
    const upstream = { deepestPool: never, candles: never };
    const { candles } = createCandles({ clock: clockOf(), timeouts, chain: () => chain, upstream });
    const token = chain.tokens[0]?.address as Address;
    const asked = candles({ chainId: 1, token, timeframe: 'hour', aggregate: 1, limit: 10 });
    await expect(asked).rejects.toMatchObject(late('geckoterminal'));
    expect(waits).toEqual([5_000]);
  });
});
