import { describe, expect, test } from 'vitest';
import { createBackgroundWrites, forRequests, inTime } from '../../src/app/database-waits.ts';
import { systemTimers, type Timers } from '../../src/shared/timers.ts';

/** Timers that fire at once. */
const impatient: Timers = { setTimeout: (callback) => setImmediate(callback), clearTimeout: () => {} };

describe('createBackgroundWrites', () => {
  test('behavior: a run goes on before its write has ended; settling waits for it', async () => {
    const { beside, settle } = createBackgroundWrites();
    const steps: string[] = [];
    let end = (): void => {};
    const write = new Promise<void>((resolve) => {
      end = resolve;
    }).then(() => void steps.push('written'));
    await beside(write);
    steps.push('run ended');
    const settled = settle().then(() => void steps.push('settled'));
    end();
    await settled;
    expect(steps).toEqual(['run ended', 'written', 'settled']);
    await settle();
  });
});

describe('inTime', () => {
  test('default: returns the result of the read', async () => {
    expect(await inTime(systemTimers, async (chainId: number) => chainId + 1)(1)).toBe(2);
  });

  test('error: a reading that takes too long, whose later failure is handled', async () => {
    let fail = (_: Error): void => {};
    const slow = new Promise<never>((_, reject) => {
      fail = reject;
    });
    await expect(inTime(impatient, () => slow)()).rejects.toMatchObject({ problem: 'silent' });
    fail(new Error('later'));
    await new Promise((resolve) => setImmediate(resolve));
  });

  test('error: the failure of the reading', async () => {
    await expect(inTime(systemTimers, () => Promise.reject(new Error('a defect')))()).rejects.toThrow('a defect');
  });
});

describe('forRequests', () => {
  test('behavior: after a late reading others wait a tenth of the time, until one succeeds', async () => {
    const waits: number[] = [];
    let isSilent = true;
    const timers: Timers = {
      setTimeout: (callback, ms) => {
        waits.push(ms);
        if (isSilent) setImmediate(callback);
      },
      clearTimeout: () => {},
    };
    const read = forRequests(timers, (): Promise<number> => (isSilent ? new Promise(() => {}) : Promise.resolve(1)));
    for (let i = 0; i < 2; i += 1) await expect(read()).rejects.toMatchObject({ problem: 'silent' });
    isSilent = false;
    expect([await read(), await read()]).toEqual([1, 1]);
    expect(waits).toEqual([1_000, 100, 100, 1_000]);
  });

  test('error: the failure of the reading', async () => {
    await expect(forRequests(systemTimers, () => Promise.reject(new Error('a defect')))()).rejects.toThrow('a defect');
  });
});
