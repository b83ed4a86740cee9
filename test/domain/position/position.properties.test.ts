import { AccrualPosition, Market as SdkMarket } from '@morpho-org/blue-sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PositionMarketValues } from '../../../src/domain/market/at-block.ts';
import { composePosition, statusOf } from '../../../src/domain/position/compose.ts';
import type { Position } from '../../../src/domain/position/types.ts';
import { netCollateralOf } from '../../../src/domain/position/valuation.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { manyRuns } from '../../support/property-runs.ts';
import { completeFacts, FEED, marketOf, NOW_MS, withItem } from '../world.ts';
import { BLOCK, composedMarket, composedOf, ethereum, held, holdings, PROXY } from './position-world.ts';

const market = marketOf(ethereum, 'sUSDe', 'PYUSD');
const facts = completeFacts(ethereum);
const composed = composedMarket(composedOf(ethereum, facts), market.id);
const owner = holdings(1, []);
/** 1,000 sUSDe at 1.07 PYUSD against about 770 PYUSD. */
const open = held(market.id, {
  id: 3,
  collateral: 1_000n * 10n ** 18n,
  borrowShares: 724n * 10n ** 12n,
  depositedAssets: 321_500_000n,
});
const show = (over: Partial<typeof open> = {}): Position =>
  composePosition({ ...open, ...over }, owner, { market, composed });

/** The protocol's own position, with the market accrued to `timestamp`. */
function sdkPosition(timestamp: bigint, price = composed.facts.oracle.value.price, shares = open.borrowShares) {
  const { value: state } = composed.facts.lendingState;
  const params = {
    loanToken: market.loan.address,
    collateralToken: market.collateral.address,
    oracle: market.oracle,
    irm: market.irm,
    lltv: market.lltv,
  };
  // The read rate replaces the model: the totals then grow as on the chain.
  const sdk = new SdkMarket({ ...state, params, price });
  const elapsed = timestamp - state.lastUpdate;
  const taylor = (x: bigint) => x + (x * x) / (2n * 10n ** 18n) + (x * x * x) / (6n * 10n ** 36n);
  const interest = (state.totalBorrowAssets * taylor(state.borrowRate * elapsed)) / 10n ** 18n;
  const accrued = new SdkMarket({
    ...sdk,
    params: sdk.params,
    price,
    totalBorrowAssets: sdk.totalBorrowAssets + interest,
    totalSupplyAssets: sdk.totalSupplyAssets + interest,
    lastUpdate: timestamp,
  });
  return new AccrualPosition(
    { user: PROXY, collateral: open.collateral, borrowShares: shares, supplyShares: 0n },
    accrued,
  );
}

