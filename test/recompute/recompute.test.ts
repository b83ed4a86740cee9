import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, noSleep, OPS, PARTNER, startService, type TestService } from '../support/service.ts';
import {
  carry,
  EXIT_SIZES,
  type ExpectedMarket,
  expectedExit,
  expectedMarket,
  expectedPosition,
  leverageAt,
  type Means,
  shownMeans,
  shownPrice,
} from './expected.ts';
import { collateralValue, debtOf, Exact, shown, whole } from './protocol.ts';
import { type Sources, sourcesOf } from './sources.ts';

/*
 * Every number of the reads, of positions and of portfolios, worked out again from what the chain's contracts and the
 * providers answer when they are asked directly. Formulas are the protocol's; nothing of the service's code is used.
 */

const CHAINS = [1, 4663];
/** Digits to which full-precision numbers have to agree: rates pass through double precision, everything else is exact. */
const PRECISION = '1e-9';
/** A mean over time ends when its history was read, which is some seconds before it is compared. */
const WINDOW_PRECISION = '1e-4';
/** The protocol's SDK rounds collateral × LLTV to base units before it divides. */
const LIQUIDATION_PRECISION = '1e-7';

let service: TestService;
const sources = new Map<number, Sources>();
const expected = new Map<string, ExpectedMarket>();
let appMarkets: Json[];

beforeAll(async () => {
  service = await startService({ sleep: noSleep });
  appMarkets = (await service.get('/v1/app/markets')).body.markets;
  for (const chainId of CHAINS) {
    const own = appMarkets.filter((market) => market.chainId === chainId);
    const blocks = new Set(own.map(({ state }) => state.blockNumber.$bigint));
    expect(blocks.size).toBe(1);
    const source = sourcesOf(service, chainId, BigInt([...blocks][0] as string));
    sources.set(chainId, source);
    for (const market of source.chain.markets) {
      expected.set(market.id, await expectedMarket(source, market, service.clock.now()));
    }
  }
});
afterAll(() => service?.stop());

const of = (chainId: number) => sources.get(chainId) as Sources;
const marketOf = (id: string) => expected.get(id) as ExpectedMarket;
const near = (actual: Json, wanted: Exact, what: string, within = PRECISION) =>
  expect(
    new Exact(actual.$bn ?? actual).minus(wanted).abs().lte(within),
    `${what}: ${JSON.stringify(actual)} is not ${wanted.toFixed()}`,
  ).toBe(true);

test('the suite uses nothing of the service', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  for (const file of readdirSync(folder)) expect(readFileSync(folder + file, 'utf8')).not.toMatch(/from '[^']*\/src\//);
});

/** Fields of a strategy that follow from one market. */
function strategyFields(market: ExpectedMarket): Json {
  const incentive = (aprPct: Exact, isPaid: boolean) => (isPaid ? { aprPct: shown(aprPct) } : null);
  return {
    borrowApyPct: shown(market.borrowApy),
    borrowIncentive: incentive(market.borrowIncentive, market.hasBorrowIncentive),
    collateralIncentive: incentive(market.collateralIncentive, market.hasCollateralIncentive),
    netBorrowApyPct: shown(market.netBorrowApy),
    supplyUsd: Number(shown(market.supplyUsd)),
    liquidityUsd: Number(shown(market.liquidityUsd)),
    utilizationPct: shown(new Exact(market.state.utilization.toString()).shiftedBy(-16)),
  };
}

