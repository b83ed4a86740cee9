import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Suspect } from '../../src/domain/facts.ts';
import { agree, isSuspectPrice, isSuspectRate, nextReading } from '../../src/domain/plausibility/suspect.ts';
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
    ['-0.09', '0.01', true],
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
  const CADENCE_MS = 300_000;
  const read = (usd: string, atMs: number, before?: Suspect, measuredMs?: number) =>
    nextReading({ value: of(usd), atMs, measuredMs }, before, CADENCE_MS);

  test('default: counts observations of near values, a cadence apart, and restarts with another value', () => {
    const first = read('0.85', 0);
    const second = read('0.851', CADENCE_MS, first);
    expect([first.readings, second.readings]).toEqual([1, 2]);
    expect(read('0.5', 2 * CADENCE_MS, second).readings).toBe(1);
    // A price that keeps falling between two readings.
    expect(read('0.8', 2 * CADENCE_MS, second).readings).toBe(3);
  });

  test('behavior: a cached answer that is read again within the cadence is the same observation, however often', () => {
    let suspect = read('0', 0);
    for (let atMs = 4_000; atMs < CADENCE_MS; atMs += 4_000) suspect = read('0', atMs, suspect);
    expect(suspect).toMatchObject({ readings: 1, atMs: 0 });
    expect(read('0', CADENCE_MS, suspect).readings).toBe(2);
  });

  test('behavior: a later date of the source is a further observation at once; the same or an earlier one is none', () => {
    const first = read('0.7', 15_000, undefined, 10_000);
    expect(read('0.7', 30_000, first, 25_000)).toMatchObject({ readings: 2, measuredMs: 25_000 });
    expect(read('0.7', 30_000, first, 10_000).readings).toBe(1);
    expect(read('0.7', 30_000, first, 5_000).readings).toBe(1);
    expect(read('0.7', 30_000, first).readings).toBe(1);
  });

  test('behavior: a value of a version that kept no times begins its cadence now', () => {
    const stored = { value: of('0.7'), readings: 2 };
    expect(read('0.7', 15_000, stored)).toMatchObject({ readings: 2, atMs: 15_000 });
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
