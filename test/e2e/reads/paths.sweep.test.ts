import { BigNumber } from 'bignumber.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, startService, type TestService } from '../../support/service.ts';
import { expectEnvelope, SUSDE_PYUSD, UNKNOWN_ADDRESS, UNKNOWN_ID } from '../known.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const VAULT = 'equity-0x50bc39b5722fb5634c436d74c6787f3c125b879e7b73cf9e9ecc01bbb57b8e55';
const MARKET_ID = /^0x[0-9a-f]{64}$/;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

const history = (point: (row: Json) => void) => (body: Json) => {
  expect(Object.keys(body).sort()).toEqual(['asOf', 'history', 'id', 'stale']);
  expect(body.id).toBe(SUSDE_PYUSD);
  expect(body.asOf).toMatch(ISO);
  expect(body.stale).toBe(false);
  expect(body.history.length).toBeGreaterThan(1);
  for (const row of body.history) point(row);
};
const histories = (point: (row: Json) => void) => (body: Json) => {
  // Markets that cannot have one are listed beside it.
  const { gaps = {}, ...rest } = body;
  for (const { reason } of Object.values<Json>(gaps)) expect(reason).toBe('NOT_APPLICABLE');
  expect(Object.keys(rest).sort()).toEqual(['asOf', 'histories', 'stale']);
  expect(body.histories[SUSDE_PYUSD].length).toBeGreaterThan(1);
  for (const [id, rows] of Object.entries<Json>(body.histories)) {
    expect(id).toMatch(MARKET_ID);
    for (const row of rows) point(row);
  }
};
/** Unix seconds and a fraction. */
const borrowPoint = (row: Json) => {
  expect(Object.keys(row)).toEqual(['x', 'y']);
  expect(Number.isInteger(row.x) && row.x > 1e9 && row.x < 1e10).toBe(true);
  expect(row.y).toBeGreaterThan(0);
  expect(row.y).toBeLessThan(1);
};
/** Unix milliseconds and percent. */
const percentPoint = (name: string) => (row: Json) => {
  expect(Object.keys(row)).toEqual(['ts', name]);
  expect(Number.isInteger(row.ts) && row.ts > 1e12).toBe(true);
  expect(typeof row[name]).toBe('number');
};
const strategies = (chainId: number) => (body: Json) => {
  expect(Object.keys(body)).toEqual(['asOf', 'chainId', 'count', 'strategies']);
  expect(body.asOf).toMatch(ISO);
  expect(body.chainId).toBe(chainId);
  expect(body.count).toBe(body.strategies.length);
  expect(body.count).toBeGreaterThan(3);
  for (const strategy of body.strategies) expect(strategy.chainId).toBe(chainId);
};
const prices = (body: Json) => {
  expect(Object.keys(body)).toEqual(['asOf', 'stale', 'prices']);
  expect(body.stale).toBe(false);
  expect(Object.keys(body.prices).length).toBeGreaterThan(2);
  for (const [address, price] of Object.entries<Json>(body.prices)) {
    expect(address).toMatch(ADDRESS);
    expect(price).toBeGreaterThan(0);
  }
};

/** Every path of sections 4.1 and 4.2 in a warm world. */
const OK: readonly (readonly [path: string, check: (body: Json) => void])[] = [
  ['/health', (body) => expect(body.chains.map(({ chainId }: Json) => chainId)).toEqual([1, 4663])],
  ['/ready', (body) => expect(body.ready).toBe(true)],
  ['/v1/strategies', strategies(1)],
  ['/v1/strategies?chainId=1', strategies(1)],
  ['/v1/strategies?chainId=4663', strategies(4663)],
  [`/v1/strategies/${SUSDE_PYUSD}`, (body) => expect(body.id).toBe(SUSDE_PYUSD)],
  [`/v1/strategies/${SUSDE_PYUSD.toUpperCase().replace('0X', '0x')}`, (body) => expect(body.id).toBe(SUSDE_PYUSD)],
  [
    '/v1/stable-apy',
    (body) => {
      expect(Object.keys(body)).toEqual(['asOf', 'stale', 'stableApy']);
      expect(body.stale).toBe(false);
      expect(body.stableApy.length).toBeGreaterThan(3);
      for (const pool of body.stableApy) {
        expect(Object.keys(pool)).toEqual(['id', 'asset', 'metrics', 'history']);
        expect(typeof pool.metrics.apy.avg7d).toBe('number');
        for (const row of pool.history) expect(Object.keys(row)).toEqual(['timestamp', 'apy']);
      }
    },
  ],
  [
    '/v1/app/markets',
    (body) => {
      expect(body.count).toBe(body.markets.length);
      expect(new Set(body.markets.map(({ chainId }: Json) => chainId))).toEqual(new Set([1, 4663]));
      for (const market of body.markets) expect(typeof market.visible).toBe('boolean');
      expect(body.markets.some(({ visible }: Json) => !visible)).toBe(true);
    },
  ],
  ['/v1/markets/borrow-apy-history', histories(borrowPoint)],
  [`/v1/markets/${SUSDE_PYUSD}/borrow-apy-history`, history(borrowPoint)],
  ['/v1/collateral/apy-history', histories(percentPoint('apy'))],
  [`/v1/collateral/${SUSDE_PYUSD}/apy-history`, history(percentPoint('apy'))],
  [`/v1/markets/${SUSDE_PYUSD}/incentive-history`, history(percentPoint('apr'))],
  ['/v1/prices', prices],
  ['/v1/prices?chainId=4663', prices],
];

