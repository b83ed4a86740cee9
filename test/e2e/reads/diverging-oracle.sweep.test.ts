import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { marketByKey } from '../../../devnet/chain/seed-plans.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { type Json, noSleep, OPS, PARTNER, startService, type TestService } from '../../support/service.ts';

/*
 * An oracle that is far from the price of its collateral, and one of a collateral that nothing else prices, at −45 % and at a
 * million million, after a good reading and at the first one. Values by the oracle are shown and summed, and marked everywhere.
 */

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
afterAll(() => service?.stop());

const chain = (chainId: number) => service.world.chains.on(chainId);
const AGGREGATES = `{ ops { aggregates { totals { netValue { sumUsd } divergent { sumUsd unknownCount } } } } }`;

/** Let a minute pass, and measure the chain. */
async function pass(chainId: number): Promise<void> {
  service.clock.advance(61_000);
  for (const id of [1, 4663]) await chain(id).increaseTime(61);
  await service.refresh(`lending-state:${chainId}`);
}

/** Read everything that stands on an oracle. */
async function read(chainId: number, id: string, wallet: string) {
  await pass(chainId);
  await service.refresh('tvl');
  const [tvl, markets, strategies, positions, portfolio, aggregates, market] = await Promise.all([
    service.get('/v1/tvl'),
    service.get(`/v1/app/markets?chainId=${chainId}`),
    service.get(`/v1/strategies?chainId=${chainId}`),
    service.get(`/v1/partner/positions/${wallet}?chainId=${chainId}`, PARTNER),
    service.get(`/v1/ops/portfolio/${wallet}?chainId=${chainId}`, OPS),
    service.graphql(AGGREGATES, {}, OPS),
    service.graphql(`{ market(id: "${id}") { warnings { code field value message } } }`),
  ]);
  const inGraphql = await service.graphql(
    `{ tvl { total { divergentUsd } chains { chainId divergentUsd oracleDivergences { marketId oracle: oracleAddress reference oracleUsd referenceUsd divergencePct grossTvlUsd borrowedUsd positions: positionCount } } } }`,
  );
  expect(inGraphql.body.errors).toBeUndefined();
  const own = (list: Json[]) => list.find((item) => item.strategyId === id || item.id === id);
  const vaults = (list: Json[]) => list.filter(({ strategyId }) => strategyId === `equity-${id}`);
  return {
    tvl: tvl.body,
    typed: inGraphql.body.data.tvl,
    chain: tvl.body.chains.find((row: Json) => row.chainId === chainId),
    codes: {
      strategy: (own(strategies.body.strategies) ?? own(strategies.body.strategies.map(asStock)))?.spiralHints
        ?.warnings,
      app: own(markets.body.markets).warnings,
      market: market.body.data.market.warnings.map((warning: Json) => ({
        ...warning,
        code: warning.code.toLowerCase(),
      })),
      position: [own(positions.body.positions), ...vaults(positions.body.equityPositions)].find(Boolean).warnings,
      portfolio: [own(portfolio.body.positions), ...vaults(portfolio.body.equityPositions)].find(Boolean).warnings,
    },
    pnl: portfolio.body.pnl,
    all: aggregates.body.data.ops.aggregates.totals,
  };
}
const asStock = (strategy: Json) => ({ ...strategy, id: strategy.equityVault?.stockMarketId });
const codesOf = (warnings: Json[] | undefined) => (warnings ?? []).map(({ code }) => code);

type Against = 'price' | 'range' | 'before';
const CODES = { price: 'oracle_divergence', range: 'oracle_out_of_range', before: 'oracle_jump' } as const;

/** The reference for an oracle at −45 % and at a million million. */
const CASES = [
  ['price', 'price', 1, 'weETH/WETH 94.5', 'looper'],
  // Two oracles value PONS: the possible value is a reference for the impossible one.
  ['before', 'price', 4663, 'PONS/USDG 38.5 Longbow', 'speculator'],
  // A stock leg is no looped collateral: it is in no TVL.
  ['before', 'range', 4663, 'SPY/USDG 62.5 Longbow', 'shareholder'],
] as const;