describe.each(CHAINS)('/v1/strategies of chain %s', (chainId) => {
  test('every number of every loop', async () => {
    const { body } = await service.get(`/v1/strategies?chainId=${chainId}`);
    const loops = body.strategies.filter(({ id }: Json) => !id.startsWith('equity-'));
    expect(loops.length).toBeGreaterThan(3);
    for (const strategy of loops) {
      const market = marketOf(strategy.id);
      const exit = await expectedExit(of(chainId), market.market);
      expect(strategy, `${strategy.collateral.symbol}/${strategy.loan.symbol}`).toMatchObject({
        ...strategyFields(market),
        correlated: market.market.correlated,
        collateral: { address: market.market.collateral.address, decimals: market.market.collateral.decimals },
        loan: { address: market.market.loan.address, priceUsd: market.loanUsd.decimalPlaces(12).toFixed() },
        collateralApyPct: shown(market.ownApy),
        collateralApySource: of(chainId).yieldSource(market.market.collateral),
        maxLeverage: shown(leverageAt(market.max), 1),
        leverageLadder: market.ladder,
        defaultLeverage: market.defaultRung,
        ltvPct: { liquidation: shown(market.liquidation), max: shown(market.max) },
        oracle: { address: market.market.oracle },
        exitLiquidity: { measured: true, slippagePct: exit.slippagePct },
        noSwapRoute: !exit.hasRoute,
        spiralHints: { exitLiquidityTier: { value: exit.tier } },
      });
      near(strategy.collateral.priceUsd, market.collateralUsd, 'collateral.priceUsd');
      expect(strategy.publicAllocatorLiquidityUsd).toBe(
        market.withShared === undefined ? undefined : Number(shown(market.withShared)),
      );
      expect(strategy.quarterlyBorrowApyPct).toBe(market.quarterly && shown(market.quarterly));
      expect(strategy.yieldSustainabilityPct).toEqual(shownMeans(market.yieldMeans));
      expect(strategy.historicalLeverageApyPct, strategy.id).toEqual(shownMeans(market.leverageMeans));
    }
  });

  test('which are listed, and how many', async () => {
    const { body } = await service.get(`/v1/strategies?chainId=${chainId}`);
    const source = of(chainId);
    const listed: string[] = [];
    for (const market of source.chain.markets.filter(({ kind }) => kind === 'loop')) {
      const known = marketOf(market.id);
      const { hasRoute } = await expectedExit(source, market);
      const earns = [known.ownApy, known.borrowIncentive, known.collateralIncentive].some((pct) => pct.gt(0));
      const daysLeft =
        ((market.collateral.maturity ?? Number.POSITIVE_INFINITY) * 1_000 - service.clock.now()) / 86_400_000;
      const isListed =
        (earns || !market.correlated) &&
        hasRoute &&
        !market.collateral.noSwapRoute &&
        daysLeft > 7 &&
        known.liquidityUsd.gt(1_000);
      if (isListed) listed.push(market.id);
    }
    const loops = body.strategies.map(({ id }: Json) => id).filter((id: string) => !id.startsWith('equity-'));
    expect(loops.toSorted()).toEqual(listed.toSorted());
    expect(body.count).toBe(body.strategies.length);
  });
});

test('/v1/strategies: every number of every equity vault', async () => {
  const { body } = await service.get('/v1/strategies?chainId=4663');
  const vaults = body.strategies.filter(({ id }: Json) => id.startsWith('equity-'));
  expect(vaults).toHaveLength(of(4663).chain.equityVaults.length);
  for (const vault of vaults) {
    const stock = marketOf(vault.equityVault.stockMarketId);
    const leg = marketOf(vault.equityVault.yieldStrategyId);
    const legApy = carry(leg.earned, leg.netBorrowApy, leverageAt(leg.safe));
    const cap = stock.liquidation.times('0.88');
    const rung = (ltvPct: Exact) => ({
      leverage: shown(ltvPct.div(100).plus(1), 1),
      ltvPct: shown(ltvPct, 1),
      leverageApyPct: shown(ltvPct.div(100).times(legApy.minus(stock.netBorrowApy))),
    });
    const target = new Exact(vault.equityVault.targetLtvPct);
    const net = (name: keyof Means) => {
      const [earned, paid] = [leg.leverageMeans[name], stock.borrowMeans[name]];
      return earned && paid && target.div(100).times(earned.minus(paid));
    };
    const netMeans = Object.fromEntries(
      (['avg30d', 'avg60d', 'avg90d'] as const).flatMap((name) => {
        const value = net(name);
        return value ? [[name, value] as const] : [];
      }),
    );
    const exit = await expectedExit(of(4663), stock.market);
    expect(vault).toMatchObject({
      ...strategyFields(stock),
      collateralApyPct: shown(legApy),
      maxLeverage: rung(cap).leverage,
      leverageLadder: [rung(new Exact(0)), rung(target), rung(cap)],
      defaultLeverage: rung(target),
      ltvPct: { liquidation: shown(stock.liquidation), max: shown(cap) },
      yieldSustainabilityPct: shownMeans(leg.leverageMeans),
      historicalLeverageApyPct: shownMeans(netMeans),
      quarterlyBorrowApyPct: stock.quarterly && shown(stock.quarterly),
      exitLiquidity: { slippagePct: exit.slippagePct },
      equityVault: { yieldLegApyPct: shown(legApy), maxStockLtvPct: shown(cap) },
    });
    near(vault.collateral.priceUsd, stock.collateralUsd, 'collateral.priceUsd');
  }
});

