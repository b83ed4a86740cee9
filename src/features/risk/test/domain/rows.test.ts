import { MarketUtils } from '@morpho-org/blue-sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdings } from '../../../../../test/domain/position/position-world.ts';
import { NOW_MS } from '../../../../../test/domain/world.ts';
import { borrowApyPctFromRate } from '../../../../domain/apy/rates.ts';
import { collateralValueInLoan } from '../../../../domain/leverage/flash-loan.ts';
import { composePosition } from '../../../../domain/position/compose.ts';
import { Decimal, HUNDRED } from '../../../../shared/decimal.ts';
import { openedHolding } from '../../domain/holding.ts';
import { canBeLiquidated, dropToLiquidationPct, lowestHealthyPrice } from '../../domain/liquidation.ts';
import { stressRow } from '../../domain/rows.ts';
import { stressTable } from '../../domain/table.ts';
import type { StressHolding } from '../../domain/types.ts';
import { STRESS_ENDS } from '../../domain/types.ts';

import { anyHolding, composed, holding, market, opened, position, rowsOf, withRates } from './stress-world.ts';

describe('liquidation', () => {
  test('property: the lowest healthy price is healthy, and one unit below it is not, as the protocol rounds', () => {
    fc.assert(
      fc.property(anyHolding, (of) => {
        const lowest = lowestHealthyPrice(of);
        if (lowest === null) return of.debt === 0n;
        const most = (price: bigint) => MarketUtils.getMaxBorrowAssets(of.collateral, { price }, of.market) ?? 0n;
        return (
          most(lowest) >= of.debt &&
          most(lowest - 1n) < of.debt &&
          !canBeLiquidated(of, lowest) &&
          canBeLiquidated(of, lowest - 1n)
        );
      }),
    );
  });

  test('the drop and the price are those that the position shows', () => {
    const shown = composePosition(position, holdings(1, []), { market, composed });
    const table = stressTable([holding]);
    expect(table.dropToLiquidationPct).toBe(shown.priceDropToLiquidationPct);
    // The position's price is the ratio; the protocol values the collateral in whole units of the loan.
    const above = new Decimal(table.lowestHealthyPrice ?? 0).minus(shown.liquidationPrice ?? 0);
    expect(above.gte(0) && above.lt('0.000000002')).toBe(true);
    const [today] = table.rows;
    expect([today?.ltvPct, today?.headroomPct, today?.equityUsd]).toEqual([
      shown.ltvPct,
      shown.ltvHeadroomPct,
      shown.netValueUsd,
    ]);
    // Both are at the exact leverage, 3.557…: at the shown 3.6 it would be 11.89.
    expect([shown.currentLeverage, shown.currentLeverageApyPct, today?.netApyPct]).toEqual(['3.6', '11.80', '11.80']);
  });

  test('property: a fall beyond the drop ends a holding, and a fall short of it does not', () => {
    fc.assert(
      fc.property(anyHolding, fc.integer({ min: 1, max: 99 }), (of, pct) => {
        const drop = dropToLiquidationPct(of);
        if (drop === null) return true;
        const row = stressRow(of, { scenario: 'COLLATERAL_PRICE', changePct: -pct });
        // Values are whole units: near the limit the value of the collateral decides, not its price.
        const slack = HUNDRED.times(2).div(row.collateralValue.toString());
        if (drop.minus(pct).abs().lte(slack)) return true;
        return (row.endsBy === 'LIQUIDATION') === drop.lt(pct);
      }),
    );
  });
});

