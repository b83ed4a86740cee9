import { expect, test } from 'vitest';
import { FAULT_KINDS, type Fault, type RecordedRequest } from '../../../devnet/upstreams/index.ts';
import type { Json, TestService } from '../../support/service.ts';
import type { createWaitTimeouts } from '../../support/wait-timeouts.ts';
import { expectEnvelope, SUSDE, UNKNOWN_ADDRESS } from '../known.ts';

export const OHLCV = '/v1/prices/ohlcv';
export const MINUTE_MS = 60_000;

/** A fault of a kind. */
export const faultOf = (kind: Fault['kind']): Fault => {
  if (kind === 'latency') return { kind, ms: 10 };
  if (kind === 'fields') return { kind, set: {} };
  return kind === 'status' || kind === 'answer' ? { kind, status: 500 } : { kind };
};

/** A relay passes values on as they are: one within the range of prices is not its to judge. */
export const RELAY_FAULTS = FAULT_KINDS.filter((kind) => kind !== 'scaled' && kind !== 'fields');

interface RelayWorld {
  service(): TestService;
  /** The requests to a provider whose path has a part. */
  requested(provider: 'coingecko' | 'geckoterminal', part: string): RecordedRequest[];
  readonly waitTimeouts: ReturnType<typeof createWaitTimeouts>;
}

