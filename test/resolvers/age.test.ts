import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ageOf, isStaleIn, maturityDaysLeftIn, staleForSecIn } from '../../src/resolvers/common/age.ts';
import type { AppContext } from '../../src/resolvers/common/context.ts';
import { createCacheHints } from '../../src/shared/cache-validity.ts';
import { DAY, NOW_MS } from '../domain/world.ts';
import { completeContext } from './world.ts';

const base = completeContext();

/** An answer computed at a moment, and the end of its validity. */
function answerAt<T>(nowMs: number, read: (ctx: AppContext) => T): { readonly text: T; readonly untilMs: number } {
  const cacheHints = createCacheHints();
  const output = read({ ...base, nowMs, cacheHints });
  return { text: output, untilMs: cacheHints.validity()?.untilMs ?? Number.NaN };
}

const stamp = fc.record({
  asOfMs: fc.integer({ min: NOW_MS - 2 * DAY, max: NOW_MS }),
  staleAfterSec: fc.constantFrom(60, 300, 900, 43_200),
});
const maturity = fc.option(fc.integer({ min: NOW_MS / 1_000 - 86_400, max: NOW_MS / 1_000 + 300 * 86_400 }));
const moment = fc.integer({ min: NOW_MS - DAY, max: NOW_MS + 300 * DAY });

describe('ageOf', () => {
  test('default: stale exactly when the age exceeds the budget, in started seconds', () => {
    const measured = { asOfMs: NOW_MS - 300_000, staleAfterSec: 300 };
    expect(ageOf(measured, NOW_MS)).toEqual({ ageSec: 300, stale: false, staleForSec: null });
    expect(ageOf(measured, NOW_MS + 1)).toEqual({ ageSec: 300, stale: true, staleForSec: 1 });
    expect(ageOf(measured, NOW_MS + 1_001)).toEqual({ ageSec: 301, stale: true, staleForSec: 2 });
    expect(ageOf(measured, NOW_MS - 400_000).ageSec).toBe(0);
  });
});

describe('a cached answer', () => {
  const readings = fc.record({ stamp, maturity }).map((at) => (ctx: AppContext) => ({
    staleForSec: staleForSecIn(at.stamp, ctx),
    daysLeft: maturityDaysLeftIn(at.maturity, ctx),
  }));

  test('behavior: is valid exactly until the first change', () => {
    fc.assert(
      fc.property(readings, moment, (read, nowMs) => {
        const { text: message, untilMs } = answerAt(nowMs, read);
        expect(untilMs).toBeGreaterThan(nowMs);
        expect(answerAt(untilMs - 1, read).text).toEqual(message);
        expect(answerAt(untilMs, read).text).not.toEqual(message);
      }),
      { numRuns: 500 },
    );
  });

  test('behavior: staleness changes once', () => {
    fc.assert(
      fc.property(stamp, moment, (measured, nowMs) => {
        const { text: logged, untilMs } = answerAt(nowMs, (ctx) => isStaleIn(measured, ctx));
        if (logged) expect(untilMs).toBe(Number.POSITIVE_INFINITY);
        else expect(answerAt(untilMs, (ctx) => isStaleIn(measured, ctx)).text).toBe(true);
      }),
    );
  });
});