test.each(CASES)('against %s and %s on chain %i: %s', async (whenLower, whenAbsurd, chainId, key, holder) => {
  const local = chain(chainId);
  const market = marketByKey(local.chain, key);
  const wallet = seededWallet(holder).account.address;
  await service.refresh('prices', 'exit-liquidity');
  const before = await read(chainId, market.id, wallet);
  for (const warnings of Object.values(before.codes)) expect(codesOf(warnings)).toEqual([]);
  expect(before.chain).toMatchObject({ oracleDivergences: [], divergentUsd: 0 });
  expect([before.tvl.total.divergentUsd, before.pnl.divergentUsd, before.all.divergent.sumUsd]).toEqual([0, '0', '0']);

  const price = await local.oraclePrice(market);
  for (const factor of [55n, 100n * 10n ** 12n]) {
    const against: Against = factor < 100n ? whenLower : whenAbsurd;
    const code = CODES[against];
    await local.setOraclePrice(market, (price * factor) / 100n);
    const during = await read(chainId, market.id, wallet);
    // A warning in the memory of the process would be lost with it.
    if (factor < 100n && against === 'before') {
      await service.restart();
      const restarted = await service.graphql(`{ market(id: "${market.id}") { warnings { code } } }`);
      expect(codesOf(restarted.body.data.market.warnings)).toEqual([code.toUpperCase()]);
    }
    for (const [where, warnings] of Object.entries(during.codes)) {
      expect([where, codesOf(warnings)]).toEqual([where, [code]]);
    }
    if (factor > 100n) {
      // A portfolio and the sums of all say which part of them stands on it.
      expect(Number(during.pnl.divergentUsd)).toBeGreaterThan(0);
      expect(Number(during.pnl.divergentUsd)).toBeLessThanOrEqual(Number(during.pnl.netValueUsd));
    }
    const [reported, ...others] = during.chain.oracleDivergences;
    if (local.chain.equityVaults.some(({ stockMarket }) => stockMarket.id === market.id)) {
      expect(reported).toBeUndefined();
      continue;
    }
    expect(others).toEqual([]);
    expect(reported).toMatchObject({ marketId: market.id, oracle: market.oracle, against });
    expect(Number(reported.divergencePct)).toBeCloseTo(Number(factor) - 100, factor === 55n ? -0.5 : -10);
    expect(Number(reported.oracleUsd) / Number(reported.referenceUsd)).toBeCloseTo(
      Number(factor) / 100,
      factor === 55n ? 1 : -10,
    );
    expect(reported.positions).toBeGreaterThan(0);
    // The whole change of the sum is from it; a double of 18 digits has no cents.
    const rest = before.chain.grossTvlUsd - (reported.grossTvlUsd * 100) / Number(factor);
    if (factor < 100n) expect(during.chain.grossTvlUsd - reported.grossTvlUsd).toBeCloseTo(rest, -1);
    expect(during.chain.divergentUsd).toBe(reported.grossTvlUsd);
    expect(during.tvl.total.divergentUsd).toBe(reported.grossTvlUsd);
    const typed = during.typed.chains.find((row: Json) => row.chainId === chainId).oracleDivergences[0];
    const { reference, ...row } = typed;
    const [grossTvlUsd, borrowedUsd] = [Number(row.grossTvlUsd), Number(row.borrowedUsd)];
    expect({ ...row, against: reference.toLowerCase(), grossTvlUsd, borrowedUsd }).toEqual(reported);
    expect(Number(during.typed.total.divergentUsd)).toBe(reported.grossTvlUsd);
  }

  await local.setOraclePrice(market, price);
  const after = await read(chainId, market.id, wallet);
  for (const warnings of Object.values(after.codes)) expect(codesOf(warnings)).toEqual([]);
  expect(after.chain).toMatchObject({ oracleDivergences: [], divergentUsd: 0 });
  expect(after.tvl.total.divergentUsd).toBe(0);
});

test('refuses to open on an oracle far from the price; actions that lower risk continue', async () => {
  const local = chain(1);
  const market = marketByKey(local.chain, 'weETH/WETH 94.5');
  const user = seededWallet('looper').account.address;
  const position = (await service.get(`/v1/partner/positions/${user}?chainId=1`, PARTNER)).body.positions.find(
    ({ strategyId }: Json) => strategyId === market.id,
  );
  const open = () =>
    service.post(
      '/v1/partner/leverage/simulate',
      { chainId: 1, strategyId: market.id, payToken: market.collateral.address, amount: '1', leverage: 2 },
      PARTNER,
    );
  const repay = () =>
    service.post(
      '/v1/partner/manage/build',
      { userAddress: user, id: position.id, action: 'repay', payToken: market.loan.address, amount: '0.1', chainId: 1 },
      PARTNER,
    );
  await pass(1);
  await service.refresh('prices');
  const opened = await open();
  expect([opened.status, opened.body.error]).toEqual([200, undefined]);
  const price = await local.oraclePrice(market);
  await local.setOraclePrice(market, (price * 85n) / 100n);
  await pass(1);
  const refused = await open();
  expect([refused.status, refused.body.error.details]).toMatchObject([400, { reason: 'oracle_divergence' }]);
  expect((await repay()).status).toBe(200);
  await local.setOraclePrice(market, price);
  await pass(1);
  expect((await open()).status).toBe(200);
});

