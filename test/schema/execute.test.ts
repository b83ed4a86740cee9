import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type ExecutionResult, type GraphQLScalarType, graphql, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { AppContext } from '../../src/resolvers/common/context.ts';
import { documents } from '../../src/rest/routes/index.ts';
import { appErrorBehind } from '../../src/schema/common/input-errors.ts';
import { EXAMPLES } from '../../src/schema/examples.ts';
import { buildSchema } from '../../src/schema/index.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { chainOf, completeFacts, NOW_MS, withItem } from '../domain/world.ts';
import { completeContext, contextOf, halfContext, servicesOf } from '../resolvers/world.ts';

const schema = buildSchema();
const ctx = completeContext();
const run = (source: string, variableValues: Record<string, unknown> = {}, contextValue: AppContext = ctx) =>
  graphql({ schema, source, variableValues, contextValue });
const firstError = (result: ExecutionResult) => {
  const error = result.errors?.[0];
  return error ? appErrorBehind(error) : undefined;
};

const market = chainOf(1).markets[0];
if (!market) throw new Error('market expected');
const vault = chainOf(4663).equityVaults[0];
if (!vault) throw new Error('vault expected');
const wallet = market.loan.address;
const open = { strategyId: market.id, payToken: market.loan.address, amount: '1', target: { leverage: '2' } };
const ALERT_ID = '00000000-0000-4000-8000-000000000001';
const VARIABLES: Readonly<Record<string, Record<string, unknown>>> = {
  LeverageSimulate: { input: open },
  LeverageBuild: { wallet, sendCalls: true, input: open },
  ManageBuild: {
    wallet,
    sendCalls: false,
    input: { position: '1-0', action: { close: {} } },
  },
  ManageSimulate: { wallet, input: { position: '1-0', action: { close: {} } } },
  EquityExitSimulate: { wallet, input: { strategyId: vault.id } },
  EquitySimulate: { input: { strategyId: vault.id, amount: '1' } },
  EquityDepositBuild: { wallet, sendCalls: true, input: { strategyId: vault.id, amount: '1' } },
  EquityExitBuild: { wallet, sendCalls: true, input: { strategyId: vault.id } },
  Strategies: { chainId: 1 },
  StrategyBriefs: { chainId: 1 },
  StrategyById: { id: market.id },
  BorrowApyHistory: { id: market.id },
  CollateralApyHistory: { id: market.id },
  IncentiveHistory: { id: market.id },
  TvlHistory: { resolution: 'DAY' },
  Usage: { days: 30 },
  MarketSeries: { id: market.id, metric: 'UTILIZATION', resolution: 'DAY' },
  LeveragedApyHistory: { id: vault.id, leverage: '1.2' },
  StrategyStress: { id: vault.id, leverage: '1.2' },
  BestStrategyRanking: { amount: '1000', payToken: market.loan.address, maxDrawdownPct: '5', minExitUsd: '0' },
  WalletStress: { address: wallet, chainId: 1 },
  Prices: { chainId: 1 },
  PriceChart: { coinId: 'ethereum', days: 7, currency: 'usd' },
  WalletPositions: { address: market.loan.address, chainId: 1 },
  DeleverageOptions: { address: market.loan.address, id: '1-0' },
  PositionHistory: { address: market.loan.address, id: '1-0', first: 10, points: 10 },
  StockLegHistory: { address: market.loan.address, strategyId: vault.id, first: 10, points: 10 },
  WalletStatement: { address: market.loan.address, chainId: 1 },
  OpsPortfolios: { chainId: 1, first: 20 },
  OpsPortfolio: { address: market.loan.address, chainId: 1 },
  OpsDriftHistory: { filter: { kinds: ['NO_DB_ROW'] }, isGone: false, first: 50 },
  AlertCreate: {
    chainId: 1,
    input: { strategyId: market.id, condition: 'STALE', webhookUrl: 'https://receiver.example/' },
  },
  AlertById: { alertId: ALERT_ID },
  AlertDelete: { alertId: ALERT_ID },
  AlertPing: { alertId: ALERT_ID },
  AlertRedeliver: { eventId: ALERT_ID },
  AlertRotateSecret: { alertId: ALERT_ID },
  Alerts: { first: 50 },
  AlertDeliveries: { first: 50, status: 'DEAD' },
  Ohlcv: { chainId: 1, address: market.loan.address, timeframe: 'HOUR', aggregate: 1, limit: 168 },
};

