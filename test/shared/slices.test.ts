import { describe, expect, test } from 'vitest';
import { eachStep, letOthersRun, runAtOnce, runInSlices } from '../../src/shared/slices.ts';
import { countedSlicing } from './counted-slicing.ts';

describe('runInSlices', () => {
  test('behavior: pauses whenever a slice is used up, and keeps the order', async () => {
    const slicing = countedSlicing();
    expect(
      await runInSlices(
        eachStep([1, 2, 3, 4, 5], (n) => n * 2),
        slicing,
      ),
    ).toEqual([2, 4, 6, 8, 10]);
    expect(slicing.pauses()).toBe(5);
  });

  test('error: what a step throws ends it', async () => {
    const failing = eachStep([1, 2], (n) => {
      if (n === 2) throw new RangeError('two');
      return n;
    });
    await expect(runInSlices(failing, countedSlicing())).rejects.toBeInstanceOf(RangeError);
  });
});

describe('letOthersRun', () => {
  const pausesOf = async (tookMs: number) => {
    let nowMs = 0;
    let pauses = 0;
    const pause = async () => {
      pauses += 1;
      nowMs += tookMs;
    };
    await letOthersRun({ now: () => nowMs, sliceMs: 3, pause });
    return pauses;
  };

  test('default: one pause', async () => {
    expect(await pausesOf(3)).toBe(1);
  });

  test('behavior: one more, and no more than that, after a pause that was longer than a slice', async () => {
    expect(await pausesOf(30)).toBe(2);
  });
});

describe('runAtOnce', () => {
  test('default', () => {
    expect(runAtOnce(eachStep(['a', 'b'], (text, i) => `${text}${i}`))).toEqual(['a0', 'b1']);
  });
});
