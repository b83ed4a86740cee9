import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../../devnet/upstreams/index.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { allNodes, CHAIN_IDS, SUSDE_PYUSD } from '../known.ts';
import { asContract, STRATEGIES_QUERY } from './strategy-contract.ts';

/*
 * GraphQL and REST say the same of every strategy. One world goes from knowing little (every optional source down since the
 * beginning) to knowing all, so that each field is seen absent, null and given.
 */

const SOURCES = ['coingecko', 'defillama-coins', 'kyberswap', 'merkl', 'morpho'] as const;
const WARMERS = ['prices', 'incentives', 'incentive-history', 'shared-liquidity', 'borrow-history', 'exit-liquidity'];
let service: TestService;
beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    arrange: async (world) => {
      for (const source of SOURCES) world.upstreams.faults.set(source, { kind: 'status', status: 500 });
      const path = world.overrides.env.CATALOG_OVERLAY ?? '';
      const overlay: Json[] = JSON.parse(await readFile(path, 'utf8'));
      const evidence = { sourceUrl: 'https://points.example/sats', checkedOn: '2026-11-01' };
      const points = { program: 'Sats', perDayPerCollateralToken: 20, ...evidence };
      overlay.push({
        chainId: 1,
        complete: [
          { symbol: 'sUSDe', points },
          { symbol: 'syrupUSDC', points: { program: null, ...evidence } },
        ],
      });
      await writeFile(`${path}.points`, JSON.stringify(overlay));
      return { CATALOG_OVERLAY: `${path}.points` };
    },
  });
});
afterAll(() => service?.stop());

const graphqlOf = (chainId: number): Promise<Json[]> => allNodes(service, STRATEGIES_QUERY, 'strategies', { chainId });

/** Every strategy of a chain by REST: those listed from the list, the other loops one by one. */
async function expectEqual(): Promise<void> {
  for (const chainId of CHAIN_IDS) {
    const [typed, { body }] = [await graphqlOf(chainId), await service.get(`/v1/strategies?chainId=${chainId}`)];
    const listed = new Map<string, Json>(body.strategies.map((strategy: Json) => [strategy.id, strategy]));
    expect([...listed.keys()].sort()).toEqual(
      typed
        .filter(({ visibility }) => visibility.listed)
        .map(({ strategyId }) => strategyId)
        .sort(),
    );
    for (const strategy of typed) {
      const expected = asContract(strategy);
      const { strategyId } = strategy;
      if (listed.has(strategyId)) expect(listed.get(strategyId)).toEqual(expected);
      if (!strategyId.startsWith('equity-')) {
        const one = await service.get(`/v1/strategies/${strategyId}`);
        expect(one.status).toBe(200);
        expect(one.body).toEqual(expected);
      }
      for (const { field, message } of strategy.gaps) expect(`${field} ${message}`).toMatch(/\w \w/);
    }
  }
}

async function rest(id: string = SUSDE_PYUSD): Promise<Json> {
  return (await service.get(`/v1/strategies/${id}`)).body;
}
const marketOf = (chainId: number, collateral: string) => {
  const market = service.world.chains.on(chainId).chain.markets.find((row) => row.collateral.symbol === collateral);
  if (!market) throw new Error(`no market of ${collateral}`);
  return market.id;
};
const at = (value: Json, path: string): Json => path.split('.').reduce((found, key) => found?.[key], value);
const has = (value: Json, path: string): boolean => {
  const parts = path.split('.');
  const parent = at({ root: value }, ['root', ...parts.slice(0, -1)].join('.'));
  return (
    parent !== undefined && parent !== null && parts.at(-1) !== undefined && Object.hasOwn(parent, parts.at(-1) ?? '')
  );
};