describe('composePosition', () => {
  test('default', () => {
    const { freshness, gaps, readAt, oraclePriceAsOfMs, ...shown } = show();
    expect(readAt).toEqual({ blockNumber: BLOCK.number, blockTimeMs: Number(BLOCK.timestamp) * 1_000 });
    expect(oraclePriceAsOfMs).toBe(Number(FEED.updatedAt) * 1_000);
    expect(gaps).toEqual([]);
    expect(freshness?.borrow).toEqual(composed.stamps.borrow);
    expect(shown).toMatchInlineSnapshot(`
      {
        "amountDepositedInLoanToken": "321.5",
        "amountLeveragedCollateral": "1000",
        "amountLoan": "769.256636",
        "amountReturnedInLoanToken": "0",
        "chainId": 1,
        "closeNow": {
          "paysOut": "300.743364",
          "paysOutUsd": "300.68",
          "pnlAfterFee": "-20.756636",
          "pnlAfterFeeUsd": "-20.75",
          "pnlBeforeFee": "-20.756636",
          "pnlBeforeFeeUsd": "-20.75",
          "yieldFee": "0",
          "yieldFeeUsd": "0.00",
        },
        "collateralAddress": "0x9D39A5DE30e57443BfF2A8307A4256c8797A3497",
        "collateralDecimals": 18,
        "collateralSymbol": "sUSDe",
        "collateralUsd": "1069.79",
        "currentLeverage": "3.6",
        "currentLeverageApyPct": "11.94",
        "debtUsd": "769.10",
        "exitLiquidity": {
          "cleanExitSizeUsd": "1000000",
          "exceedsCleanExitSize": false,
          "noSwapRoute": false,
          "tier": "good",
          "unwindSizeUsd": "1069.79",
        },
        "healthFactor": "1.2727",
        "id": 3,
        "liquidated": false,
        "liquidationLtvPct": "91.50",
        "liquidationPrice": "0.840717634973",
        "loanAddress": "0x6c3ea9036406852006290770BEdFcAbA0e23A0e8",
        "loanDecimals": 6,
        "loanSymbol": "PYUSD",
        "ltvHeadroomPct": "19.61",
        "ltvPct": "71.89",
        "manualMode": false,
        "marketId": "0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5",
        "netCollateral": "281.068564485981308411",
        "netValueUsd": "300.68",
        "open": true,
        "positionId": "1-0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5-3",
        "priceDropToLiquidationPct": "21.43",
        "proxy": "0x00000000000000000000000000000000000000B2",
        "status": "open",
        "strategyId": "0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5",
        "wallet": "0x00000000000000000000000000000000000000A1",
        "warnings": [],
      }
    `);
  });

  test("behavior: debt, LTV and liquidation price are the SDK's, with interest up to the block of the reading", () => {
    for (const seconds of [0n, 30n, 3_600n, 86_400n]) {
      const timestamp = BLOCK.timestamp + seconds;
      const sdk = sdkPosition(timestamp);
      const shown = composePosition(open, { ...owner, block: { number: 101n, timestamp } }, { market, composed });
      expect(shown.amountLoan).toBe(new Decimal(sdk.borrowAssets.toString()).shiftedBy(-6).toFixed());
      expect(shown.ltvPct).toBe(new Decimal((sdk.ltv ?? 0n).toString()).shiftedBy(-16).toFixed(2));
      const price = new Decimal((sdk.liquidationPrice ?? 0n).toString()).shiftedBy(18 - 6 - 36);
      expect(shown.liquidationPrice).toBe(price.precision(12).toFixed());
    }
  });

  test('behavior: a reading older than the market state does not reduce interest', () => {
    const earlier = { ...owner, block: { number: 90n, timestamp: BLOCK.timestamp - 600n } };
    expect(composePosition(open, earlier, { market, composed }).amountLoan).toBe(show().amountLoan);
  });

  test.each([
    ['closed', { open: false, collateral: 0n, borrowShares: 0n }],
    ['liquidated', { open: true, collateral: 0n, borrowShares: 0n }],
  ] as const)('behavior: a %s position is empty, and its ratios do not apply', (status, over) => {
    const shown = show(over);
    expect(shown).toMatchObject({
      status,
      open: false,
      liquidated: status === 'liquidated',
      amountLeveragedCollateral: '0',
      netCollateral: '0',
      amountLoan: '0',
      netValueUsd: '0.00',
      ltvPct: null,
      currentLeverage: null,
      currentLeverageApyPct: null,
      liquidationPrice: null,
      exitLiquidity: null,
      amountDepositedInLoanToken: '321.5',
    });
    expect(new Set(shown.gaps.map(({ reason }) => reason))).toEqual(new Set(['NOT_APPLICABLE']));
  });

  test('behavior: without debt there is no liquidation price, and leverage is 1', () => {
    const shown = show({ borrowShares: 0n });
    expect(shown).toMatchObject({
      ltvPct: '0.00',
      ltvHeadroomPct: '91.50',
      currentLeverage: '1.0',
      liquidationPrice: null,
    });
    expect(shown.currentLeverageApyPct).toBe(composed.effectiveCollateralApyPct.toFixed(2));
    expect(shown.gaps).toEqual(
      ['liquidationPrice', 'priceDropToLiquidationPct', 'healthFactor'].map((field) =>
        expect.objectContaining({ field, reason: 'NONE' }),
      ),
    );
  });

  test('behavior: under water there is no leverage, and the net value is negative', () => {
    const shown = show({ borrowShares: open.borrowShares * 2n });
    expect(shown).toMatchObject({ status: 'open', currentLeverage: null, currentLeverageApyPct: null });
    expect(
      [shown.netValueUsd, shown.netCollateral, shown.ltvHeadroomPct].every((value) => value?.startsWith('-')),
    ).toBe(true);
  });

  test('behavior: an unknown loan price makes the USD fields absent, with its reason', () => {
    const failure = { reason: 'timeout', source: 'coingecko', sinceMs: NOW_MS - 1_000 } as const;
    const unpriced = withItem(facts, 'price', market.loan.address, { failure });
    const shown = composePosition(open, owner, {
      market,
      composed: composedMarket(composedOf(ethereum, unpriced), market.id),
    });
    expect(shown.netValueUsd).toBeUndefined();
    expect(shown).toMatchObject({ ltvPct: show().ltvPct, amountLoan: show().amountLoan });
    expect(shown.exitLiquidity).toEqual({ tier: 'good', cleanExitSizeUsd: '1000000', noSwapRoute: false });
    expect(shown.gaps).toContainEqual(
      expect.objectContaining({ field: 'netValueUsd', reason: 'SOURCE_FAILED', sinceMs: failure.sinceMs }),
    );
  });

  test('behavior: an unmeasured exit has no tier and no verdict, each with its reason', () => {
    const unswept = withItem(facts, 'exitLiquidity', market.collateral.address, {});
    const shown = composePosition(open, owner, {
      market,
      composed: composedMarket(composedOf(ethereum, unswept), market.id),
    });
    expect(shown.exitLiquidity).toEqual({ unwindSizeUsd: show().exitLiquidity?.unwindSizeUsd, noSwapRoute: true });
    expect(shown.gaps.map(({ field, reason }) => `${field} ${reason}`)).toEqual([
      'exitLiquidity.tier NOT_MEASURED',
      'exitLiquidity.cleanExitSizeUsd NOT_MEASURED',
      'exitLiquidity.exceedsCleanExitSize NOT_MEASURED',
      'exitLiquidity.noSwapRoute NOT_MEASURED',
    ]);
  });

  test('behavior: a position larger than the clean size exceeds it; without a clean size any does', () => {
    const large = show({ collateral: open.collateral * 1_000n });
    expect(large.exitLiquidity).toMatchObject({ cleanExitSizeUsd: '1000000', exceedsCleanExitSize: true });
    const lossy = { '100000': new Decimal(3), '500000': new Decimal(4), '1000000': null, '5000000': null };
    const thin = withItem(facts, 'exitLiquidity', market.collateral.address, { value: { slippagePct: lossy } });
    const shown = composePosition(open, owner, {
      market,
      composed: composedMarket(composedOf(ethereum, thin), market.id),
    });
    expect(shown.exitLiquidity).toMatchObject({ tier: 'thin', cleanExitSizeUsd: null, exceedsCleanExitSize: true });
    expect(shown.gaps).toContainEqual(
      expect.objectContaining({ field: 'exitLiquidity.cleanExitSizeUsd', reason: 'NONE' }),
    );
  });

  test('behavior: an unknown market makes its fields absent, but not the position', () => {
    const foreign = composePosition(open, owner, {});
    expect(foreign).toMatchObject({ id: 3, status: 'open', positionId: `1-${market.id}-3`, exitLiquidity: null });
    const waiting = composePosition(open, owner, { market });
    expect(waiting).toMatchObject({ collateralSymbol: 'sUSDe', amountLeveragedCollateral: '1000' });
    for (const shown of [foreign, waiting]) {
      expect(shown.amountLoan).toBeUndefined();
      expect(shown.gaps).toContainEqual(expect.objectContaining({ field: 'debtAmount', reason: 'NOT_MEASURED' }));
    }
    for (const given of [{}, { market }]) {
      const { manualMode, gaps } = composePosition({ ...open, manualMode: true }, owner, given);
      expect(manualMode).toBe(true);
      expect(gaps.some(({ field }) => field === 'manualMode')).toBe(false);
    }
  });

  test('behavior: shown values add up, without exponents', () => {
    const amounts = fc.record({
      // From 0.01 USD on: less without a debt is not open, and what the oracle rounds to nothing has no LTV.
      collateral: fc.bigInt({ min: 10n ** 16n, max: 10n ** 30n }),
      borrowShares: fc.bigInt({ min: 0n, max: 10n ** 24n }),
    });
    fc.assert(
      fc.property(amounts, (over) => {
        const shown = show(over);
        const texts = Object.values(shown).filter((value) => typeof value === 'string');
        expect(texts.filter((text) => /^-?\d+(\.\d+)?e/i.test(text))).toEqual([]);
        const of = (text: string | null | undefined) => new Decimal(text ?? 'NaN');
        expect(of(shown.ltvPct).plus(of(shown.ltvHeadroomPct)).toFixed(2)).toBe(shown.liquidationLtvPct);
        const net = of(shown.collateralUsd).minus(of(shown.debtUsd));
        expect(net.minus(of(shown.netValueUsd)).abs().lte('0.01')).toBe(true);
        expect(of(shown.netCollateral).lte(of(shown.amountLeveragedCollateral))).toBe(true);
        const underWater = of(shown.netCollateral).isNegative();
        if (of(shown.ltvPct).lt('99.99')) expect(underWater).toBe(false);
        if (of(shown.ltvPct).gt('100.01')) expect(underWater).toBe(true);
      }),
      manyRuns(),
    );
  });
});

