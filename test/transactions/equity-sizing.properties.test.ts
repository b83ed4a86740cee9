import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limitsOf } from '../../src/domain/market/statics.ts';
import { Decimal, HUNDRED } from '../../src/shared/decimal.ts';
import { BadRequestError } from '../../src/shared/errors.ts';
import {
  resolveStockLtvPct,
  sizeFlashLoan,
  sizeStockBorrow,
  stockCapPct,
  yieldTargetLtvPct,
} from '../../src/transactions/equity/sizing.ts';
import { LimitExceededError } from '../../src/transactions/errors.ts';
import { manyRuns } from '../support/property-runs.ts';
import { pricesOf, vaultOf } from './equity-world.ts';

const vault = vaultOf('TSLA');
const SCALE = 10n ** 36n;

function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('resolveStockLtvPct', () => {
  test('default: the target of the vault', () => {
    expect(resolveStockLtvPct(vault, undefined).toFixed()).toBe(vault.targetLtvPct);
  });

  test('behavior: a target above the cap counts as the cap', () => {
    expect(resolveStockLtvPct({ ...vault, targetLtvPct: '60' }, undefined).toFixed()).toBe('55');
  });

  test('behavior: accepts the cap', () => {
    expect(stockCapPct(vault).toFixed()).toBe('55');
    expect(resolveStockLtvPct(vault, new Decimal('55')).toFixed()).toBe('55');
  });

  test('error: refuses a hundredth above the cap with both numbers', () => {
    const error = caught(() => resolveStockLtvPct(vault, new Decimal('55.01')));
    expect(error).toBeInstanceOf(LimitExceededError);
    expect(error).toMatchObject({
      code: 'bad_request',
      details: { field: 'stockLtvPct', value: '55.01', limit: { maxStockLtvPct: '55.00' } },
    });
  });

  test.each(['0', '-1'])('error: BadRequestError for %s', (value) => {
    const error = caught(() => resolveStockLtvPct(vault, new Decimal(value)));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ details: { field: 'stockLtvPct', value, limit: { above: '0', max: '55.00' } } });
  });

  test('property: accepts values up to the cap and refuses values above it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (tenThousandths) => {
        const requested = new Decimal(tenThousandths).shiftedBy(-4);
        const result = caught(() => expect(resolveStockLtvPct(vault, requested).eq(requested)).toBe(true));
        if (requested.lte(55)) expect(result).toBeUndefined();
        else expect(result).toBeInstanceOf(LimitExceededError);
      }),
      manyRuns(),
    );
  });
});

describe('sizeStockBorrow', () => {
  test('default', () => {
    const { stock } = pricesOf(vault, '250', '1');
    expect(sizeStockBorrow(4n * 10n ** 18n, stock, new Decimal('50'))).toBe(500_000_000n);
  });

  test('property: the debt is at most the requested LTV after the worst fill, by less than one unit', () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, 10n ** 24n),
        fc.bigInt(10n ** 20n, 10n ** 28n),
        fc.integer({ min: 1, max: 5_500 }),
        (minStock, price, hundredths) => {
          const ltv = new Decimal(hundredths).shiftedBy(-2);
          const borrow = sizeStockBorrow(minStock, price, ltv);
          const value = (minStock * price) / SCALE;
          expect(borrow * 10_000n <= value * BigInt(hundredths)).toBe(true);
          expect((borrow + 1n) * 10_000n > value * BigInt(hundredths)).toBe(true);
        },
      ),
      manyRuns(),
    );
  });
});

describe('yieldTargetLtvPct', () => {
  const limits = limitsOf(vault.yieldMarket);
  const pct = fc.integer({ min: 1, max: 10_000 }).map((ppm) => new Decimal(ppm).shiftedBy(-6));

  test('property: a fill that loses all of the slippage ends at or below the max LTV', () => {
    const collaterals = fc.bigInt(10n ** 12n, 10n ** 26n);
    fc.assert(
      fc.property(collaterals, fc.bigInt(10n ** 23n, 10n ** 25n), pct, (collateral, price, slippage) => {
        const target = yieldTargetLtvPct(limits, slippage);
        expect(target.lte(limits.safeLtvPct)).toBe(true);
        const loan = new Decimal(sizeFlashLoan(target, collateral, price).toString());
        const value = new Decimal(((collateral * price) / SCALE).toString());
        const worst = value.plus(loan.times(new Decimal(1).minus(slippage)));
        fc.pre(worst.gt(0));
        expect(loan.times(HUNDRED).div(worst).lte(limits.maxLtvPct)).toBe(true);
      }),
      manyRuns(),
    );
  });

  test('behavior: half a percent fits at the safe LTV, a whole percent does not', () => {
    expect(yieldTargetLtvPct(limits, new Decimal('0.005')).toFixed()).toBe('90.5');
    expect(yieldTargetLtvPct(limits, new Decimal('0.01')).toFixed()).toBe('90.423');
  });
});

describe('sizeFlashLoan', () => {
  test('property: the loop ends at or below the safe LTV when the flash loan buys at the oracle', () => {
    fc.assert(
      fc.property(fc.bigInt(10n ** 12n, 10n ** 26n), fc.bigInt(10n ** 23n, 10n ** 25n), (collateral, price) => {
        const loan = sizeFlashLoan(limitsOf(vault.yieldMarket).safeLtvPct, collateral, price);
        const value = new Decimal(((collateral * price) / SCALE).toString()).plus(loan.toString());
        fc.pre(!value.isZero());
        expect(new Decimal(loan.toString()).times(HUNDRED).div(value).lte('90.5')).toBe(true);
      }),
      manyRuns(),
    );
  });
});
