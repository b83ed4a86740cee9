import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitsOf } from '../../src/domain/market/statics.ts';
import { Decimal, formatUnitsPlain } from '../../src/shared/decimal.ts';
import { BadRequestError } from '../../src/shared/errors.ts';
import { LimitExceededError } from '../../src/transactions/errors.ts';
import { baseUnits, effectiveSlippage, leastOutput, safeLeverage, targetLtvPct } from '../../src/transactions/input.ts';
import { place, RUNS } from './world.ts';

const decimals = fc.integer({ min: 0, max: 24 });

describe('baseUnits', () => {
  it('behavior: accepts only amounts that are exact in base units', () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, 10n ** 30n),
        fc.integer({ min: 0, max: 30 }),
        decimals,
        (digits, places, tokenDecimals) => {
          const amount = new Decimal(digits.toString()).shiftedBy(-places);
          const token = { symbol: 'T', decimals: tokenDecimals };
          if ((amount.decimalPlaces() ?? 0) > tokenDecimals) {
            expect(() => baseUnits(amount, token)).toThrow(BadRequestError);
            return;
          }
          const tooLarge = amount.shiftedBy(tokenDecimals).gte('340282366920938463463374607431768211456');
          if (tooLarge) return;
          const units = baseUnits(amount, token);
          const shown = formatUnitsPlain(units, tokenDecimals);
          expect(shown).not.toMatch(/e/i);
          expect(new Decimal(shown).eq(amount)).toBe(true);
        },
      ),
      RUNS,
    );
  });

  it.each(['0', '-1'])('error: BadRequest for %s', (amount) => {
    expect(() => baseUnits(new Decimal(amount), { symbol: 'T', decimals: 6 })).toThrow(BadRequestError);
  });
});

describe('effectiveSlippage', () => {
  it('default: half a percent', () => {
    expect(effectiveSlippage(undefined).value.toFixed()).toBe('0.005');
  });

  it('behavior: lowers a value above the cap and keeps the requested one', () => {
    const { value, cappedFrom } = effectiveSlippage(new Decimal('0.2'));
    expect([value.toFixed(), cappedFrom?.toFixed()]).toEqual(['0.01', '0.2']);
  });

  it.each(['0', '-0.001'])('error: BadRequest for %s', (requested) => {
    expect(() => effectiveSlippage(new Decimal(requested))).toThrow(BadRequestError);
  });
});

describe('leastOutput', () => {
  it('behavior: rounds down, by less than one unit', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 128n), fc.integer({ min: 1, max: 10_000 }), (out, millionths) => {
        const least = leastOutput(out, new Decimal(millionths).shiftedBy(-6));
        expect(least).toBe((out * BigInt(1_000_000 - millionths)) / 1_000_000n);
      }),
      RUNS,
    );
  });
});

describe('targetLtvPct', () => {
  it('behavior: accepts at most the safe LTV and changes no value below it', () => {
    fc.assert(
      fc.property(place, fc.integer({ min: 1, max: 99_999 }), fc.boolean(), ({ market }, milli, asLeverage) => {
        const limits = limitsOf(market);
        const ltv = new Decimal(milli).div(1_000);
        const leverage = new Decimal(100).div(new Decimal(100).minus(ltv)).decimalPlaces(4);
        const input = asLeverage ? { leverage } : { desiredLtvPct: ltv };
        if (asLeverage && leverage.lte(1)) return;
        const isShownDefault = asLeverage && leverage.lte(safeLeverage(limits));
        const request = asLeverage ? new Decimal(100).minus(new Decimal(100).div(leverage)) : ltv;
        if (request.gt(limits.safeLtvPct) && !isShownDefault) {
          expect(() => targetLtvPct(input, limits)).toThrow(LimitExceededError);
          return;
        }
        const target = targetLtvPct(input, limits);
        expect(target.lte(limits.safeLtvPct)).toBe(true);
        expect(target.minus(Decimal.min(request, limits.safeLtvPct)).abs().lt('1e-40')).toBe(true);
      }),
      RUNS,
    );
  });

  it('error: BadRequest for both, neither, and no leverage', () => {
    const limits = limitsOf(fc.sample(place, 1)[0]?.market as Parameters<typeof limitsOf>[0]);
    const five = new Decimal(5);
    for (const input of [
      {},
      { leverage: five, desiredLtvPct: five },
      { leverage: new Decimal(1) },
      { desiredLtvPct: new Decimal(0) },
    ]) {
      expect(() => targetLtvPct(input, limits)).toThrow(BadRequestError);
    }
  });
});