test('/v1/app/markets: every number of every market, at full precision', async () => {
  expect(appMarkets.map(({ id }) => id).toSorted()).toEqual([...expected.keys()].toSorted());
  for (const row of appMarkets) {
    const market = marketOf(row.id);
    const { state } = market;
    const big = (value: bigint) => ({ $bigint: value.toString() });
    expect(row).toMatchObject({
      lltv: big(market.market.lltv),
      oracle: { address: market.market.oracle, price: big(market.price) },
      state: {
        lastUpdate: new Date(Number(state.lastUpdate) * 1_000).toISOString(),
        rateAtTarget: big(state.rateAtTarget),
      },
      totalSupplyAssets: big(state.totalSupplyAssets),
      totalBorrowAssets: big(state.totalBorrowAssets),
      totalSupplyShares: big(state.totalSupplyShares),
      totalBorrowShares: big(state.totalBorrowShares),
      liquidityAssets: big(state.liquidity),
      utilization: big(state.utilization),
    });
    const numbers: readonly (readonly [string, Exact | undefined])[] = [
      ['borrowApyPct', market.borrowApy],
      ['netBorrowApyPct', market.netBorrowApy],
      ['collateralApyPct', market.ownApy],
      ['effectiveCollateralApyPct', market.earned],
      ['liquidationLtvPct', market.liquidation],
      ['maxLtvPct', market.max],
      ['safeLtvPct', market.safe],
      ['supplyUsd', market.supplyUsd],
      ['liquidityUsd', market.liquidityUsd],
      ['publicAllocatorLiquidityUsd', market.withShared],
    ];
    for (const [name, value] of numbers) {
      if (value === undefined) expect(row[name]).toBeUndefined();
      else near(row[name], value, `${row.id} ${name}`);
    }
    near(row.collateralPrice.usd, market.collateralUsd, 'collateralPrice');
    near(row.loanPrice.usd, market.loanUsd, 'loanPrice');
    const trailing: readonly (readonly [string, Means])[] = [
      ['collateralApyPct', market.yieldMeans],
      ['effectiveCollateralApyPct', market.collateralMeans],
      ['netBorrowApyPct', market.borrowMeans],
      ['leverageApyPct', market.leverageMeans],
    ];
    for (const [name, means] of trailing) {
      for (const [window, value] of Object.entries(means)) {
        if (row.trailing[name] !== undefined)
          near(row.trailing[name][window], value, `${row.id} ${name} ${window}`, WINDOW_PRECISION);
      }
    }
    const exit = await expectedExit(of(row.chainId), market.market);
    for (const [index, size] of EXIT_SIZES.entries()) {
      const loss = exit.exact[index]?.[1];
      if (loss && row.exitSlippage) near(row.exitSlippage[size], loss, `${row.id} exit of ${size}`);
    }
  }
});