/** Candles by REST and GraphQL, from the simulated provider. */
export function candleCases({ service, requested, waitTimeouts }: RelayWorld): void {
  const candleRequests = () => requested('geckoterminal', '/ohlcv/');
  const poolRequests = () => requested('geckoterminal', '/pools').filter(({ path }) => path.endsWith('/pools'));

  test('default: hourly USD candles of the deepest pool, oldest first', async () => {
    const { status, body } = await service().get(`${OHLCV}?token=${SUSDE.toLowerCase()}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      chainId: 1,
      token: SUSDE,
      timeframe: 'hour',
      aggregate: 1,
      currency: 'usd',
      stale: false,
    });
    expect(Object.keys(body.pool).sort()).toEqual(['address', 'dex', 'name']);
    expect(body.candles).toHaveLength(168);
    const times = body.candles.map(({ t }: Json) => t);
    expect(times).toEqual([...times].sort((a: number, b: number) => a - b));
    expect(times[1] - times[0]).toBe(3_600);
    for (const candle of body.candles) {
      expect(Object.keys(candle)).toEqual(['t', 'o', 'h', 'l', 'c', 'v']);
      expect(candle.h).toBeGreaterThanOrEqual(Math.max(candle.o, candle.c));
      expect(candle.l).toBeLessThanOrEqual(Math.min(candle.o, candle.c));
    }
    // The deepest pool is the one with the largest reserve, in any order.
    const { urls } = service().world.upstreams;
    const response = await fetch(`${urls.geckoterminal}/networks/eth/tokens/${SUSDE}/pools?page=1`);
    const rows = ((await response.json()) as Json).data as Json[];
    const deepest = rows.sort((a, b) => Number(b.attributes.reserve_in_usd) - Number(a.attributes.reserve_in_usd))[0];
    expect(body.pool.address.toLowerCase()).toBe(deepest.attributes.address.toLowerCase());
  });

  test('behavior: an explicit default is the same request', async () => {
    const left = await service().get(`${OHLCV}?token=${SUSDE}`);
    for (const given of ['&chainId=1', '&timeframe=hour', '&aggregate=1', '&limit=168']) {
      expect((await service().get(`${OHLCV}?token=${SUSDE}${given}`)).body).toEqual(left.body);
    }
    const all = `${OHLCV}?token=${SUSDE.toLowerCase()}&chainId=1&timeframe=hour&aggregate=1&limit=168`;
    expect((await service().get(all)).body).toEqual(left.body);
    expect(candleRequests()).toHaveLength(1);
    expect(candleRequests()[0]?.path).toContain('/ohlcv/hour');
    expect(candleRequests()[0]?.query).toMatchObject({ aggregate: '1', limit: '168', currency: 'usd' });
  });

  const SIZES = { minute: [1, 5, 15], hour: [1, 4, 12], day: [1] } as const;
  const SECONDS = { minute: 60, hour: 3_600, day: 86_400 } as const;
  const pairs = Object.entries(SIZES).flatMap(([timeframe, sizes]) =>
    [1, 4, 5, 12, 15].map((size) => [timeframe, size, (sizes as readonly number[]).includes(size)] as const),
  );
  test.each(pairs.filter(([, , good]) => good))('behavior: %s x %i', async (timeframe, size) => {
    const path = `${OHLCV}?token=${SUSDE}&timeframe=${timeframe}&aggregate=${size}&limit=5`;
    const { status, body } = await service().get(path);
    expect(status).toBe(200);
    expect(body).toMatchObject({ timeframe, aggregate: size });
    expect(body.candles).toHaveLength(5);
    expect(body.candles[1].t - body.candles[0].t).toBe(size * SECONDS[timeframe as keyof typeof SECONDS]);
  });
  test.each(pairs.filter(([, , good]) => !good))('error: bad_request %s x %i', async (timeframe, size) => {
    const path = `${OHLCV}?token=${SUSDE}&timeframe=${timeframe}&aggregate=${size}`;
    expect(expectEnvelope(await service().get(path), 400, 'bad_request').details.field).toContain('aggregate');
  });

  test.each([
    '',
    '?token=',
    '?token=abc',
    `?token=${SUSDE}0`,
    `?token=${SUSDE.slice(2)}`,
    `?token=${SUSDE}&token=${SUSDE}`,
    `?token=${SUSDE}&timeframe=week`,
    `?token=${SUSDE}&timeframe=HOUR`,
    `?token=${SUSDE}&timeframe=`,
    `?token=${SUSDE}&aggregate=0`,
    `?token=${SUSDE}&aggregate=-1`,
    `?token=${SUSDE}&aggregate=1.0`,
    `?token=${SUSDE}&aggregate=`,
    `?token=${SUSDE}&limit=0`,
    `?token=${SUSDE}&limit=1001`,
    `?token=${SUSDE}&limit=-5`,
    `?token=${SUSDE}&limit=abc`,
    `?token=${SUSDE}&limit=10.5`,
    `?token=${SUSDE}&limit=`,
  ])('error: bad_request %s', async (query) => {
    expectEnvelope(await service().get(OHLCV + query), 400, 'bad_request');
    expect(poolRequests()).toEqual([]);
  });

  test.each([1, 1000])('behavior: limit %i is inside the bounds', async (limit) => {
    const { status, body } = await service().get(`${OHLCV}?token=${SUSDE}&limit=${limit}`);
    expect(status).toBe(200);
    expect(body.candles).toHaveLength(limit);
  });

  test('error: not_found without a pool, cached for a moment', async () => {
    const path = `${OHLCV}?token=${UNKNOWN_ADDRESS}`;
    expectEnvelope(await service().get(path), 404, 'not_found');
    expectEnvelope(await service().get(path), 404, 'not_found');
    expect(poolRequests()).toHaveLength(1);
    expect(candleRequests()).toEqual([]);
  });

  test('behavior: one upstream call for a burst of equal requests, cached 30 s', async () => {
    const path = `${OHLCV}?token=${SUSDE}&limit=24`;
    const burst = await Promise.all(Array.from({ length: 25 }, () => service().get(path)));
    expect(new Set(burst.map(({ text }) => text)).size).toBe(1);
    expect([poolRequests().length, candleRequests().length]).toEqual([1, 1]);
    service().clock.advance(30_000 - 1);
    expect((await service().get(path)).body).toEqual(burst[0]?.body);
    expect(candleRequests()).toHaveLength(1);
    service().clock.advance(1);
    const later = await service().get(path);
    expect(candleRequests()).toHaveLength(2);
    expect(Date.parse(later.body.asOf)).toBeGreaterThan(Date.parse(burst[0]?.body.asOf));
  });

  test('behavior: serves previous candles for 10 minutes, marked stale, then 503', async () => {
    const path = `${OHLCV}?token=${SUSDE}&limit=12`;
    const good = await service().get(path);
    expect(good.body.stale).toBe(false);
    service().world.upstreams.faults.set('geckoterminal', { kind: 'status', status: 502 });
    service().clock.advance(MINUTE_MS);
    const early = await service().get(path);
    expect(early.status).toBe(200);
    expect(early.body).toEqual({ ...good.body, stale: true });
    service().clock.advance(9 * MINUTE_MS);
    expect((await service().get(path)).body).toEqual({ ...good.body, stale: true });
    service().clock.advance(1);
    expectEnvelope(await service().get(path), 503, 'upstream_unavailable');
    service().world.upstreams.faults.clear();
    service().clock.advance(MINUTE_MS);
    const healed = await service().get(path);
    expect(healed.body.stale).toBe(false);
    expect(Date.parse(healed.body.asOf)).toBeGreaterThan(Date.parse(good.body.asOf));
  });

  test('error: upstream_unavailable without previous candles', async () => {
    service().world.upstreams.faults.set('geckoterminal', { kind: 'rateLimited', retryAfterSec: 30 });
    const answer = await service().get(`${OHLCV}?token=${SUSDE}&limit=17`);
    expectEnvelope(answer, 503, 'upstream_unavailable');
    expect(Number(answer.headers.get('retry-after'))).toBe(30);
  });

  test.each([false, true])(
    'error: a Retry-After of ten years is limited to five minutes (as a date: %s)',
    async (asDate) => {
      const years = { kind: 'rateLimited', retryAfterSec: 10 * 365 * 86_400, asDate } as const;
      service().world.upstreams.faults.set('geckoterminal', years);
      const answer = await service().get(`${OHLCV}?token=${SUSDE}&limit=${asDate ? 26 : 27}`);
      expectEnvelope(answer, 503, 'upstream_unavailable');
      expect(answer.headers.get('retry-after')).toBe('300');
      const document = `query($t: Address!) { candles(chainId: 1, address: $t, limit: ${asDate ? 28 : 29}) { asOf } }`;
      const { body } = await service().graphql(document, { t: SUSDE });
      expect(body.errors?.[0].extensions, JSON.stringify(body)).toMatchObject({
        code: 'upstream_unavailable',
        retryAfterSec: 300,
      });
    },
  );

  test.each(['hang', 'malformed', 'html', 'reset', 'absurd', 'nan', 'missingField'] as const)(
    'error: upstream_unavailable instead of candles: %s',
    async (kind) => {
      service().world.upstreams.faults.set('geckoterminal', { kind }, { path: '/ohlcv/' });
      waitTimeouts.endFor(kind);
      const answer = await service().get(`${OHLCV}?token=${SUSDE}&limit=19`);
      expectEnvelope(answer, 503, 'upstream_unavailable');
      expect(answer.text).not.toMatch(/NaN|1e\+?30|1000000000/);
    },
  );

  test('behavior: drops malformed rows', async () => {
    const path = `${OHLCV}?token=${SUSDE}&limit=30`;
    const good = await service().get(path);
    service().clock.advance(31_000);
    service().world.upstreams.faults.set('geckoterminal', { kind: 'partial' }, { path: '/ohlcv/' });
    const partial = await service().get(path);
    expect(partial.status).toBe(200);
    expect(partial.body.candles.length).toBeLessThan(30);
    expect(partial.body.candles.length).toBeGreaterThan(0);
    const times = new Set(good.body.candles.map(({ t }: Json) => t));
    for (const candle of partial.body.candles) expect(times.has(candle.t)).toBe(true);
  });

  test.each(RELAY_FAULTS)(
    'behavior: after good candles, %s gives those, marked stale, or correct ones',
    async (kind) => {
      const path = `${OHLCV}?token=${SUSDE}&limit=21`;
      const good = await service().get(path);
      service().clock.advance(31_000);
      service().world.upstreams.faults.set('geckoterminal', faultOf(kind), { path: '/ohlcv/' });
      waitTimeouts.endFor(kind);
      const { status, body } = await service().get(path);
      expect(status).toBe(200);
      if (body.stale) expect(body).toEqual({ ...good.body, stale: true });
      const known = new Map<number, Json>(good.body.candles.map((candle: Json) => [candle.t, candle]));
      for (const candle of body.candles) {
        // The world's prices move by a hair in half a minute.
        for (const side of ['o', 'h', 'l', 'c'] as const)
          expect(candle[side] / known.get(candle.t)[side]).toBeCloseTo(1, 4);
      }
      expect(body.stale).toBe(!['latency', 'duplicate', 'partial', 'future'].includes(kind));
    },
  );

  test('behavior: never exceeds the request budget of the provider', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => service().get(`${OHLCV}?token=${SUSDE}&limit=${100 + i}`)),
    );
    expect(service().world.upstreams.requests('geckoterminal').length).toBeLessThanOrEqual(30);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(20);
    for (const answer of refused) expectEnvelope(answer, 503, 'upstream_unavailable');
  });

  test('behavior: GraphQL returns the same candles and status', async () => {
    const query = `query ($token: Address!, $limit: Int!) {
      candles(chainId: 1, address: $token, limit: $limit) { chainId token: address pool { address: poolId name dex: exchange } stale: lastGood candles { startAt openUsd highUsd lowUsd closeUsd volumeUsd } }
      token(chainId: 1, address: $token) { candles(limit: $limit) { candles { closeUsd } } }
    }`;
    const rest = await service().get(`${OHLCV}?token=${SUSDE}&limit=6`);
    const { body } = await service().graphql(query, { token: SUSDE, limit: 6 });
    expect(body.errors).toBeUndefined();
    const candles = body.data.candles.candles.map((row: Json) => ({
      t: Date.parse(row.startAt) / 1_000,
      o: Number(row.openUsd),
      h: Number(row.highUsd),
      l: Number(row.lowUsd),
      c: Number(row.closeUsd),
      v: Number(row.volumeUsd),
    }));
    expect(rest.body).toMatchObject({ ...body.data.candles, candles });
    const ofToken = body.data.token.candles.candles.map(({ closeUsd }: Json) => Number(closeUsd));
    expect(ofToken).toEqual(candles.map(({ c }: Json) => c));
  });
}