test('a stablecoin off its peg by both sources shows at once, prevents opening, and does not change sums in dollars', async () => {
  const market = marketByKey(chain(1).chain, 'sUSDe/PYUSD 91.5');
  await service.refresh('lending-state:1', 'prices', 'tvl:1');
  const before = (await service.get('/v1/tvl')).body.chains[0];
  for (const provider of ['coingecko', 'defillama-coins'] as const) {
    service.world.upstreams.faults.set(provider, { kind: 'scaled', factor: 0.8 });
  }
  service.clock.advance(61_000);
  await service.refresh('prices', 'tvl:1');
  const { body } = await service.get(`/v1/strategies/${market.id}`);
  expect(Number(body.loan.priceUsd)).toBeCloseTo(0.8, 1);
  expect(codesOf(body.spiralHints.warnings)).toContain('off_peg');
  const { status, body: refused } = await service.post(
    '/v1/partner/leverage/simulate',
    { chainId: 1, strategyId: market.id, payToken: market.collateral.address, amount: '100', leverage: 2 },
    PARTNER,
  );
  expect([status, refused.error.details]).toMatchObject([400, { reason: 'off_peg' }]);
  expect((await service.get('/v1/tvl')).body.chains[0].grossTvlUsd).toBe(before.grossTvlUsd);
  service.world.upstreams.faults.clear();
  service.clock.advance(61_000);
  await service.refresh('prices', 'tvl:1');
  const after = await service.get(`/v1/strategies/${market.id}`);
  expect(after.body.spiralHints.warnings).toBeUndefined();
});

/** Oracles at a first start, in percent of their usual price. */
const FIRST = [
  [1, 'sUSDS/USDT 96.5', 55n, 'price'],
  [1, 'wsrUSD/USDC 94.5', 55n, 'range'],
  [1, 'ETH+/WETH 94.5', 100n * 10n ** 12n, 'range'],
  [1, 'PT-sUSDe/USDC 91.5', 55n, 'range'],
  [4663, 'spUSDG/USDG 91.5', 55n, 'range'],
  [4663, 'PONS/USDG 38.5 Longbow', 100n * 10n ** 12n, 'price'],
  [4663, 'SPY/USDG 62.5 Longbow', 100n * 10n ** 12n, 'range'],
] as const;

test('an impossible oracle of a collateral without a price shows from the first start, also in sums, and prevents opening', async () => {
  const broken = FIRST.map(([chainId, key, factor, against]) => {
    return { chainId, market: marketByKey(chain(chainId).chain, key), factor, against };
  });
  const good: (() => Promise<unknown>)[] = [];
  for (const { chainId, market, factor } of broken) {
    const price = await chain(chainId).oraclePrice(market);
    good.push(() => chain(chainId).setOraclePrice(market, price));
    await chain(chainId).setOraclePrice(market, (price * factor) / 100n);
  }
  const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-first-'));
  await service.restart({ SNAPSHOT_FILE: join(folder, 'none.json') });
  const marked = async () => {
    const { body } = await service.graphql(`{ markets(first: 100) { nodes { id: marketId warnings { code } } } }`);
    expect(body.errors).toBeUndefined();
    const nodes: Json[] = body.data.markets.nodes;
    return new Map(
      nodes.flatMap(({ id, warnings }) =>
        warnings.length > 0 ? [[id, codesOf(warnings).map((code: string) => code.toLowerCase())]] : [],
      ),
    );
  };
  expect(await marked()).toEqual(new Map(broken.map(({ market, against }) => [market.id, [CODES[against]]])));
  const { body: tvl } = await service.get('/v1/tvl');
  for (const { chainId, oracleDivergences, grossTvlUsd, divergentUsd } of tvl.chains) {
    const summed = oracleDivergences.map(({ marketId, against }: Json) => [marketId, against]);
    const expected = broken.filter((row) => row.chainId === chainId).map((row) => [row.market.id, row.against]);
    expect(expected).toEqual(expect.arrayContaining(summed));
    expect(summed.length).toBeGreaterThan(0);
    expect(divergentUsd).toBeLessThan(grossTvlUsd);
  }
  for (const { chainId, market } of broken.filter(
    ({ market: { kind, collateral } }) => kind === 'loop' && !collateral.noSwapRoute,
  )) {
    const { status, body } = await service.post(
      '/v1/partner/leverage/simulate',
      { chainId, strategyId: market.id, payToken: market.loan.address, amount: '1', leverage: 1.5 },
      PARTNER,
    );
    expect([status, body.error.details.reason ?? body.error]).toEqual([400, 'oracle_divergence']);
  }

  for (const restore of good) await restore();
  for (const chainId of [1, 4663]) await pass(chainId);
  expect(await marked()).toEqual(new Map());
});
