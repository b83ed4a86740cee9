import { BigNumber } from 'bignumber.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, noSleep, OPS, startService, type TestService } from '../../support/service.ts';
import { CHAIN_IDS, SUSDE_PYUSD } from '../known.ts';

/** Histories, prices, the stable index and freshness are equal over REST and GraphQL, and equal a recomputation. */
let service: TestService;
beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
  });
});
afterAll(() => service?.stop());

const HOUR_SEC = 3_600;
const ask = async (query: string, variables: Record<string, unknown> = {}): Promise<Json> => {
  const { body } = await service.graphql(query, variables, OPS);
  expect(body.errors).toBeUndefined();
  return body.data;
};
/** Let time pass on the clock and the chains, and take a sample. */
async function pass(seconds: number): Promise<void> {
  service.clock.advance(seconds * 1_000);
  for (const chainId of CHAIN_IDS) await service.world.chains.on(chainId).increaseTime(seconds);
  await service.refresh('lending-state');
}

describe('histories', () => {
  const ONE = [
    [
      'borrowApyHistory',
      `/v1/markets/${SUSDE_PYUSD}/borrow-apy-history`,
      ({ at, ratePct }: Json) => ({ x: Date.parse(at) / 1_000, y: Number(new BigNumber(ratePct).shiftedBy(-2)) }),
    ],
    [
      'collateralApyHistory',
      `/v1/collateral/${SUSDE_PYUSD}/apy-history`,
      ({ at, ratePct }: Json) => ({ ts: Date.parse(at), apy: Number(ratePct) }),
    ],
    [
      'borrowIncentiveHistory',
      `/v1/markets/${SUSDE_PYUSD}/incentive-history`,
      ({ at, ratePct }: Json) => ({ ts: Date.parse(at), apr: Number(ratePct) }),
    ],
  ] as const;
  test.each(ONE)('%s = %s', async (field, path, point) => {
    const data = await ask(
      `{ market(marketId: "${SUSDE_PYUSD}") { ${field} { marketId freshness { asOf status } points { at ratePct } gaps { field } } } }`,
    );
    const { marketId: id, freshness, points, gaps } = data.market[field];
    const { body } = await service.get(path);
    const { asOf, status } = freshness;
    expect(gaps).toEqual([]);
    expect(body).toEqual({ id, asOf, stale: status === 'STALE', history: points.map(point) });
    const times: number[] = body.history.map((row: Json) => row.x ?? row.ts);
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
  });

  test.each([
    ['/v1/markets/borrow-apy-history', (id: string) => `/v1/markets/${id}/borrow-apy-history`],
    ['/v1/collateral/apy-history', (id: string) => `/v1/collateral/${id}/apy-history`],
  ])('%s equals the histories of single markets', async (path, one) => {
    const { body } = await service.get(path);
    const ids = CHAIN_IDS.flatMap((chainId) => service.world.chains.on(chainId).chain.markets.map(({ id }) => id));
    expect(Object.keys(body.histories).sort()).toEqual([...ids].sort());
    for (const id of ids) expect(body.histories[id]).toEqual((await service.get(one(id))).body.history);
  });

  test('a collateral without its own yield has no history, with a reason in GraphQL', async () => {
    const market = service.world.chains.on(1).chain.markets.find(({ collateral }) => collateral.symbol === 'WBTC');
    const { chain } = await ask(
      `{ chain(chainId: 1) { rateHistories(kind: COLLATERAL_APY, strategyIds: ["${market?.id}"]) { points { at } gaps { field reason } } } }`,
    );
    const gaps = ['points', 'freshness'].map((field) => ({ field, reason: 'NOT_APPLICABLE' }));
    expect(chain.rateHistories).toEqual([{ points: [], gaps }]);
  });

  const points = async (args: string): Promise<Json[]> =>
    (await ask(`{ market(marketId: "${SUSDE_PYUSD}") { borrowApyHistory(${args}) { points { at ratePct } } } }`)).market
      .borrowApyHistory.points;

  test('range, resolution and downsampling', async () => {
    const days = await points('resolution: DAY');
    const weeks = await points('resolution: WEEK');
    expect(days.length).toBeGreaterThan(85);
    expect(weeks.length).toBeLessThanOrEqual(Math.ceil(days.length / 7) + 1);
    const from = days.at(-10)?.at;
    const late = await points(`resolution: DAY, fromAt: "${from}"`);
    expect(late).toEqual(days.slice(-10));
    const last = await points('resolution: WEEK, downsampling: LAST');
    expect(last).toHaveLength(weeks.length);
    expect(last).not.toEqual(weeks);
  });

  test('every refresh records a sample, one an hour, which becomes the history', async () => {
    const raw = () => points('resolution: RAW');
    const before = await raw();
    await pass(60);
    expect(await raw()).toHaveLength(before.length);
    await pass(HOUR_SEC);
    await pass(HOUR_SEC);
    const after = await raw();
    expect(after).toHaveLength(before.length + 2);
    const market = await ask(`{ market(marketId: "${SUSDE_PYUSD}") { borrowApyPct } }`);
    expect(Number(after.at(-1)?.ratePct)).toBeCloseTo(Number(market.market.borrowApyPct), 8);
  });

  test("without the indexer's field, the history continues from our samples without a loss", async () => {
    const before = await points('resolution: RAW');
    service.world.upstreams.faults.set('morpho', { kind: 'missingField', field: 'historicalState' });
    await pass(HOUR_SEC);
    await service.refresh('borrow-history');
    const after = await points('resolution: RAW');
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after).toHaveLength(before.length + 1);
    const { body } = await service.get(`/v1/strategies/${SUSDE_PYUSD}`);
    expect(body.quarterlyBorrowApyPct).toMatch(/^\d+\.\d\d$/);
    service.world.upstreams.faults.clear();
  });

  test.each([
    ['fromAt: "2020-01-01T00:00:00Z"', 'fromAt'],
    ['fromAt: "2026-01-02T00:00:00Z", toAt: "2026-01-01T00:00:00Z"', 'fromAt'],
  ])('error: bad_request for a range of %s', async (args, field) => {
    const { body } = await service.graphql(
      `{ market(marketId: "${SUSDE_PYUSD}") { borrowApyHistory(${args}) { kind } } }`,
    );
    expect(body.errors?.[0].extensions).toMatchObject({ code: 'bad_request', details: { field } });
  });
});

