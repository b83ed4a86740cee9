import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agree, isSuspectPrice, isSuspectRate, nextReading } from '../../src/domain/plausibility/assess.ts';
import { Decimal } from '../../src/shared/decimal.ts';

const of = (value: number | string) => new Decimal(value);
const cents = (min: number, max: number) => fc.integer({ min, max }).map((value) => new Decimal(value).div(100));

describe('isSuspectPrice', () => {
  test.each([
    ['1.5', { pegged: true, lastGood: of(1) }, true],
    ['0.85', { pegged: true, lastGood: of(1) }, true],
    ['0.86', { pegged: true, lastGood: of('0.85') }, false],
    ['0.8', { pegged: true, lastGood: of('0.85') }, false],
    ['0.6', { pegged: true, lastGood: of('0.85') }, true],
    ['0.85', { pegged: true, lastGood: of('0.92') }, true],
    ['1.02', { pegged: true, lastGood: of(1) }, false],
    ['1.5', { pegged: true }, true],
    ['900000000', { pegged: false, lastGood: of(3_200) }, true],
    ['32', { pegged: false, lastGood: of(3_200) }, true],
    ['3500', { pegged: false, lastGood: of(3_200) }, false],
    ['900000000', { pegged: false, oracle: of(3_200) }, true],
    ['900000000', { pegged: false }, false],
  ])('%s USD beside %o: %s', (usd, references, expected) => {
    expect(isSuspectPrice(of(usd), references)).toBe(expected);
  });

  test('property: a factor of 100 is always suspect beside a last good price, a tenth never', () => {
    fc.assert(
      fc.property(cents(1, 1e9), (lastGood) => {
        const known = { pegged: false, lastGood };
        expect(isSuspectPrice(lastGood.times(100), known)).toBe(true);
        expect(isSuspectPrice(lastGood.div(100), known)).toBe(true);
        expect(isSuspectPrice(lastGood.times('1.1'), known)).toBe(false);
        expect(isSuspectPrice(lastGood.times('0.9'), known)).toBe(false);
      }),
    );
  });
});

describe('isSuspectRate', () => {
  test.each([
    ['0.11', '0.01', false],
    ['0.1100001', '0.01', true],
    ['-0.09', '0.01', false],
    ['3', '1', false],
    ['3.0001', '1', true],
  ])('behavior: at the exact bounds, %s %% after %s %%: %s', (pct, lastGood, expected) => {
    expect(isSuspectRate(of(pct), of(lastGood), undefined)).toBe(expected);
  });

  test.each([
    ['0', '7', undefined, true],
    ['0', undefined, '7', true],
    ['0.07', '7', undefined, true],
    ['700', '7', '700', true],
    ['7', '7', '700', false],
    ['4', '7', undefined, false],
    ['-3', '2', undefined, true],
    ['0.4', '0.9', undefined, false],
    ['999', undefined, undefined, true],
    ['792', undefined, '792', true],
    ['792', '792', '792', false],
    ['40', undefined, undefined, false],
  ])('%s %% beside %s and its own %s: %s', (pct, lastGood, history, expected) => {
    const known = (value: string | undefined) => (value === undefined ? undefined : of(value));
    expect(isSuspectRate(of(pct), known(lastGood), known(history))).toBe(expected);
  });

  test('property: factor 100, factor 0.01 and a fraction for a percentage are suspect above an eighth of a percent', () => {
    fc.assert(
      fc.property(cents(13, 20_000), (lastGood) => {
        expect(isSuspectRate(lastGood.times(100), lastGood, undefined)).toBe(true);
        expect(isSuspectRate(lastGood.div(100), lastGood, undefined)).toBe(true);
        expect(isSuspectRate(lastGood, lastGood, undefined)).toBe(false);
      }),
    );
  });
});

describe('nextReading', () => {
  test('default: counts consistent readings and restarts with another value', () => {
    const first = nextReading(of('0.85'), undefined);
    const second = nextReading(of('0.851'), first);
    expect([first.readings, second.readings]).toEqual([1, 2]);
    expect(nextReading(of('0.5'), second).readings).toBe(1);
    // A price that keeps falling between two readings.
    expect(nextReading(of('0.8'), second).readings).toBe(3);
  });
});

describe('agree', () => {
  test('property: the order of the sources does not matter', () => {
    const any = fc.integer({ min: -1_000, max: 1_000 }).map((value) => new Decimal(value).div(10));
    fc.assert(fc.property(any, any, (a, b) => agree(a, b) === agree(b, a)));
    expect(agree(of(1), of('1.02'))).toBe(true);
    expect(agree(of(1), of('1.03'))).toBe(false);
    expect(agree(of(0), of(0))).toBe(true);
  });
});