describe('rows', () => {
  test('property: the further the price falls, the higher the LTV, the lower headroom and equity, the worse the end', () => {
    const rank = (end: (typeof STRESS_ENDS)[number] | undefined) => STRESS_ENDS.indexOf(end ?? 'NOTHING');
    fc.assert(
      fc.property(anyHolding, (of) => {
        for (const scenario of ['COLLATERAL_PRICE', 'MARKET_BELOW_ORACLE']) {
          const rows = [stressRow(of, { scenario: 'TODAY' }), ...rowsOf(of, scenario)];
          for (const [i, row] of rows.entries()) {
            const before = rows[i - 1];
            if (!before) continue;
            if (row.ltvPct && before.ltvPct) expect(row.ltvPct.gte(before.ltvPct)).toBe(true);
            if (row.headroomPct && before.headroomPct) expect(row.headroomPct.lte(before.headroomPct)).toBe(true);
            expect((row.equity ?? 0n) <= (before.equity ?? 0n)).toBe(true);
            expect(rank(row.endsBy)).toBeLessThanOrEqual(rank(before.endsBy));
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  test('property: a higher rate and full utilization never earn more and never last longer', () => {
    fc.assert(
      fc.property(anyHolding, (of) => {
        const rows = [
          stressRow(of, { scenario: 'TODAY' }),
          ...rowsOf(of, 'BORROW_RATE').filter(({ changePct }) => changePct?.eq(100)),
          ...rowsOf(of, 'BORROW_RATE').filter(({ changePct }) => changePct?.eq(300)),
        ];
        const daysOf = ({ toLiquidation }: (typeof rows)[number]) =>
          toLiquidation?.state === 'ALREADY' ? 0 : (toLiquidation?.days ?? Number.POSITIVE_INFINITY);
        return rows.every((row, i) => {
          const before = rows[i - 1];
          if (!before) return true;
          const earnsLess = !row.netApyPct || !before.netApyPct || row.netApyPct.lte(before.netApyPct);
          return earnsLess && daysOf(row) <= daysOf(before) && row.ltvPct?.toFixed() === before.ltvPct?.toFixed();
        });
      }),
    );
  });

  test('every scenario moves one thing only', () => {
    const table = stressTable([holding]);
    expect(table.gaps.filter(({ reason }) => reason !== 'NOT_APPLICABLE' && reason !== 'NONE')).toEqual([]);
    const shown = table.rows.map(
      ({ scenario, changePct, ltvPct, headroomPct, equity, netApyPct, endsBy, liquidationIn }) =>
        [scenario, changePct, ltvPct, headroomPct, equity, netApyPct, endsBy, liquidationIn?.days].join(' '),
    );
    expect(shown).toMatchInlineSnapshot(`
      [
        "TODAY  71.89 19.61 300.743269 11.80 NOTHING ",
        "COLLATERAL_PRICE -1.00 72.62 18.88 290.043269 12.01 NOTHING ",
        "COLLATERAL_PRICE -2.00 73.36 18.14 279.343269 12.23 NOTHING ",
        "COLLATERAL_PRICE -3.00 74.12 17.38 268.643269 12.48 NOTHING ",
        "COLLATERAL_PRICE -5.00 75.68 15.82 247.243269 13.03 NOTHING ",
        "COLLATERAL_PRICE -7.00 77.30 14.20 225.843269 13.68 NOTHING ",
        "COLLATERAL_PRICE -10.00 79.88 11.62 193.743269 14.93 NOTHING ",
        "COLLATERAL_PRICE -15.00 84.58 6.92 140.243269 18.29 NOTHING ",
        "COLLATERAL_PRICE -20.00 89.87 1.63 86.743269 25.80 NOTHING ",
        "COLLATERAL_PRICE -25.00 95.86 -4.36 33.243269 57.45 LIQUIDATION ",
        "COLLATERAL_PRICE -30.00 102.70 -11.20 -20.256731  LIQUIDATION ",
        "LOAN_PRICE -10.00 71.89 19.61 300.743269 11.80 NOTHING ",
        "LOAN_PRICE -5.00 71.89 19.61 300.743269 11.80 NOTHING ",
        "LOAN_PRICE -2.00 71.89 19.61 300.743269 11.80 NOTHING ",
        "LOAN_PRICE -1.00 71.89 19.61 300.743269 11.80 NOTHING ",
        "LOAN_PRICE 1.00 72.61 18.89 290.149209 12.00 NOTHING ",
        "LOAN_PRICE 2.00 73.33 18.17 279.762876 12.22 NOTHING ",
        "LOAN_PRICE 5.00 75.49 16.01 249.790888 12.95 NOTHING ",
        "LOAN_PRICE 10.00 79.08 12.42 203.470541 14.51 NOTHING ",
        "BORROW_RATE 100.00 71.89 19.61 300.743269 1.42 CARRY 5122.0",
        "BORROW_RATE 300.00 71.89 19.61 300.743269 -20.57 CARRY 938.4",
        "FULL_UTILIZATION  71.89 19.61 300.743269 -22.56 CARRY 32.7",
        "MARKET_BELOW_ORACLE -1.00 71.89 19.61 290.043269 11.80 NOTHING ",
        "MARKET_BELOW_ORACLE -2.00 71.89 19.61 279.343269 11.80 NOTHING ",
        "MARKET_BELOW_ORACLE -3.00 71.89 19.61 268.643269 11.80 NOTHING ",
        "MARKET_BELOW_ORACLE -5.00 71.89 19.61 247.243269 11.80 NOTHING ",
        "MARKET_BELOW_ORACLE -7.00 71.89 19.61 225.843269 11.80 NOTHING ",
        "MARKET_BELOW_ORACLE -10.00 71.89 19.61 193.743269 11.80 NOTHING ",
        "EXIT_AT_MEASURED_SLIPPAGE -0.04 71.89 19.61 300.315269 11.80 NOTHING ",
        "NO_EXIT  71.89 19.61  11.80 NO_EXIT ",
      ]
    `);
  });

  test('an exit below the oracle that does not repay the debt is no exit', () => {
    const thin = { ...holding, debt: (collateralValueInLoan(holding.collateral, holding.price) * 91n) / 100n };
    const ends = rowsOf(thin, 'MARKET_BELOW_ORACLE').map(({ changePct, endsBy }) => [changePct?.toFixed(), endsBy]);
    expect(ends).toEqual([
      ['-1', 'NOTHING'],
      ['-2', 'NOTHING'],
      ['-3', 'NOTHING'],
      ['-5', 'NOTHING'],
      ['-7', 'NOTHING'],
      ['-10', 'NO_EXIT'],
    ]);
  });

  test('the measured slippage is that of the next larger size; without a measurement, a price or a size it is unknown', () => {
    const exitRow = (of: StressHolding) => {
      const [row] = rowsOf(of, 'EXIT_AT_MEASURED_SLIPPAGE');
      return [row?.changePct?.toFixed() ?? row?.changePct, row?.endsBy, row?.gaps.map(({ field }) => field).join(' ')];
    };
    const sweep = (slippage: Record<string, string | null>) => ({
      slippagePct: Object.fromEntries(
        Object.entries(slippage).map(([size, pct]) => [size, pct === null ? null : new Decimal(pct)]),
      ),
    });
    const measured = sweep({ '100000': '0.1', '500000': '0.5', '1000000': '20', '5000000': null });
    const sized = (times: bigint): StressHolding => ({
      ...holding,
      collateral: holding.collateral * times,
      debt: holding.debt * times,
      sweep: measured as NonNullable<StressHolding['sweep']>,
    });
    const exits = [1n, 100n, 400n, 900n, 4_000n, 10_000n].map((times) => exitRow(sized(times)));
    expect(exits).toEqual([
      ['-0.1', 'NOTHING', ''],
      ['-0.5', 'NOTHING', ''],
      ['-0.5', 'NOTHING', ''],
      ['-20', 'NOTHING', ''],
      [null, 'NO_EXIT', 'changePct equity equityUsd'],
      [undefined, undefined, 'changePct equity equityUsd endsBy'],
    ]);
    const unknown = [undefined, undefined, 'changePct equity equityUsd endsBy'];
    expect(exitRow({ ...holding, sweep: undefined })).toEqual(unknown);
    expect(exitRow({ ...holding, loanUsd: undefined })).toEqual(unknown);
  });

  test('an oracle of a redemption rate does not see a move of the loan token, another one is taken to see the worse', () => {
    const ltvs = (isRate: boolean) =>
      rowsOf({ ...holding, isRate }, 'LOAN_PRICE').map(({ ltvPct }) => ltvPct?.toFixed(2));
    const today = stressRow(holding, { scenario: 'TODAY' }).ltvPct?.toFixed(2);
    expect(new Set(ltvs(true))).toEqual(new Set([today]));
    expect(ltvs(false)).toEqual([today, today, today, today, '72.61', '73.33', '75.49', '79.08']);
  });

  test('without rates the LTVs stay, and values that depend on a rate are unknown', () => {
    const table = stressTable([{ ...holding, rates: undefined }]);
    expect(table.rows.every(({ ltvPct, netApyPct }) => ltvPct !== null && netApyPct === null)).toBe(true);
    expect(table.rows[0]?.endsBy).toBeNull();
    expect(table.rows.find(({ changePct }) => changePct === '-30.00')?.endsBy).toBe('LIQUIDATION');
    expect(table.gaps.find(({ field }) => field === 'rows.0.endsBy')?.reason).toBe('NOT_MEASURED');
  });

  test('another rate model has no rate at full utilization, and no path of the adaptive curve', () => {
    const table = stressTable([withRates({ curve: undefined })]);
    expect(table.rows.find(({ scenario }) => scenario === 'FULL_UTILIZATION')?.netApyPct).toBeNull();
    expect(table.projections.map(({ safe }) => safe?.state ?? null)).toEqual(['NEVER', null, null]);
  });

  test('without debt nothing ends a holding', () => {
    const table = stressTable([{ ...holding, debt: 0n }]);
    expect(new Set(table.rows.map(({ endsBy }) => endsBy))).toEqual(new Set(['NOTHING', 'NO_EXIT']));
    expect([table.dropToLiquidationPct, table.lowestHealthyPrice]).toEqual([null, null]);
    expect(table.projections.map(({ liquidation }) => liquidation?.state)).toEqual(['NEVER', 'NEVER', 'NEVER']);
  });
});

describe('opened holdings', () => {
  test('property: without a change the net APY is that of the exact leverage', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_001, max: 9_000 }), (thousandths) => {
        const of = opened(new Decimal(thousandths).div(1_000).toFixed());
        const row = stressRow(of, { scenario: 'COLLATERAL_PRICE', changePct: 0 });
        if (!of.rates || !row.ltvPct) throw new Error('the holding has no rate or no LTV');
        const borrowed = borrowApyPctFromRate(of.rates.borrowRate).minus(of.rates.borrowIncentivePct);
        const leverage = HUNDRED.div(HUNDRED.minus(row.ltvPct));
        const earned = of.rates.effectiveCollateralApyPct.times(leverage);
        const expected = earned.minus(borrowed.times(leverage.minus(1)));
        expect(row.netApyPct?.minus(expected).abs().lt('1e-9')).toBe(true);
      }),
    );
  });

  test('property: the LTV is that of the leverage, and the own debt raises the rate', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 100 }), (tenths) => {
        const of = opened(new Decimal(tenths).div(10).toFixed());
        const ltv = stressRow(of, { scenario: 'TODAY' }).ltvPct;
        const wanted = HUNDRED.minus(new Decimal(1_000).div(tenths));
        const before = holding.rates?.borrowRate ?? 0n;
        return (ltv?.minus(wanted).abs().lt('0.0001') ?? false) && (of.rates?.borrowRate ?? 0n) >= before;
      }),
    );
  });

  test('a debt that the market cannot lend has no rate', () => {
    const of = opened('10', '1000000');
    expect(of.rates).toBeUndefined();
    const table = stressTable([of]);
    expect(table.gaps.find(({ field }) => field === 'rows.0.netApyPct')?.message).toMatch(
      /^The market can lend [\d.]+ PYUSD at once, which is less than the debt\.$/,
    );
  });

  test('a market whose rates fit no adaptive curve keeps its rate', () => {
    const { lendingState } = composed.facts;
    const state = lendingState.value;
    const doubled = { ...state, borrowRate: state.borrowRate * 2n };
    const other = { ...composed, facts: { ...composed.facts, lendingState: { ...lendingState, value: doubled } } };
    const of = openedHolding(other, { leverage: new Decimal(3), equity: new Decimal(100), nowMs: NOW_MS });
    expect(of.rates?.borrowRate).toBe(state.borrowRate * 2n);
    expect(of.rates?.curve).toBeUndefined();
  });
});