/** Open positions with collateral, with what they are worth. */
async function openPositions(chainId: number) {
  const held = await of(chainId).positions();
  return held
    .filter(({ open, collateral }) => open && collateral > 0n)
    .map((position) => ({ held: position, ...expectedPosition(position, marketOf(position.marketId)) }));
}

test('/v1/tvl: sums of all positions of both chains', async () => {
  const { body } = await service.get('/v1/tvl');
  const users = new Set<string>();
  const totals = { tvlUsd: new Exact(0), grossTvlUsd: new Exact(0), borrowedUsd: new Exact(0), positions: 0 };
  let badDebtSum = new Exact(0);
  for (const chainId of CHAINS) {
    const open = await openPositions(chainId);
    const total = (pick: (position: (typeof open)[number]) => Exact) =>
      new Exact(shown(open.reduce((sum, position) => sum.plus(pick(position)), new Exact(0))));
    const grossTvlUsd = total(({ exact }) => exact.collateralUsd);
    const borrowedUsd = total(({ exact }) => exact.debtUsd);
    const tvlUsd = grossTvlUsd.minus(borrowedUsd);
    const badDebtUsd = total(({ exact }) => Exact.max(exact.debtUsd.minus(exact.collateralUsd), 0));
    badDebtSum = badDebtSum.plus(badDebtUsd);
    const wallets = new Set(open.map(({ held }) => held.wallet));
    for (const wallet of wallets) users.add(wallet);
    expect(body.chains.find((chain: Json) => chain.chainId === chainId)).toMatchObject({
      tvlUsd: tvlUsd.toNumber(),
      grossTvlUsd: grossTvlUsd.toNumber(),
      borrowedUsd: borrowedUsd.toNumber(),
      badDebtUsd: badDebtUsd.toNumber(),
      positions: open.length,
      users: wallets.size,
    });
    totals.tvlUsd = totals.tvlUsd.plus(tvlUsd);
    totals.grossTvlUsd = totals.grossTvlUsd.plus(grossTvlUsd);
    totals.borrowedUsd = totals.borrowedUsd.plus(borrowedUsd);
    totals.positions += open.length;
  }
  expect(body.total).toEqual({
    tvlUsd: totals.tvlUsd.toNumber(),
    grossTvlUsd: totals.grossTvlUsd.toNumber(),
    borrowedUsd: totals.borrowedUsd.toNumber(),
    badDebtUsd: badDebtSum.toNumber(),
    divergentUsd: 0,
    positions: totals.positions,
    users: users.size,
  });
});

describe.each(CHAINS)('positions of chain %s', (chainId) => {
  test('/v1/partner/positions: every number of every wallet', async () => {
    const open = await openPositions(chainId);
    const wallets = new Set((await of(chainId).positions()).map(({ wallet }) => wallet));
    let seen = 0;
    for (const wallet of wallets) {
      const { body } = await service.get(`/v1/partner/positions/${wallet}?chainId=${chainId}`, PARTNER);
      const loops: Json[] = [...body.positions, ...body.equityPositions.flatMap(({ yieldLoops }: Json) => yieldLoops)];
      for (const { held, shown: wanted, liquidationPrice } of open.filter((one) => one.held.wallet === wallet)) {
        const loop = loops.find(({ id }) => id === held.id);
        expect(loop).toMatchObject(wanted);
        if (held.borrowShares > 0n) {
          const price = new Exact(loop.liquidationPrice);
          expect(price.minus(liquidationPrice).abs().div(liquidationPrice).lte(LIQUIDATION_PRECISION)).toBe(true);
        }
        const exit = await expectedExit(of(chainId), marketOf(held.marketId).market);
        expect(loop.exitLiquidity).toMatchObject({
          tier: exit.tier,
          cleanExitSizeUsd: exit.clean,
          noSwapRoute: !exit.hasRoute,
        });
        seen += 1;
      }
      for (const vault of body.equityPositions) await expectVault(vault, wallet, loops);
    }
    expect(seen).toBe(open.length);
  });

  test('/v1/ops/portfolios: the same positions, and every wallet', async () => {
    const { body } = await service.get(`/v1/ops/portfolios?chainId=${chainId}`, OPS);
    const open = await openPositions(chainId);
    for (const { held, exact, shown: wanted } of open) {
      const user = body.users.find(({ address }: Json) => address === held.wallet);
      const loops: Json[] = [...user.positions, ...user.equityPositions.flatMap(({ yieldLoops }: Json) => yieldLoops)];
      expect(loops.find(({ id }) => id === held.id)).toMatchObject({
        amountLoan: wanted.amountLoan,
        ltvPct: wanted.ltvPct,
        netCollateral: wanted.netCollateral,
        collateralUsd: shown(exact.collateralUsd),
        debtUsd: shown(exact.debtUsd),
        netValueUsd: shown(exact.netUsd),
      });
    }
    const vaults: Json[] = body.users.flatMap(({ equityPositions }: Json) => equityPositions);
    const inVaults = vaults.flatMap(({ yieldLoops }) => yieldLoops).filter(({ open: isOpen }: Json) => isOpen);
    expect(body.counts).toMatchObject({ open: open.length - inVaults.length, equity: vaults.length });
    const owners = new Set(open.map(({ held }) => held.wallet));
    for (const owner of owners) expect(body.users.map(({ address }: Json) => address)).toContain(owner);
  });
});