describe('paths of the contract', () => {
  test.each(OK)('200 %s', async (path, check) => {
    const answer = await service.get(path);
    expect(answer.status, answer.text.slice(0, 500)).toBe(200);
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(answer.headers.get('x-correlation-id')).toMatch(/^[\w.-]{8,64}$/);
    check(answer.body);
  });

  test.each(OK.map(([path]) => path))('HEAD %s has the same headers without a body', async (path) => {
    const response = await fetch(`${service.url}${path}`, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  test.each(OK.map(([path]) => path).filter((path) => !path.includes('?')))(
    '405 POST %s names the allowed methods',
    async (path) => {
      const answer = await service.post(path, {});
      expectEnvelope(answer, 405, 'method_not_allowed');
      expect(answer.headers.get('allow')).toBe('GET, HEAD');
    },
  );

  test('404 for a path that does not exist', async () => {
    expectEnvelope(await service.get('/v1/strategy'), 404, 'not_found');
    expectEnvelope(await service.get('/v1/strategies//'), 404, 'not_found');
  });
});

describe('identifiers', () => {
  const withId = (id: string) => [
    `/v1/strategies/${id}`,
    `/v1/markets/${id}/borrow-apy-history`,
    `/v1/collateral/${id}/apy-history`,
    `/v1/markets/${id}/incentive-history`,
    `/v1/strategies/${id}/leveraged-apy-history`,
  ];
  const NO_VAULT = `equity-${SUSDE_PYUSD}`;
  const MALFORMED = [
    '0x',
    'abc',
    SUSDE_PYUSD.slice(2),
    SUSDE_PYUSD.slice(0, -1),
    `${SUSDE_PYUSD}0`,
    `${SUSDE_PYUSD.slice(0, -1)}g`,
    SUSDE_PYUSD.replace('0x', '0X'),
    `equity-${SUSDE_PYUSD}0`,
    `equity-${NO_VAULT}`,
    NO_VAULT.replace('e', 'E'),
    `%20${SUSDE_PYUSD}`,
    `${SUSDE_PYUSD}%0a`,
    '%E0%A4%A',
  ];
  test.each(MALFORMED.flatMap(withId))('400 %s', async (path) => {
    const error = expectEnvelope(await service.get(path), 400, 'bad_request');
    expect(error.details.field).toMatch(/id|path/);
  });
  test.each([...withId(UNKNOWN_ID), ...withId(NO_VAULT).slice(1)])('404 %s', async (path) => {
    expectEnvelope(await service.get(path), 404, 'not_found');
  });
  test('a vault has the histories of its markets', async () => {
    const query = '{ strategy(id: "$") { marketId ... on EquityVaultStrategy { yieldStrategyId } } }';
    const { marketId, yieldStrategyId } = (await service.graphql(query.replace('$', VAULT))).body.data.strategy;
    const [, borrow, collateral, incentives] = withId(VAULT);
    for (const [path = '', id] of [
      [borrow, marketId],
      [collateral, yieldStrategyId],
      [incentives, marketId],
    ]) {
      const { status, body } = await service.get(path);
      const ofMarket = (await service.get(path.replace(VAULT, id))).body;
      expect([path, status, body]).toEqual([path, 200, { ...ofMarket, id: VAULT, marketId: id }]);
    }
  });
  test('a stock market has histories but is not a strategy', async () => {
    const { body } = await service.get('/v1/app/markets');
    const stock = body.markets.find(({ kind }: Json) => kind === 'STOCK' || kind === 'stock');
    expectEnvelope(await service.get(`/v1/strategies/${stock.id}`), 404, 'not_found');
    expect((await service.get(`/v1/markets/${stock.id}/borrow-apy-history`)).status).toBe(200);
  });
});

describe('leveraged-APY history', () => {
  const read = async (id: string, query = '') => service.get(`/v1/strategies/${id}/leveraged-apy-history${query}`);

  test('each day has the recorded rates of both sides, of loops without incentives', async () => {
    const rates = 'points { at ratePct }';
    const query = `{ strategies(chainIds: [1], first: 8) { nodes { strategyId borrowIncentive { aprPct } collateralIncentive { aprPct }
      ... on LoopStrategy { defaultLeverage { leverage } market { collateralApyHistory { ${rates} } borrowApyHistory { ${rates} } borrowIncentiveHistory { ${rates} } } } } } }`;
    const { body: answer } = await service.graphql(query);
    expect(answer.errors).toBeUndefined();
    const { nodes } = answer.data.strategies;
    const unpaid = nodes.filter(
      (node: Json) =>
        node.market?.collateralApyHistory.points.length > 1 &&
        node.market.borrowIncentiveHistory.points.length === 0 &&
        !node.collateralIncentive,
    );
    expect(unpaid.length).toBeGreaterThan(1);
    for (const { strategyId, defaultLeverage, market } of unpaid) {
      const paid = new Map(market.borrowApyHistory.points.map(({ at, ratePct }: Json) => [at, ratePct]));
      const { body } = await read(strategyId);
      expect([body.id, body.leverage, body.stale]).toEqual([strategyId, defaultLeverage.leverage, false]);
      const times = new BigNumber(body.leverage);
      expect(body.history).toEqual(
        market.collateralApyHistory.points.flatMap(({ at, ratePct }: Json) => {
          const cost = paid.get(at);
          if (cost === undefined) return [];
          const apy = times.times(ratePct).minus(times.minus(1).times(String(cost)));
          return [{ ts: Date.parse(at), apy: apy.toFixed() }];
        }),
      );
    }
  });

  test.each([SUSDE_PYUSD, VAULT])('400 for a leverage that %s does not offer', async (id) => {
    for (const leverage of ['0', '0.99', '-2', '99', '1e1', 'NaN', '', '3,5', `1.${'0'.repeat(19)}`]) {
      const error = expectEnvelope(await read(id, `?leverage=${leverage}`), 400, 'bad_request');
      expect([leverage, error.details.field]).toEqual([leverage, 'query.leverage']);
    }
    expectEnvelope(await read(id, '?leverages=2'), 400, 'bad_request');
  });
});

describe('chainId', () => {
  const WITH_CHAIN = ['/v1/strategies?', '/v1/prices?', `/v1/prices/ohlcv?token=${UNKNOWN_ADDRESS}&`];
  const BAD = ['0', '-1', '1.5', 'abc', '1,4663', '', '1%204663', '2', '01', '+1', '1e0', '0x1', '4663.0', 'null'];
  const cases = WITH_CHAIN.flatMap((path) => [
    ...BAD.map((value) => `${path}chainId=${value}`),
    `${path}chainId=1&chainId=1`,
    `${path}chainId=1&chainId=4663`,
    `${path}chainId`,
    `${path}chainId=%zz`,
  ]);
  test.each(cases)('400 %s', async (path) => {
    const error = expectEnvelope(await service.get(path), 400, 'bad_request');
    expect(error.details.field).toMatch(/chainId|query/);
  });
  test('an error names the value, shortened, and the limit', async () => {
    const answer = await service.get(`/v1/strategies?chainId=${'9'.repeat(5_000)}`);
    const error = expectEnvelope(answer, 400, 'bad_request');
    expect(error.message).toContain('4663');
    expect(answer.text.length).toBeLessThan(1_000);
  });
});

describe('defaults', () => {
  /** The answer without the time of answering. */
  const timeless = ({ asOf: _, ...body }: Json) => body;
  test.each([
    ['/v1/strategies', '/v1/strategies?chainId=1'],
    ['/v1/prices', '/v1/prices?chainId=1'],
  ])('%s = %s', async (short, full) => {
    const [left, given] = [await service.get(short), await service.get(full)];
    expect(left.status).toBe(200);
    expect(timeless(left.body)).toEqual(timeless(given.body));
    const other = await service.get(full.replace('chainId=1', 'chainId=4663'));
    expect(timeless(other.body)).not.toEqual(timeless(left.body));
  });
});

describe('correlation id', () => {
  test('keeps a well-formed one, on success and in the envelope', async () => {
    const id = 'partner-7.request_42';
    const found = await service.get('/v1/prices', { 'x-correlation-id': id });
    expect(found.headers.get('x-correlation-id')).toBe(id);
    const refused = await service.get('/v1/strategies/abc', { 'x-correlation-id': id });
    expect(refused.body.error.correlationId).toBe(id);
    expect(
      (await service.graphql('{ chains { chainId } }', {}, { 'x-correlation-id': id })).headers.get('x-correlation-id'),
    ).toBe(id);
  });
  test.each(['short', 'a'.repeat(65), 'has space here', 'semi;colon;here', '<script>alert</script>'])(
    '%s is replaced',
    async (id) => {
      const answer = await service.get('/v1/strategies/abc', { 'x-correlation-id': id });
      expect(answer.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(answer.text).not.toContain(id);
    },
  );
});