describe('examples', () => {
  it.each(EXAMPLES.public.map((example) => [example.title, example] as const))('default: %s', async (_, example) => {
    const result = await run(example.query, { ...example.variables });
    expect(result.errors).toBeUndefined();
    expect(result.data).toBeTruthy();
  });
});

describe('persisted operations', () => {
  it.each(Object.keys(documents))('default: %s', async (name) => {
    const caller = { kind: 'key', keyId: 'test', tier: 'ops' } as const;
    const trusted = { ...ctx, caller, maxPageSize: Number.POSITIVE_INFINITY };
    const result = await run(documents[name]?.document ?? '', VARIABLES[name], trusted);
    expect(result.errors).toBeUndefined();
  });
});

describe('strategy', () => {
  it('behavior: an unknown value is null with its reason, never 0', async () => {
    const failure = { reason: 'server_error', source: 'coingecko', sinceMs: NOW_MS - 1_000 } as const;
    const facts = withItem(completeFacts(chainOf(1)), 'price', market.loan.address, { failure });
    const context = contextOf(servicesOf([facts, completeFacts(chainOf(4663))]));
    const query = `query($id: StrategyId!) { strategy(id: $id) {
      supplyUsd liquidityUsd borrowIncentive { aprPct } collateral { maturesAt } gaps { field reason since } } }`;
    const { data } = await run(query, { id: market.id }, context);
    const strategy = data?.strategy as Record<string, unknown>;
    expect(strategy).toMatchObject({ supplyUsd: null, liquidityUsd: null, borrowIncentive: null });
    expect(strategy.gaps).toContainEqual(
      expect.objectContaining({
        field: 'supplyUsd',
        reason: 'SOURCE_FAILED',
        since: new Date(failure.sinceMs).toISOString(),
      }),
    );
    expect(strategy.gaps).toContainEqual(expect.objectContaining({ field: 'borrowIncentive', reason: 'NONE' }));
  });

  it('behavior: a time has one form, whether it is a number, a date or a text, also the second time', () => {
    const { serialize } = schema.getType('DateTime') as GraphQLScalarType;
    const text = '2026-01-31T12:00:00.000Z';
    const values = [Date.parse(text), Date.parse(text), new Date(text), text, '2026-01-31T13:00:00+01:00'];
    expect(values.map((value) => serialize(value))).toEqual(values.map(() => text));
    const wrong = [Number.NaN, Number.NaN, 'yesterday', true, 8.64e15 + 1];
    for (const value of wrong) expect(() => serialize(value), String(value)).toThrow();
    // More than are remembered.
    for (let i = 0; i < 2_500; i += 1) expect(serialize(i * 1_000)).toBe(new Date(i * 1_000).toISOString());
  });

  it('behavior: a decimal is never in exponent form', () => {
    const { serialize } = schema.getType('Decimal') as GraphQLScalarType;
    const values = [new Decimal('1e-30'), new Decimal('-1e21'), 1e21, '0.10'];
    expect(values.map((value) => serialize(value))).toEqual([
      `0.${'0'.repeat(29)}1`,
      `-1${'0'.repeat(21)}`,
      `1${'0'.repeat(21)}`,
      '0.10',
    ]);
  });

  it('behavior: the age grows, asOf does not', async () => {
    const query = `query($id: StrategyId!) { strategy(id: $id) { freshness { borrow { asOf ageSec status staleForSec } } } }`;
    const later = contextOf(ctx.live(), NOW_MS + 600_000);
    const [now, then] = [await run(query, { id: market.id }), await run(query, { id: market.id }, later)];
    expect(now.data).toMatchObject({ strategy: { freshness: { borrow: { status: 'FRESH', staleForSec: null } } } });
    expect(then.data).toMatchObject({
      strategy: { freshness: { borrow: { status: 'STALE', staleForSec: 360, ageSec: 660 } } },
    });
  });

  it('error: not_found, and the rest of the document is answered', async () => {
    const result = await run(`{ strategy(id: "0x${'0'.repeat(64)}") { id } chains { chainId } }`);
    expect(firstError(result)?.code).toBe('not_found');
    expect(result.data).toMatchObject({ strategy: null, chains: [{ chainId: 1 }, { chainId: 4663 }] });
  });

  it('error: not_ready', async () => {
    const cold = '{ strategies(chainIds: [4663]) { totalCount } }';
    expect(firstError(await run(cold, {}, halfContext()))?.code).toBe('not_ready');
    const all = await run('{ strategies { missingChains { chainId } } }', {}, halfContext());
    expect(all.data).toMatchObject({ strategies: { missingChains: [{ chainId: 4663 }] } });
  });
});

