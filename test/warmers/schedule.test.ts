import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import { delayAfter, type RunOutcome } from '../../src/warmers/runner/schedule.ts';

const GOOD: RunOutcome = { report: { items: 1, failures: 0, retryable: 0 } };
const failed = (retryAfterSec?: number): RunOutcome => ({
  error: new UpstreamUnavailableError('x', 'timeout', retryAfterSec === undefined ? {} : { retryAfterSec }),
});
const everySec = fc.integer({ min: 1, max: 86_400 });
const chance = fc.double({ min: 0, max: 0.999_999, noNaN: true });

describe('delayAfter', () => {
  test('default: the cadence, up to a tenth earlier and never later', () => {
    expect(delayAfter(120, 0, GOOD, () => 0)).toBe(120_000);
    expect(delayAfter(120, 0, GOOD, () => 0.5)).toBe(114_000);
    fc.assert(
      fc.property(everySec, chance, (sec, random) => {
        const ms = delayAfter(sec, 0, GOOD, () => random);
        expect(ms).toBeLessThanOrEqual(sec * 1_000);
        expect(ms).toBeGreaterThanOrEqual(sec * 900);
      }),
    );
  });

  test('behavior: the backoff is jittered by up to half, doubles, and ends at the cadence or 15 minutes', () => {
    fc.assert(
      fc.property(everySec, fc.integer({ min: 1, max: 40 }), chance, (sec, failures, random) => {
        const ms = delayAfter(sec, failures, failed(), () => random);
        const whole = Math.min(5_000 * 2 ** (failures - 1), sec * 1_000, 900_000);
        expect(ms).toBeLessThanOrEqual(whole);
        expect(ms).toBeGreaterThanOrEqual(whole / 2);
      }),
    );
  });

  test('behavior: no sooner than the Retry-After, up to an hour or the cadence', () => {
    fc.assert(
      fc.property(everySec, fc.integer({ min: 0, max: 10_000_000 }), chance, (sec, waitSec, random) => {
        const ms = delayAfter(sec, 1, failed(waitSec), () => random);
        expect(ms).toBeGreaterThanOrEqual(Math.min(waitSec, Math.max(sec, 3_600)) * 1_000);
        expect(ms).toBeLessThanOrEqual(Math.max(sec, 3_600) * 1_000);
      }),
    );
  });

  test('behavior: requests an unconfirmed value that its source dates after 15 s, then at growing intervals up to the cadence', () => {
    const suspect: RunOutcome = { report: { items: 3, failures: 1, retryable: 1, suspects: 1 } };
    fc.assert(
      fc.property(everySec, fc.integer({ min: 1, max: 40 }), chance, (sec, failures, random) => {
        const ms = delayAfter(sec, failures, suspect, () => random);
        expect(ms).toBeLessThanOrEqual(sec * 1_000);
        expect(ms).toBeGreaterThanOrEqual(Math.min(7_500, sec * 1_000));
        if (failures === 1) expect(ms).toBeLessThanOrEqual(15_000);
      }),
    );
  });

  test('behavior: a run that a budget has ended goes on when that permits it, at the next turn at the latest', () => {
    const ended = (resumeSec: number): RunOutcome => ({ report: { items: 3, failures: 0, retryable: 0, resumeSec } });
    expect(delayAfter(300, 0, ended(20), () => 0.5)).toBe(30_000);
    expect(delayAfter(300, 0, ended(4_000), () => 0.5)).toBe(300_000);
  });

  test('behavior: requests an unconfirmed value without a date after its whole cadence, never earlier', () => {
    const awaiting: RunOutcome = { report: { items: 3, failures: 1, retryable: 0, awaiting: 1 } };
    expect(delayAfter(300, 0, awaiting, () => 0.9)).toBe(300_000);
  });
});
