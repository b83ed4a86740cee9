import { AccrualPosition, Market as SdkMarket } from '@morpho-org/blue-sdk';
import { describe, expect, test } from 'vitest';
import type { LoopTags } from '../../../src/domain/equity/loops.ts';
import type { HeldPosition } from '../../../src/domain/position/types.ts';
import { attributionOf, composeWallet } from '../../../src/domain/position/wallet.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { completeFacts, withItem } from '../world.ts';
import { composedMarket, composedOf, held, holdings, robinhood, WALLET } from './position-world.ts';

const [vault, rival] = robinhood.equityVaults;
if (!vault || !rival) throw new Error('two vaults expected');
const facts = completeFacts(robinhood);
const composed = composedOf(robinhood, facts);
const stock = composedMarket(composed, vault.stockMarket.id);
const usdg = 10n ** 6n;
const shares = 10n ** 12n;

/** 20 stocks at 1.07 USDG, some 10.6 USDG owed: an LTV of about 50 %. */
const stockLeg = {
  marketId: vault.stockMarket.id,
  collateral: 20n * 10n ** BigInt(vault.stock.decimals),
  borrowShares: 10n * shares,
};
const debt = sdkPosition().borrowAssets;
const loop = (id: number, basis: bigint, over: Partial<HeldPosition> = {}): HeldPosition =>
  held(vault.yieldMarket.id, {
    id,
    depositedAssets: basis,
    collateral: 90n * usdg,
    borrowShares: 80n * shares,
    ...over,
  });
const other = robinhood.markets.find(({ id }) => id !== vault.yieldMarket.id);
if (!other) throw new Error('another market expected');
const plain = held(other.id, { id: 7, collateral: 10n ** 20n, depositedAssets: debt });

function sdkPosition() {
  const { value: state } = stock.facts.lendingState;
  const { stockMarket } = vault as NonNullable<typeof vault>;
  const params = {
    loanToken: stockMarket.loan.address,
    collateralToken: stockMarket.collateral.address,
    oracle: stockMarket.oracle,
    irm: stockMarket.irm,
    lltv: stockMarket.lltv,
  };
  const accrued = new SdkMarket({
    ...state,
    params,
    price: stock.facts.oracle.value.price,
    totalBorrowAssets: stock.totalBorrowAssets,
    totalSupplyAssets: stock.totalSupplyAssets,
    lastUpdate: state.blockTimestamp,
  });
  return new AccrualPosition({ ...stockLeg, user: WALLET, supplyShares: 0n }, accrued);
}

const compose = (positions: readonly HeldPosition[], tags: LoopTags = new Map(), stocks = [stockLeg]) =>
  composeWallet(robinhood, composed.lookup.markets, holdings(4663, positions, stocks), tags);

