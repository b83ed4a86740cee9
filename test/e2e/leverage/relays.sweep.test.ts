import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RecordedRequest } from '../../../devnet/upstreams/index.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { createWaitTimeouts } from '../../support/wait-timeouts.ts';
import { expectEnvelope } from '../known.ts';
import { candleCases, faultOf, MINUTE_MS, OHLCV, RELAY_FAULTS } from './candle-cases.ts';

const CHART = '/v1/prices/chart';
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const waitTimeouts = createWaitTimeouts();
let service: TestService;
beforeAll(async () => {
  const env = { UPSTREAM_LIMITS: 'ALL=1000000/minute GECKOTERMINAL=30/minute' };
  service = await startService({ env, sleep: noSleep, timeouts: waitTimeouts.timeouts });
});
afterAll(() => service?.stop());
beforeEach(() => {
  service.world.upstreams.faults.clear();
  waitTimeouts.restore();
  // Nothing is remembered from the test before: neither answers nor spent budget nor a resting provider. Ten past the
  // hour: no candle ends within a test.
  const now = service.clock.now();
  service.clock.advance(Math.ceil(now / HOUR_MS) * HOUR_MS + 2 * HOUR_MS + 10 * MINUTE_MS - now);
  service.world.upstreams.clearRequests();
});

const requested = (provider: 'coingecko' | 'geckoterminal', part: string): RecordedRequest[] =>
  service.world.upstreams.requests(provider).filter(({ path }) => path.includes(part));
const chartRequests = () => requested('coingecko', '/market_chart');

describe(CHART, () => {
  test('default: seven days in USD, as the provider returns them', async () => {
    const { status, body } = await service.get(`${CHART}?coinId=ethena-staked-usde`);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['prices', 'market_caps', 'total_volumes']);
    const times = body.prices.map(([at]: [number]) => at);
    expect(times).toEqual([...times].sort((a: number, b: number) => a - b));
    expect(times.at(-1) - times[0]).toBeGreaterThan(6 * DAY_MS);
    expect(times.at(-1) - times[0]).toBeLessThan(8 * DAY_MS);
    expect(chartRequests().map(({ path, query }) => [path, query])).toEqual([
      ['/coins/ethena-staked-usde/market_chart', { vs_currency: 'usd', days: '7' }],
    ]);
  });

  test('behavior: an explicit default is the same request', async () => {
    const base = `${CHART}?coinId=ethena-staked-usde`;
    const left = await service.get(base);
    for (const given of ['&days=7', '&currency=usd', '&days=7&currency=usd', '&currency=usd&days=07']) {
      expect((await service.get(base + given)).body).toEqual(left.body);
    }
    expect(chartRequests()).toHaveLength(1);
    const month = await service.get(`${base}&days=30`);
    expect(month.body.prices[0][0]).toBeLessThan(left.body.prices[0][0]);
  });

  test('behavior: GraphQL returns the same points', async () => {
    const rest = await service.get(`${CHART}?coinId=ethena-staked-usde&days=3`);
    const { body } = await service.graphql(
      '{ priceChart(coinId: "ethena-staked-usde", days: 3) { prices { at value } marketCaps { at value } totalVolumes { at value } } }',
    );
    const pairs = (points: Json[]) => points.map(({ at, value }) => [Date.parse(at), Number(value)]);
    expect(pairs(body.data.priceChart.prices)).toEqual(rest.body.prices);
    expect(pairs(body.data.priceChart.marketCaps)).toEqual(rest.body.market_caps);
    expect(pairs(body.data.priceChart.totalVolumes)).toEqual(rest.body.total_volumes);
    expect(chartRequests()).toHaveLength(1);
  });

  test.each([
    '',
    '?coinId=',
    '?days=7',
    '?coinId=a&coinId=b',
    '?coinId=../simple/price',
    '?coinId=a%2Fb',
    '?coinId=ethena&days=0',
    '?coinId=ethena&days=-1',
    '?coinId=ethena&days=1.5',
    '?coinId=ethena&days=abc',
    '?coinId=ethena&days=',
    '?coinId=ethena&days=1e3',
    '?coinId=ethena&days=366',
    '?coinId=ethena&days=max',
    '?coinId=ethena&currency=',
    '?coinId=ethena&currency=us%20d',
    '?coinId=ethena&currency=dollars',
  ])('error: bad_request %s', async (query) => {
    expectEnvelope(await service.get(CHART + query), 400, 'bad_request');
    expect(chartRequests()).toEqual([]);
  });

  test('error: bad_request for a coin that the provider does not know: the contract has no 404 here', async () => {
    expectEnvelope(await service.get(`${CHART}?coinId=no-such-coin`), 400, 'bad_request');
  });

  test('error: bad_request for a currency that the provider has no prices in, naming it', async () => {
    const answer = await service.get(`${CHART}?coinId=ethena-staked-usde&currency=xyz`);
    expectEnvelope(answer, 400, 'bad_request');
    expect(answer.body.error.details.issues ?? answer.body.error.details).toMatchObject({ value: 'xyz' });
    expect(answer.text).not.toContain('vs_currency');
  });

  test('error: upstream_unavailable without texts of the upstream', async () => {
    service.world.upstreams.faults.set('coingecko', { kind: 'status', status: 500 });
    const answer = await service.get(`${CHART}?coinId=ethena-staked-usde&days=5`);
    expectEnvelope(answer, 503, 'upstream_unavailable');
    expect(answer.text).not.toContain('Simulated failure');
    expect(answer.text).not.toContain(service.world.upstreams.origin);
    service.world.upstreams.faults.clear();
    service.clock.advance(MINUTE_MS);
    expect((await service.get(`${CHART}?coinId=ethena-staked-usde&days=5`)).status).toBe(200);
  });

  test.each(RELAY_FAULTS)('behavior: %s gives correct points or none', async (kind) => {
    const path = `${CHART}?coinId=ethena-staked-usde&days=2`;
    const good = await service.get(path);
    service.clock.advance(MINUTE_MS + 1_000);
    service.world.upstreams.faults.set('coingecko', faultOf(kind));
    waitTimeouts.endFor(kind);
    const answer = await service.get(path);
    if (answer.status !== 200) {
      expectEnvelope(answer, 503, 'upstream_unavailable');
      expect(['latency', 'duplicate', 'partial', 'future']).not.toContain(kind);
      return;
    }
    const range = good.body.prices.map(([, price]: [number, number]) => price);
    for (const [at, price] of answer.body.prices) {
      expect(at).toBeGreaterThan(1e12);
      expect(at).toBeLessThanOrEqual(service.clock.now());
      expect(price).toBeGreaterThan(Math.min(...range) * 0.99);
      expect(price).toBeLessThan(Math.max(...range) * 1.01);
    }
  });

  test('behavior: drops implausible points, and an answer with only such points', async () => {
    service.world.upstreams.faults.set('coingecko', { kind: 'absurd' });
    const answer = await service.get(`${CHART}?coinId=ethena-staked-usde`);
    expectEnvelope(answer, 503, 'upstream_unavailable');
  });

  test('behavior: one upstream call for a burst of equal requests, and none for half an hour', async () => {
    const path = `${CHART}?coinId=ethena-staked-usde&days=9`;
    const burst = await Promise.all(Array.from({ length: 25 }, () => service.get(path)));
    expect(new Set(burst.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(burst.map(({ text }) => text)).size).toBe(1);
    expect(chartRequests()).toHaveLength(1);
    service.clock.advance(30 * MINUTE_MS - 1);
    await service.get(path);
    expect(chartRequests()).toHaveLength(1);
    service.clock.advance(1);
    await service.get(path);
    expect(chartRequests()).toHaveLength(2);
  });
});