describe('before the first answer of the optional sources', () => {
  test('GraphQL and REST agree on every strategy', expectEqual);

  test.each([
    'collateral.priceUsd',
    'loan.priceUsd',
    'supplyUsd',
    'liquidityUsd',
    'publicAllocatorLiquidityUsd',
    'borrowIncentive',
    'collateralIncentive',
    'quarterlyBorrowApyPct',
    'historicalLeverageApyPct',
    'spiralHints',
    'links',
    'freshness.borrow.staleForSec',
  ])('%s is absent: unmeasured is neither zero nor null', async (field) => {
    expect(has(await rest(), field)).toBe(false);
  });

  test('measured values are present', async () => {
    const strategy = await rest();
    expect(strategy.exitLiquidity).toEqual({ measured: false });
    expect(strategy.freshness.exitLiquidity).toMatchObject({ asOf: '1970-01-01T00:00:00.000Z' });
    expect(strategy.freshness.exitLiquidity.staleForSec).toBeGreaterThan(1e9);
    expect(strategy.noSwapRoute).toBe(true);
    expect(strategy.listed).toBe(true);
    expect(strategy.gaps.map(({ field }: Json) => field).sort()).toEqual([
      'defaultLeverage',
      'freshness.exitLiquidity',
      'leverageLadder',
      'netBorrowApyPct',
      'noSwapRoute',
      'totalCollateralApyPct',
    ]);
    expect(strategy.inputFreshness).toBeUndefined();
    expect(strategy.collateralApyPct).toBe('6.84');
    expect(strategy.netBorrowApyPct).toBe(strategy.borrowApyPct);
    expect(strategy.yieldSustainabilityPct.avg90d).toMatch(/^\d+\.\d\d$/);
  });

  test('GraphQL has the reason beside every null', async () => {
    const [typed] = (await graphqlOf(1)).filter(({ strategyId }) => strategyId === SUSDE_PYUSD);
    const reasons = new Map(typed.gaps.map(({ field, reason }: Json) => [field, reason]));
    for (const field of ['loanPrice', 'supplyUsd', 'borrowIncentive', 'exitLiquidity', 'publicAllocatorLiquidityUsd']) {
      expect([field, reasons.get(field)]).toEqual([field, 'SOURCE_FAILED']);
    }
    expect(reasons.get('collateral.maturesAt')).toBe('NOT_APPLICABLE');
  });

  test('a perp has its profile, and no unmeasured tier', async () => {
    const hints = (await rest(marketOf(1, 'WBTC'))).spiralHints;
    expect(Object.keys(hints)).toEqual(['profile']);
  });
});