describe('composeWallet', () => {
  test('default: a loop that matches the debt is listed in its vault; the others are positions, newest first', () => {
    const { positions, equityPositions } = compose([loop(0, debt), plain, loop(9, debt * 3n)]);
    expect(positions.map(({ id }) => id)).toEqual([9, 7]);
    expect(equityPositions).toHaveLength(1);
    const [found] = equityPositions;
    expect(found).toMatchObject({
      strategyId: vault.id,
      curator: vault.curator,
      yieldLoopMatch: 'basis',
      yieldLoops: [{ id: 0, status: 'open' }],
      gaps: [],
    });
    expect(found?.ambiguousYieldLoopIds).toBeUndefined();
  });

  test('behavior: the stock leg is valued as by the SDK', () => {
    const sdk = sdkPosition();
    const [found] = compose([loop(0, debt)]).equityPositions;
    const priceUsd = new Decimal('1.07').times('0.9998');
    const ltv = new Decimal((sdk.ltv ?? 0n).toString()).shiftedBy(-16);
    expect(found?.stock).toEqual({
      symbol: vault.stock.displaySymbol,
      address: vault.stock.address,
      decimals: vault.stock.decimals,
      debtTokenAddress: vault.depositToken.address,
      debtTokenDecimals: vault.depositToken.decimals,
      healthFactor: new Decimal((sdk.healthFactor ?? 0n).toString())
        .shiftedBy(-18)
        .decimalPlaces(4, Decimal.ROUND_DOWN)
        .toFixed(),
      collateral: '20',
      collateralUsd: priceUsd.times(20).toFixed(2),
      priceUsd: priceUsd.toFixed(),
      debtUsdg: new Decimal(sdk.borrowAssets.toString()).shiftedBy(-6).toFixed(),
      ltvPct: ltv.toFixed(2),
      liquidationLtvPct: '62.50',
      ltvHeadroomPct: new Decimal('62.50').minus(ltv.toFixed(2)).toFixed(2),
      liquidationPriceUsd: expect.any(String),
      priceDropToLiquidationPct: expect.any(String),
      borrowApyPct: stock.borrowApyPct.toFixed(2),
    });
    const liquidation = new Decimal((sdk.liquidationPrice ?? 0n).toString())
      .shiftedBy(vault.stock.decimals - 6 - 36)
      .times('0.9998');
    const shown = new Decimal(found?.stock.liquidationPriceUsd ?? 'NaN');
    expect(shown.minus(liquidation).abs().lt('0.000001')).toBe(true);
    const drop = new Decimal(1).minus(shown.div(priceUsd)).times(100);
    expect(found?.stock.priceDropToLiquidationPct).toBe(drop.toFixed(2));
  });

  test('behavior: net value and net APY are those of both legs', () => {
    const [found] = compose([loop(0, debt)]).equityPositions;
    const stockNet = new Decimal(found?.stock.collateralUsd ?? 'NaN').minus(
      new Decimal(found?.stock.debtUsdg ?? 'NaN').times('0.9998'),
    );
    const net = stockNet.plus(found?.yieldLoops[0]?.netValueUsd ?? 'NaN');
    expect(
      net
        .minus(found?.netValueUsd ?? 'NaN')
        .abs()
        .lte('0.01'),
    ).toBe(true);
    const leg = new Decimal(found?.yieldLoops[0]?.currentLeverageApyPct ?? 'NaN');
    const apy = new Decimal(found?.stock.ltvPct ?? 'NaN').times(leg.minus(stock.borrowApyPct)).div(100);
    expect(
      apy
        .minus(found?.currentNetApyPct ?? 'NaN')
        .abs()
        .lte('0.01'),
    ).toBe(true);
  });

  test('behavior: a registration decides where the basis is ambiguous', () => {
    const loops = [loop(0, debt), loop(1, debt)];
    const ambiguous = compose(loops);
    expect(ambiguous.positions.map(({ id }) => id)).toEqual([1, 0]);
    expect(ambiguous.equityPositions[0]).toMatchObject({
      yieldLoopMatch: 'ambiguous',
      ambiguousYieldLoopIds: [0, 1],
      yieldLoops: [],
    });
    expect(ambiguous.equityPositions[0]?.netValueUsd).toBeUndefined();
    expect(ambiguous.equityPositions[0]?.gaps.map(({ field }) => field)).toEqual(['netValueUsd', 'netApyPct']);

    const tagged = compose(loops, new Map([[1, { vaultId: vault.id, marketId: vault.yieldMarket.id }]]));
    expect(tagged.positions.map(({ id }) => id)).toEqual([0]);
    expect(tagged.equityPositions[0]).toMatchObject({ yieldLoopMatch: 'tagged', yieldLoops: [{ id: 1 }] });
  });

  test('behavior: a vault without a loop is its stock leg', () => {
    const { positions, equityPositions } = compose([plain]);
    expect(positions.map(({ id }) => id)).toEqual([7]);
    const [found] = equityPositions;
    expect(found).toMatchObject({ yieldLoopMatch: 'none', yieldLoops: [] });
    expect(found?.currentNetApyPct?.startsWith('-')).toBe(true);
  });

  test('behavior: two vaults that match one loop are both ambiguous', () => {
    const twin = { ...stockLeg, marketId: rival.stockMarket.id };
    const { equityPositions, positions } = compose([loop(0, debt)], new Map(), [stockLeg, twin]);
    expect(
      equityPositions.map(({ yieldLoopMatch, ambiguousYieldLoopIds }) => [yieldLoopMatch, ambiguousYieldLoopIds]),
    ).toEqual([
      ['ambiguous', [0]],
      ['ambiguous', [0]],
    ]);
    expect(positions.map(({ id }) => id)).toEqual([0]);
  });

  test('behavior: a wallet without stock has no vault, and its tagged loops are positions', () => {
    const tags = new Map([[0, { vaultId: vault.id, marketId: vault.yieldMarket.id }]]);
    const { positions, equityPositions } = compose([loop(0, debt)], tags, []);
    expect(equityPositions).toEqual([]);
    expect(positions.map(({ id }) => id)).toEqual([0]);
  });

  test('behavior: a vault without debt has no liquidation and no cost', () => {
    const [found] = compose([loop(0, debt)], new Map(), [{ ...stockLeg, borrowShares: 0n }]).equityPositions;
    expect(found?.stock).toMatchObject({ debtUsdg: '0', ltvPct: '0.00', liquidationPriceUsd: null });
    expect(found).toMatchObject({ yieldLoopMatch: 'none', currentNetApyPct: '0.00' });
  });

  test('edge: collateral worth less than 0.01 USD is no vault, and makes no liquidated loop live', () => {
    // 1.07 USDG per stock: the least collateral that is worth 0.01 USD in base units of USDG, and one unit less.
    const { usd } = facts.groups.price.items.get(vault.stockMarket.loan.address)?.value ?? {};
    const units = new Decimal('0.01')
      .div(usd ?? 0)
      .shiftedBy(vault.stockMarket.loan.decimals)
      .toFixed(0, Decimal.ROUND_UP);
    const cent =
      (BigInt(units) * 10n ** BigInt(vault.stock.decimals - vault.stockMarket.loan.decimals + 2)) / 107n + 1n;
    const tags = new Map([[0, { vaultId: vault.id, marketId: vault.yieldMarket.id }]]);
    for (const [collateral, borrowShares, vaultIds] of [
      [1n, 0n, []],
      [cent - 1n, 0n, []],
      [cent, 0n, [vault.id]],
      [1n, 1n, [vault.id]],
    ] as const) {
      const { positions, equityPositions } = compose([loop(0, debt)], tags, [
        { ...stockLeg, collateral, borrowShares },
      ]);
      expect(equityPositions.map(({ strategyId }) => strategyId)).toEqual(vaultIds);
      expect(positions.map(({ id }) => id)).toEqual(vaultIds.length === 0 ? [0] : []);
    }
    const revived = compose([loop(0, debt, { collateral: 1n, borrowShares: 0n }), loop(1, debt)]).equityPositions;
    expect(revived).toMatchObject([{ yieldLoopMatch: 'basis', yieldLoops: [{ id: 1 }] }]);
  });

  test('edge: collateral of an unknown or a zero price is listed, because it may be worth something', () => {
    const blind = withItem(facts, 'lendingState', vault.stockMarket.id, {});
    const worthless = withItem(facts, 'oracle', vault.stockMarket.oracle, { value: { price: 0n, blockNumber: 100n } });
    for (const known of [blind, worthless]) {
      const owned = holdings(4663, [], [{ ...stockLeg, collateral: 1n, borrowShares: 0n }]);
      const { lookup } = composedOf(robinhood, known);
      expect(composeWallet(robinhood, lookup.markets, owned, new Map()).equityPositions).toHaveLength(1);
    }
  });

  test('behavior: without a measured stock market its loops are ambiguous and its values are gaps', () => {
    const blind = withItem(facts, 'lendingState', vault.stockMarket.id, {});
    const { equityPositions, positions } = composeWallet(
      robinhood,
      composedOf(robinhood, blind).lookup.markets,
      holdings(4663, [loop(0, debt)], [stockLeg]),
      new Map(),
    );
    expect(positions.map(({ id }) => id)).toEqual([0]);
    expect(equityPositions[0]).toMatchObject({ yieldLoopMatch: 'ambiguous', stock: { collateral: '20' } });
    expect(equityPositions[0]?.stock.ltvPct).toBeUndefined();
    expect(equityPositions[0]?.gaps).toContainEqual(
      expect.objectContaining({ field: 'stock.ltvPct', reason: 'NOT_MEASURED' }),
    );
    // Without debt there is nothing to match, measured or not; a single share may be any debt.
    for (const [borrowShares, match] of [
      [0n, 'none'],
      [1n, 'ambiguous'],
    ] as const) {
      const owned = holdings(4663, [loop(0, debt)], [{ ...stockLeg, borrowShares }]);
      const [found] = composeWallet(
        robinhood,
        composedOf(robinhood, blind).lookup.markets,
        owned,
        new Map(),
      ).equityPositions;
      expect(found?.yieldLoopMatch).toBe(match);
    }
  });

  test('behavior: a stock that its oracle values at zero has no LTV and no net APY', () => {
    const value = { price: 0n, blockNumber: 100n };
    const worthless = withItem(facts, 'oracle', vault.stockMarket.oracle, { value });
    const owned = holdings(4663, [], [stockLeg]);
    const [found] = composeWallet(
      robinhood,
      composedOf(robinhood, worthless).lookup.markets,
      owned,
      new Map(),
    ).equityPositions;
    expect(found).toMatchObject({ currentNetApyPct: null, stock: { ltvPct: null, ltvHeadroomPct: null } });
    for (const field of ['netApyPct', 'stock.ltvPct', 'stock.liquidationPriceUsd'])
      expect(found?.gaps).toContainEqual(expect.objectContaining({ field, reason: 'NOT_APPLICABLE' }));
  });

  test('behavior: without a price of the deposit token the stock has no USD, each with its reason', () => {
    const unpriced = withItem(facts, 'price', vault.stockMarket.loan.address, {});
    const owned = holdings(4663, [loop(0, debt)], [stockLeg]);
    const [found] = composeWallet(
      robinhood,
      composedOf(robinhood, unpriced).lookup.markets,
      owned,
      new Map(),
    ).equityPositions;
    expect(found?.stock.ltvPct).toBeDefined();
    const { collateralUsd, priceUsd, liquidationPriceUsd, priceDropToLiquidationPct } = found?.stock ?? {};
    expect([collateralUsd, priceUsd, liquidationPriceUsd, found?.netValueUsd]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(priceDropToLiquidationPct).toBeDefined();
    const missing = found?.gaps.filter(({ reason }) => reason === 'NOT_MEASURED').map(({ field }) => field);
    expect(missing).toEqual(['stock.collateralUsd', 'stock.priceUsd', 'stock.liquidationPriceUsd', 'netValueUsd']);
  });
});

describe('attributionOf', () => {
  const of = (positions: readonly HeldPosition[], id: number, tags: LoopTags = new Map()) =>
    attributionOf(robinhood, composed.lookup.markets, holdings(4663, positions, [stockLeg]), tags, id);

  test('default', () => {
    expect(of([loop(0, debt), plain], 0)).toEqual({ vaultId: vault.id, match: 'basis', loopIds: [0] });
    expect(of([loop(0, debt), plain], 7)).toBeNull();
  });

  test('behavior: a candidate is ambiguous, with all candidates', () => {
    expect(of([loop(0, debt), loop(1, debt)], 1)).toEqual({ vaultId: vault.id, match: 'ambiguous', loopIds: [0, 1] });
  });

  test('behavior: tagged', () => {
    const tags = new Map([[1, { vaultId: vault.id, marketId: vault.yieldMarket.id }]]);
    expect(of([loop(0, debt), loop(1, debt)], 1, tags)).toMatchObject({ match: 'tagged', loopIds: [1] });
    expect(of([loop(0, debt), loop(1, debt)], 0, tags)).toBeNull();
  });
});