describe('bounds of REST and GraphQL', () => {
  const IN_BOUNDS = ['days=1', 'days=365', 'currency=EUR', 'currency=usd'];
  const OUT_OF_BOUNDS = ['days=0', 'days=366', 'currency=e', 'currency=dollar'];
  test.each([
    ...IN_BOUNDS.map((request) => [request, true] as const),
    ...OUT_OF_BOUNDS.map((input) => [input, false] as const),
  ])('%s of a chart: served %s by both', async (requested, served) => {
    const rest = await service.get(`${CHART}?coinId=ethena-staked-usde&${requested}`);
    const [name, value = ''] = requested.split('=');
    const argument = `${name}: ${name === 'days' ? value : JSON.stringify(value)}`;
    const { body } = await service.graphql(
      `{ priceChart(coinId: "ethena-staked-usde", ${argument}) { prices { at } } }`,
    );
    expect(rest.status).toBe(served ? 200 : 400);
    expect(body.errors?.[0].extensions.code).toBe(served ? undefined : 'bad_request');
    expect(body.errors?.[0].extensions.details.field).toBe(served ? undefined : name);
    if (served || name !== 'days') return;
    const limit = { min: 1, max: 365 };
    expect(rest.body.error.details).toMatchObject({ field: 'query.days', value, limit });
    expect(body.errors?.[0].extensions.details).toMatchObject({ limit });
  });

  test('the documents of both have them', async () => {
    const { body } = await service.get('/openapi.json');
    const { get } = body.paths['/v1/prices/chart'];
    const days = get.parameters.find(({ name }: Json) => name === 'days');
    expect(days.schema).toMatchObject({ minimum: 1, maximum: 365, default: 7 });
    expect(days.description).toContain('1 to 365');
    expect(Object.keys(get.responses)).toEqual(expect.arrayContaining(['200', '400', '503']));
    expect(Object.keys(get.responses)).not.toContain('404');
    const { body: schema } = await service.graphql(
      '{ __type(name: "Query") { fields { name args { name description } } } }',
    );
    const field = schema.data.__type.fields.find(({ name }: Json) => name === 'priceChart');
    expect(field.args.find(({ name }: Json) => name === 'days').description).toContain('1 to 365');
  });
});

describe(OHLCV, () => candleCases({ service: () => service, requested, waitTimeouts }));