describe('composePosition at the edge of value', () => {
  test('behavior: collateral with an oracle value of zero has no LTV', () => {
    const shown = show({ collateral: 1n, borrowShares: 1n });
    expect(shown).toMatchObject({ status: 'open', ltvPct: null, ltvHeadroomPct: null, currentLeverage: null });
    expect(shown.gaps).toContainEqual(expect.objectContaining({ field: 'ltvPct', reason: 'NOT_APPLICABLE' }));
  });
});

describe('statusOf', () => {
  const of = (open: boolean, collateral: bigint, borrowShares = 0n, values: PositionMarketValues | null = composed) =>
    statusOf({ open, collateral, borrowShares }, values ?? undefined);

  test('default', () => {
    expect([of(true, 10n ** 18n), of(true, 0n), of(false, 0n), of(false, 10n ** 18n)]).toEqual([
      'open',
      'liquidated',
      'closed',
      'closed',
    ]);
    expect(of(true, 0n, 1n)).toBe('liquidated');
  });

  test('behavior: dust that anybody may supply does not open a liquidated position again, and one with a debt is open', () => {
    const { price } = composed.facts.oracle.value;
    // The least whose value, rounded down to base units of the loan token, is 0.01 USD.
    const cent = new Decimal('0.01').div(composed.loanPrice?.value.usd ?? 0).shiftedBy(market.loan.decimals);
    const least = BigInt(cent.toFixed(0, Decimal.ROUND_UP));
    const hundredth = (least * 10n ** 36n - 1n) / (price ?? 1n) + 1n;
    expect([of(true, 1n), of(true, hundredth - 1n), of(true, hundredth)]).toEqual(['liquidated', 'liquidated', 'open']);
    expect(of(true, 1n, 1n)).toBe('open');
    expect(show({ collateral: 1n, borrowShares: 0n })).toMatchObject({
      status: 'liquidated',
      amountLeveragedCollateral: '0.000000000000000001',
      netCollateral: '0',
    });
  });

  test('edge: a hundredth of a dear loan token is no dust: the limit is in USD', () => {
    const dear = composedMarket(composedOf(ethereum, facts), marketOf(ethereum, 'wstETH', 'WETH').id);
    const worth = (usd: number) =>
      BigInt(
        new Decimal(usd)
          .div(dear?.loanPrice?.value.usd ?? 0)
          .times(10 ** 36)
          .shiftedBy(dear?.market.loan.decimals ?? 0)
          .div(String(dear?.facts.oracle.value.price))
          .toFixed(0),
      );
    expect([20, 0.011, 0.009].map((usd) => of(true, worth(usd), 0n, dear))).toEqual(['open', 'open', 'liquidated']);
  });

  test('edge: without a price of the loan token a millionth of one counts, so that a unit of a stranger stays dust', () => {
    const unpriced = { ...composed, loanPrice: undefined };
    expect([1n, 10n ** 10n, 10n ** 13n].map((units) => of(true, units, 0n, unpriced))).toEqual([
      'liquidated',
      'liquidated',
      'open',
    ]);
  });

  test('edge: a value that is not known counts', () => {
    expect(of(true, 1n, 0n, null)).toBe('open');
    expect(of(true, 0n, 0n, null)).toBe('liquidated');
  });
});

describe('netCollateralOf', () => {
  test.each([
    ['10', '3', '4', '-4'],
    ['10', '5', '6', '-2'],
    ['10', '4', '3', '2'],
    ['10', '4', '0', '10'],
    ['10', '0', '4', '10'],
  ])('behavior: of %s worth %s with a debt of %s it is %s units, rounded down', (collateral, value, debt, expected) => {
    const held = { collateral: BigInt(collateral), collateralValue: BigInt(value), debt: BigInt(debt) };
    const left = netCollateralOf(held as Parameters<typeof netCollateralOf>[0], market);
    expect(left.shiftedBy(market.collateral.decimals).toFixed()).toBe(expected);
  });
});