describe('once every source has answered', () => {
  beforeAll(async () => {
    service.world.upstreams.faults.clear();
    service.clock.advance(120_000);
    await service.refresh(...WARMERS);
    service.clock.advance(60_000);
    await service.refresh('prices', 'exit-liquidity');
  });

  test('GraphQL and REST agree on every strategy', expectEqual);

  test.each(CHAIN_IDS)('every step of a ladder on chain %i follows from the served rates', async (chainId) => {
    const { strategies } = (await service.get(`/v1/strategies?chainId=${chainId}`)).body;
    const steps = strategies.flatMap((strategy: Json) =>
      [...strategy.leverageLadder, strategy.defaultLeverage].map((step: Json) => ({ strategy, step })),
    );
    for (const { strategy, step } of steps) {
      const [total, net, leverage, ltv] = [
        strategy.totalCollateralApyPct,
        strategy.netBorrowApyPct,
        step.leverage,
        step.ltvPct,
      ].map(Number) as [number, number, number, number];
      const shown = strategy.id.startsWith('equity-')
        ? (ltv / 100) * (total - net)
        : total * leverage - net * (leverage - 1);
      // The documented allowance of a loop; the target and the highest LTV of the seeded vaults have at most 1 place.
      expect(Math.abs(shown - Number(step.leverageApyPct)), `${strategy.id} at ${leverage}`).toBeLessThanOrEqual(
        0.01 * leverage + 1e-9,
      );
    }
    const incentivized = strategies.filter(({ collateralIncentive }: Json) => collateralIncentive !== null);
    if (chainId === 1) expect(incentivized).not.toEqual([]);
  });

  const GIVEN: readonly (readonly [field: string, of: () => string])[] = [
    ['collateral.priceUsd', () => SUSDE_PYUSD],
    ['loan.priceUsd', () => SUSDE_PYUSD],
    ['supplyUsd', () => SUSDE_PYUSD],
    ['liquidityUsd', () => SUSDE_PYUSD],
    ['publicAllocatorLiquidityUsd', () => SUSDE_PYUSD],
    ['borrowIncentive.aprPct', () => SUSDE_PYUSD],
    ['collateralIncentive.aprPct', () => marketOf(1, 'siUSD')],
    ['quarterlyBorrowApyPct', () => SUSDE_PYUSD],
    ['historicalLeverageApyPct.avg90d', () => SUSDE_PYUSD],
    ['yieldSustainabilityPct.avg30d', () => SUSDE_PYUSD],
    ['pointsIncentive.program', () => SUSDE_PYUSD],
    ['exitLiquidity.slippagePct.100000', () => SUSDE_PYUSD],
    ['spiralHints.exitLiquidityTier.value', () => SUSDE_PYUSD],
    ['spiralHints.profile.value', () => marketOf(1, 'WBTC')],
    ['collateral.project', () => SUSDE_PYUSD],
    ['collateral.yieldSource', () => SUSDE_PYUSD],
    ['collateral.maturityDate', () => overlayPt()],
    ['collateral.underlying.symbol', () => overlayPt()],
    ['curator', () => marketOf(4663, 'wsNET')],
  ];
  test.each(GIVEN)('%s is given', async (field, of) => {
    const value = at(await rest(of()), field);
    expect(['string', 'number']).toContain(typeof value);
    expect(value).not.toBe('');
  });

  const NULL: readonly (readonly [field: string, of: () => string])[] = [
    ['borrowIncentive', () => marketOf(1, 'reUSD')],
    ['collateralIncentive', () => SUSDE_PYUSD],
    ['pointsIncentive', () => marketOf(1, 'syrupUSDC')],
    ['collateral.maturity', () => SUSDE_PYUSD],
    ['collateral.maturityDate', () => SUSDE_PYUSD],
    ['collateral.maturityDaysLeft', () => SUSDE_PYUSD],
  ];
  test.each(NULL)('%s is null: measured, there is none', async (field, of) => {
    const strategy = await rest(of());
    expect([has(strategy, field), at(strategy, field)]).toEqual([true, null]);
  });

  const ABSENT: readonly (readonly [field: string, of: () => string])[] = [
    ['curator', () => SUSDE_PYUSD],
    ['pointsIncentive', () => marketOf(1, 'reUSD')],
    ['collateral.underlying', () => SUSDE_PYUSD],
    ['equityVault', () => SUSDE_PYUSD],
    ['publicAllocatorLiquidityUsd', () => marketOf(4663, 'spUSDG')],
    ['yieldSustainabilityPct', () => marketOf(1, 'WBTC')],
    ['collateral.project', () => marketOf(1, 'WBTC')],
    ['spiralHints.profile', () => SUSDE_PYUSD],
    ['freshness.exitLiquidity.staleForSec', () => SUSDE_PYUSD],
  ];
  test.each(ABSENT)('%s is absent', async (field, of) => {
    expect(has(await rest(of()), field)).toBe(false);
  });

  function overlayPt(): string {
    const now = service.clock.now() / 1_000;
    const found = service.world.chains
      .on(1)
      .chain.markets.find(({ collateral }) => (collateral.maturity ?? 0) > now + 30 * 86_400);
    if (!found) throw new Error('the overlay has a principal token');
    return found.id;
  }

  const NO_ROUTE = { kind: 'answer', status: 400, body: { code: 4008, message: 'route not found' } } as const;
  /** Let the swap venue answer so for three observations, each a whole cadence after the other. */
  const confirmed = async (fault: Fault, path: string) => {
    const { upstreams } = service.world;
    upstreams.faults.set('kyberswap', fault, { path });
    for (let observations = 0; observations < 3; observations += 1) {
      service.clock.advance(43_200_000);
      await service.world.chains.on(1).increaseTime(43_200);
      await service.refresh('lending-state:1', 'prices', 'exit-liquidity:1');
    }
    upstreams.faults.clear();
  };

  test('a size without a route is null, and the tier follows', async () => {
    const { upstreams } = service.world;
    const sized = upstreams.requests('kyberswap').filter(({ query }) => query.tokenIn?.toLowerCase() === susde());
    const largest = sized.map(({ query }) => BigInt(query.amountIn ?? 0)).reduce((a, b) => (a > b ? a : b));
    await confirmed(NO_ROUTE, `amountIn=${largest}`);
    const { exitLiquidity, spiralHints, noSwapRoute } = await rest();
    expect(exitLiquidity.slippagePct['5000000']).toBeNull();
    expect(exitLiquidity.slippagePct['1000000']).toMatch(/^\d+\.\d\d$/);
    expect([spiralHints.exitLiquidityTier.value, noSwapRoute]).toEqual(['good', false]);
    await expectEqual();
  });
  const susde = () => service.world.chains.on(1).token('sUSDe').address.toLowerCase();

  test('no route at any size means no swap route, and the market is not listed', async () => {
    await confirmed(NO_ROUTE, `tokenIn=${service.world.chains.on(1).token('sUSDe').address}`);
    const strategy = await rest();
    expect(strategy.noSwapRoute).toBe(true);
    expect(Object.values(strategy.exitLiquidity.slippagePct)).toEqual([null, null, null, null]);
    expect(strategy.spiralHints.exitLiquidityTier.value).toBe('thin');
    await expectEqual();
    service.clock.advance(120_000);
    await service.refresh('exit-liquidity:1');
    expect((await rest()).noSwapRoute).toBe(false);
  });

  test('staleForSec appears from the first second past the budget', async () => {
    const chain = service.world.chains.on(1);
    const { timestamp } = await chain.client.getBlock();
    await chain.increaseTime(Math.floor(service.clock.now() / 1_000) - Number(timestamp));
    await service.refresh('lending-state');
    const { staleAfterSec, asOf } = (await rest()).freshness.borrow;
    const untilStaleMs = Date.parse(asOf) + staleAfterSec * 1_000 - service.clock.now();
    service.clock.advance(untilStaleMs - 2_000);
    expect((await rest()).freshness.borrow).toEqual({ asOf, staleAfterSec });
    service.clock.advance(4_000);
    expect((await rest()).freshness.borrow).toEqual({ asOf, staleAfterSec, staleForSec: 2 });
    await expectEqual();
  });

  test('a link to the app requires a configured app', async () => {
    await service.restart({ APP_URL: 'https://app.example' });
    expect((await rest()).links.app).toContain(SUSDE_PYUSD);
    expect((await rest()).links.app).toMatch(/^https:\/\/app\.example\//);
  });
});