describe('scalars', () => {
  it.each([
    ['Decimal', '1e5'],
    ['Decimal', 'NaN'],
    ['BigInteger', '1.5'],
    ['ChainId', 1.5],
    ['ChainId', 0],
    ['ChainId', '1'],
    ['Address', '0x12'],
    ['MarketId', '0x12'],
    ['StrategyId', 'equity-0x12'],
    ['HexData', '0x123'],
    ['DateTime', 'yesterday'],
  ])('error: BadRequestError for %s %s', (name, value) => {
    const scalar = schema.getType(name) as unknown as { parseValue(value: unknown): unknown };
    expect(() => scalar.parseValue(value)).toThrow(
      expect.objectContaining({
        code: 'bad_request',
        details: { field: name, value: String(value), limit: expect.any(Object) },
      }),
    );
  });

  it('behavior: the error of a variable names the variable', async () => {
    const query = 'query($wanted: StrategyId!) { strategy(id: $wanted) { id } }';
    const details = { field: 'variables.wanted', value: '0x12', limit: expect.any(Object) };
    expect(firstError(await run(query, { wanted: '0x12' }))).toMatchObject({ code: 'bad_request', details });
  });

  it.each<[object, string, string]>([
    [{ minLiquidityUsd: '1e30' }, 'minLiquidityUsd', '1e30'],
    [{ minLiquidityUsd: 'x" at "y.z"; ' }, 'minLiquidityUsd', 'x" at "y.z"; '],
    [{ maturesBefore: 'soon' }, 'maturesBefore', 'soon'],
  ])('behavior: the error of a field of an input object names the field: %j', async (filter, place, value) => {
    const query = 'query($f: StrategyFilter) { strategies(filter: $f) { totalCount } }';
    const details = { field: `variables.f.${place}`, value };
    expect(firstError(await run(query, { f: filter }))).toMatchObject({ code: 'bad_request', details });
  });

  it('behavior: the error of a literal names the argument, also in a list', () => {
    const error = validate(schema, parse('{ strategies(chainIds: [1, 0]) { totalCount } }'))[0];
    expect(error && appErrorBehind(error)).toMatchObject({ details: { field: 'chainIds', value: '0' } });
  });

  it('behavior: literals keep all their digits', async () => {
    const query = '{ strategies(filter: { minMaxLeverage: 1.00000000000000000001 }) { totalCount } }';
    expect((await run(query)).errors).toBeUndefined();
  });
});

describe('arguments', () => {
  it('error: BadRequestError for a list past its limit, naming the field', async () => {
    const kinds = Array.from({ length: 101 }, () => 'LOOP');
    const result = await run('query($f: StrategyFilter) { strategies(filter: $f) { totalCount } }', {
      f: { kinds },
    });
    expect(firstError(result)).toMatchObject({ code: 'bad_request', details: { field: 'filter.kinds' } });
  });

  it.each(['items', 'portfolios', 'drift', 'aggregates'])(
    'error: BadRequestError for a chain of ops.%s that is not served, naming the field',
    async (field) => {
      const caller = { kind: 'key', keyId: 'ops', tier: 'ops' } as const;
      const source = `{ ops { ${field}(chainIds: [5]) { __typename } } }`;
      const result = await graphql({ schema, source, contextValue: { ...ctx, caller } });
      expect(firstError(result)).toMatchObject({
        code: 'bad_request',
        details: { field: 'chainIds', value: '5' },
      });
    },
  );
});

describe('complexity', () => {
  const cost = (query: string) => complexityFromQuery(query, { schema, ctx: { ...ctx, sizes: undefined } }).complexity;

  it('behavior: grows with the requested page where the size of a list is not known', () => {
    const page = (first: number) => cost(`{ strategies(first: ${first}) { nodes { id } } }`);
    expect(page(100) - page(50)).toBe(page(150) - page(100));
    expect(page(500)).toBeGreaterThan(9 * page(50));
    expect(cost('{ strategies { nodes { id } } }')).toBe(page(50));
  });
});