describe('prices', () => {
  const QUERY = `query ($chainId: ChainId!) { tokens(chainIds: [$chainId], first: 200) { nodes {
    address symbol price { usd source freshness { asOf ageSec status } } gaps(fields: ["price"]) { reason message }
  } } }`;

  test.each(CHAIN_IDS)(
    'chain %i: the same numbers, each with its source and age, each gap with its reason',
    async (chainId) => {
      await service.refresh(`prices:${chainId}`);
      const { nodes } = (await ask(QUERY, { chainId })).tokens;
      const { body } = await service.get(`/v1/prices?chainId=${chainId}`);
      const known = nodes.filter(({ price }: Json) => price !== null);
      const times = known.map(({ price }: Json) => price.freshness.asOf).sort();
      expect(body).toEqual({
        asOf: times[0],
        stale: false,
        prices: Object.fromEntries(known.map(({ address, price }: Json) => [address, Number(price.usd)])),
      });
      for (const { price, gaps } of nodes) {
        if (price === null) {
          expect(gaps[0].reason).toMatch(/^(NOT_MEASURED|SOURCE_FAILED|IMPLAUSIBLE)$/);
        } else {
          expect(price.source).toMatch(/^(coingecko|defillama|oracle)$/);
          expect(gaps).toEqual([]);
          expect([price.freshness.status, price.freshness.ageSec < 60]).toEqual(['FRESH', true]);
        }
      }
      expect(nodes.map(({ address }: Json) => address).sort()).toEqual(
        service.world.chains
          .on(chainId)
          .chain.tokens.map(({ address }) => address)
          .sort(),
      );
    },
  );

  test.each([
    [1, ['ETH', 'WETH', 'sUSDS', 'PT-apxUSD-5NOV2026', 'stUSDS', 'srRoyUSDC']],
    [4663, ['SPY', 'NVDA', 'TSLA', 'spUSDG', 'PONS']],
  ] as const)('chain %i: tokens without a provider price have the price of strategies', async (chainId, symbols) => {
    const { body } = await service.get(`/v1/prices?chainId=${chainId}`);
    const { markets } = (await service.get(`/v1/app/markets?chainId=${chainId}`)).body;
    const { tokens } = service.world.chains.on(chainId).chain;
    for (const symbol of symbols) {
      const address = tokens.find((token) => token.symbol === symbol)?.address ?? '';
      expect(body.prices[address], symbol).toBeGreaterThan(0);
      const market = markets.find(({ collateral }: Json) => collateral.address === address);
      if (market) expect(Number(market.collateralPrice.usd.$bn), symbol).toBeCloseTo(body.prices[address], 9);
    }
    const of = (symbol: string) => body.prices[tokens.find((token) => token.symbol === symbol)?.address ?? ''];
    if (chainId === 1) expect(of('ETH')).toBe(of('WETH'));
  });

  test('an unknown currency is refused by name and does not count as a failure of the provider', async () => {
    const { status, body } = await service.get('/v1/prices/chart?coinId=ethereum&currency=zzz');
    expect([status, body.error.code]).toEqual([400, 'bad_request']);
    expect(body.error.message).toContain('currency "zzz"');
    expect(body.error.details).toMatchObject({ field: 'query.currency', value: 'zzz' });
    expect((await service.get('/v1/prices/chart?coinId=ethereum&currency=eur')).status).toBe(200);
  });

  test('uses and names the fallback provider', async () => {
    const before = await ask(QUERY, { chainId: 1 });
    service.world.upstreams.faults.set('coingecko', { kind: 'status', status: 500 });
    service.clock.advance(120_000);
    await service.refresh('prices:1');
    const during = await ask(QUERY, { chainId: 1 });
    const bySymbol = (data: Json, symbol: string) =>
      data.tokens.nodes.find((token: Json) => token.symbol === symbol)?.price;
    expect(bySymbol(before, 'sUSDe').source).toBe('coingecko');
    expect(bySymbol(during, 'sUSDe')).toMatchObject({ source: 'defillama', usd: bySymbol(before, 'sUSDe').usd });
    service.world.upstreams.faults.clear();
    service.clock.advance(120_000);
    await service.refresh('prices:1');
    expect(bySymbol(await ask(QUERY, { chainId: 1 }), 'sUSDe').source).toBe('coingecko');
  });
});

