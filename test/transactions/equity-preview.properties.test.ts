import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import type { DepositTerms } from '../../src/transactions/equity/types.ts';
import { manyRuns } from '../support/property-runs.ts';
import { planned, pricesOf, vaultOf } from './equity-world.ts';

const vault = vaultOf('SPY');
const deposit = (change: Partial<Parameters<typeof planned>[0]> = {}): DepositTerms =>
  planned({
    vault,
    amountIn: 20_000_000_000n,
    stockLtvPct: new Decimal('50'),
    slippage: new Decimal('0.01'),
    prices: pricesOf(vault, '600', '1.05'),
    lossBps: 10n,
    ...change,
  });

describe('previewDeposit', () => {
  test('default', () => {
    const { preview } = deposit();
    expect(preview).toMatchInlineSnapshot(`
      {
        "chainId": 4663,
        "costs": [],
        "depositAmount": "20000",
        "fees": {
          "estimatedFeeUsd": "101.52",
          "stockLegBps": 25,
          "yieldLegBps": 5,
        },
        "liquidation": {
          "dropPct": "20.80",
          "price": "475.199999952",
        },
        "netApyBeforePct": "11.84",
        "netApyPct": "11.32",
        "stock": {
          "borrowApyBeforePct": "3.85",
          "borrowApyPct": "3.95",
          "borrowUsdg": "9890.099999",
          "combined": undefined,
          "expectedReceived": "33.299999999999999999",
          "liquidationLtvPct": "62.50",
          "liquidationPriceUsd": "475.104959976",
          "ltvPct": "49.50",
          "maxLtvPct": "55.00",
          "minReceived": "32.966999999999999999",
          "priceDropToLiquidationPct": "20.80",
          "priceImpactPct": "0.10",
          "priceUsd": "599.88",
          "requestedLtvPct": "50.00",
          "swapSource": "AggregatorOne",
          "symbol": "SPY",
        },
        "strategyId": "equity-0x50bc39b5722fb5634c436d74c6787f3c125b879e7b73cf9e9ecc01bbb57b8e55",
        "totalSwapCostPctOfEquity": undefined,
        "worstCase": {
          "equity": "18647.45103",
          "ltv": "50.00",
          "yieldLtv": "91.41",
        },
        "yieldLeg": {
          "amountFlashLoan": "93180.779549",
          "collateralIn": "9409.723713",
          "depositBasis": "9880.209898",
          "leverage": "10.5",
          "leverageApyBeforePct": "27.77",
          "leverageApyPct": "26.81",
          "liquidationLtvPct": "91.50",
          "ltvPct": "90.50",
          "minCollateralIn": "9315.626475",
          "priceImpactPct": "0.10",
          "strategyId": "0x919a9b6b94dae7c86620eaf7a08e597aae8a4c3a9e9c7671771fbaf62b6b61c7",
          "swapSource": "AggregatorOne",
        },
      }
    `);
  });

  test('behavior: the LTV is that of the expected fill, below the requested one by the slippage', () => {
    const { preview } = deposit();
    expect(preview.stock.requestedLtvPct).toBe('50.00');
    expect(preview.stock.ltvPct).toBe('49.50');
  });

  test('property: strings are plain decimals, the LTV never exceeds the requested one, and the parts agree', () => {
    const plain = /^-?\d+(\.\d+)?$/;
    fc.assert(
      fc.property(
        fc.bigInt(100_000n, 10n ** 13n),
        fc.integer({ min: 100, max: 5_500 }),
        fc.integer({ min: 1, max: 100 }),
        fc.bigInt(0n, 50n),
        (amountIn, ltv, bps, lossBps) => {
          const stockLtvPct = new Decimal(ltv).shiftedBy(-2);
          const { preview } = deposit({ amountIn, stockLtvPct, slippage: new Decimal(bps).shiftedBy(-4), lossBps });
          const { stock, yieldLeg } = preview;
          const numbers = [...Object.values(stock), ...Object.values(yieldLeg)].filter(
            (value) => typeof value === 'string' && /^-?\d/.test(value) && !value.startsWith('0x'),
          );
          expect(numbers.length).toBeGreaterThan(10);
          expect(numbers.filter((value) => !plain.test(String(value)))).toEqual([]);
          expect(new Decimal(stock.ltvPct).lte(stock.requestedLtvPct)).toBe(true);
          const liquidation = new Decimal(stock.priceUsd ?? 0).times(stock.ltvPct).div(stock.liquidationLtvPct);
          expect(
            liquidation
              .minus(stock.liquidationPriceUsd ?? 0)
              .abs()
              .lte('0.06'),
          ).toBe(true);
          const net = new Decimal(stock.ltvPct).times(new Decimal(yieldLeg.leverageApyPct).minus(stock.borrowApyPct));
          expect(net.shiftedBy(-2).minus(preview.netApyPct).abs().lte('0.02')).toBe(true);
        },
      ),
      manyRuns(),
    );
  });
});
