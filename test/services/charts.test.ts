import { describe, expect, it } from 'vitest';
import { createCandles, createCharts } from '../../src/services/charts.ts';
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

/** Request many unknown assets. @returns the number of requests to the provider */
async function flood(ask: (n: number) => Promise<unknown>): Promise<unknown[]> {
  const refusals: unknown[] = [];
  for (let n = 0; n < 100; n += 1) await ask(n).catch((error: unknown) => refusals.push(error));
  return refusals;
}

describe('createCharts', () => {
  const world = () => {
    const clock = clockOf();
    const requested: string[] = [];
    const charts = createCharts({
      clock,
      timeouts: systemTimers,
      isOurs: (coinId) => coinId === OURS,
      upstream: {
        chart: async (coinId) => {
          requested.push(coinId);
          return coinId === OURS ? { prices: [[1, 2]], marketCaps: [], totalVolumes: [] } : null;
        },
      },
    });
    return { clock, requests: requested, charts };
  };

  it('default: always requests catalog coins, after any other requests', async () => {
    const { charts, requests: request } = world();
    await flood((n) => charts.chart(`made-up-${n}`, 7, 'usd'));
    expect(await charts.chart(OURS, 7, 'usd')).toMatchObject({ source: 'coingecko', prices: [[1, 2]] });
    expect(request.at(-1)).toBe(OURS);
  });

  it('error: UpstreamUnavailableError when the quota of unlisted coins is used up, with the waiting time', async () => {
    const { charts, requests, clock } = world();
    const refusals = await flood((n) => charts.chart(`made-up-${n}`, 7, 'usd'));
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.length + refusals.length).toBe(100);
    expect(refusals[0]).toMatchObject({
      code: 'upstream_unavailable',
      details: { provider: 'coingecko', reason: 'throttled' },
      retryAfterSec: expect.any(Number),
    });
    clock.pass(MINUTE_MS);
    expect(await charts.chart('made-up-later', 7, 'usd')).toBe(null);
  });

  it('behavior: does not request an unknown coin again within a minute', async () => {
    const { charts, requests: input, clock } = world();
    for (let n = 0; n < 50; n += 1) expect(await charts.chart('made-up', 7, 'usd')).toBe(null);
    expect(input).toEqual(['made-up']);
    clock.pass(MINUTE_MS);
    await charts.chart('made-up', 7, 'usd');
    expect(input).toHaveLength(2);
  });
});

describe('createCandles', () => {
  it('behavior: catalog tokens are always requested; unlisted ones are refused', async () => {
    const chain = chainOf(1);
    const addresses: Address[] = [];
    const { candles } = createCandles({
      clock: clockOf(),
      timeouts: systemTimers,
      chain: () => chain,
      upstream: {
        deepestPool: async (_chain, token) => {
          addresses.push(token);
          return null;
        },
        candles: async () => ({ candles: [], dropped: 0 }),
      },
    });
    const query = { chainId: 1, timeframe: 'hour', aggregate: 1, limit: 10 } as const;
    const madeUp = (n: number) => `0xfade${n.toString(16).padStart(36, '0')}` as Address;
    const refusals = await flood((n) => candles({ ...query, token: madeUp(n) }));
    expect(refusals.length).toBeGreaterThan(50);
    expect(refusals[0]).toMatchObject({ code: 'upstream_unavailable', details: { provider: 'geckoterminal' } });
    const ours = chain.tokens[0]?.address as Address;
    expect(await candles({ ...query, token: ours })).toBe(null);
    expect(addresses.at(-1)).toBe(ours);
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