/** The stock leg is the wallet's own lending position; its loops are checked as positions. */
async function expectVault(vault: Json, wallet: Address, loops: readonly Json[]): Promise<void> {
  const id = vault.strategyId.replace('equity-', '');
  const stock = marketOf(id);
  const { state, price, loanUsd, market, liquidation } = stock;
  const [, borrowShares, collateral] = await of(4663).holding(id, wallet);
  const debt = debtOf(borrowShares, state);
  const value = collateralValue(collateral, price);
  const ltv = new Exact(debt.toString()).times(100).div(value.toString());
  const places = market.collateral.decimals - market.loan.decimals - 36;
  const priceUsd = new Exact(price.toString()).shiftedBy(places).times(loanUsd);
  const usd = (units: bigint) => whole(units, market.loan.decimals).times(loanUsd);
  expect(vault.stock).toMatchObject({
    collateral: whole(collateral, market.collateral.decimals).toFixed(),
    collateralUsd: shown(usd(value)),
    priceUsd: shownPrice(priceUsd),
    debtUsdg: whole(debt, market.loan.decimals).toFixed(),
    ltvPct: shown(ltv),
    liquidationLtvPct: shown(liquidation),
    liquidationPriceUsd: shownPrice(priceUsd.times(ltv).div(liquidation)),
    priceDropToLiquidationPct: shown(new Exact(100).minus(ltv.times(100).div(liquidation))),
    borrowApyPct: shown(stock.borrowApy),
  });
  if (vault.yieldLoopMatch === 'ambiguous') return;
  const open = await openPositions(4663);
  const own = open.filter(
    ({ held }) => held.wallet === wallet && vault.yieldLoops.some(({ id: loop }: Json) => loop === held.id),
  );
  expect(own.every(({ held }) => loops.some(({ id: loop }) => loop === held.id))).toBe(true);
  const net = own.reduce((sum, { exact }) => sum.plus(exact.netUsd), usd(value - debt));
  expect(vault.netValueUsd).toBe(shown(net));
  const equity = own.reduce((sum, { exact }) => sum.plus((exact.value - exact.debt).toString()), new Exact(0));
  const earned = own.reduce((sum, { held, exact }) => {
    const leg = marketOf(held.marketId);
    const leverage = new Exact(shown(new Exact(100).div(new Exact(100).minus(exact.ltv)), 1));
    return sum.plus(carry(leg.earned, leg.netBorrowApy, leverage).times((exact.value - exact.debt).toString()));
  }, new Exact(0));
  const legApy = equity.isZero() ? equity : earned.div(equity);
  expect(vault.currentNetApyPct).toBe(shown(ltv.div(100).times(legApy.minus(stock.netBorrowApy))));
}