/** A word of /health and the name of an enum, alike. */
const wordOf = (name: string | null | undefined) => name?.replaceAll('_', '').toLowerCase() ?? null;

test('/health and freshness agree on every group, without texts of upstreams', async () => {
  const { freshness } = await ask(
    '{ freshness { chain { chainId } version ready groups { group apySource freshness { status ageSec staleAfterSec } itemCount lastGoodCount lastSuccessAt } } }',
  );
  const { body, text } = await service.get('/health');
  expect(body.chains).toHaveLength(freshness.length);
  for (const [i, chain] of body.chains.entries()) {
    const typed = freshness[i];
    expect([chain.chainId, chain.version, chain.ready]).toEqual([typed.chain.chainId, typed.version, typed.ready]);
    for (const [j, row] of chain.groups.entries()) {
      const other = typed.groups[j];
      expect(row).toMatchObject({
        status: other.freshness.status.toLowerCase(),
        budgetSec: other.freshness.staleAfterSec,
        items: other.itemCount,
        itemsAtLastGood: other.lastGoodCount,
        lastSuccess: other.lastSuccessAt,
      });
      expect([wordOf(row.group), wordOf(row.source)]).toEqual([wordOf(other.group), wordOf(other.apySource)]);
    }
  }
  // Names of providers as errors have them; `defillama` is one.
  const others = text.replaceAll('"provider":"defillama"', '');
  expect(others).not.toMatch(/https?:|127\.0\.0\.1|stablewatch|pendle|merkl|llama|royco|kyber/i);
});

describe('a principal token past its maturity', () => {
  const market = () =>
    service.world.chains.on(1).chain.markets.find(({ collateral }) => collateral.symbol === 'PT-apxUSD-5NOV2026');

  test('is found by its id with the reason for not being listed, and has a yield of 0', async () => {
    const { status, body } = await service.get(`/v1/strategies/${market()?.id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      listed: false,
      notListedBecause: expect.arrayContaining(['maturity']),
      collateralApyPct: '0.00',
      collateralApySource: 'none',
      collateral: { isPt: true, maturityDaysLeft: 0, maturityDate: '2026-11-05' },
    });
    const { body: list } = await service.get('/v1/strategies');
    expect(list.strategies.some(({ id }: Json) => id === market()?.id)).toBe(false);
  });

  test('has no history, is not stale, and does not make the list stale', async () => {
    const { body } = await service.get(`/v1/collateral/${market()?.id}/apy-history`);
    expect(body).toMatchObject({ asOf: null, stale: false, history: [], gap: { reason: 'NOT_APPLICABLE' } });
    const { body: all } = await service.get('/v1/collateral/apy-history');
    expect(all.gaps[market()?.id ?? ''].reason).toBe('NOT_APPLICABLE');
  });
});
