import { expect, test } from 'vitest';
import { createLatestReading } from '../../src/services/latest-reading.ts';

/** A reading whose value is the number of reads. */
function world() {
  let nowMs = 1_000_000;
  let reads = 0;
  let isDown = false;
  const reading = createLatestReading(
    async () => {
      reads += 1;
      if (isDown) throw new Error('down');
      return reads;
    },
    { now: () => nowMs },
  );
  /** The value, once the reading that began beside the call has ended. */
  const latest = async () => {
    const value = await reading.latest();
    await Promise.resolve().then(() => {});
    return value;
  };
  return {
    reading,
    latest,
    reads: () => reads,
    advance: (ms: number) => {
      nowMs += ms;
    },
    breakDown: (down: boolean) => {
      isDown = down;
    },
  };
}

test('default: the value is read beside the call, and again after ten seconds', async () => {
  const { latest, advance, reads } = world();
  expect([await latest(), await latest(), reads()]).toEqual([1, 1, 1]);
  advance(9_999);
  expect([await latest(), reads()]).toEqual([1, 1]);
  advance(1);
  expect([await latest(), await latest(), reads()]).toEqual([1, 2, 2]);
});

test('behavior: a value of more than a minute ago is read anew before it is shown, however rarely it is asked for', async () => {
  const { latest, advance } = world();
  await latest();
  advance(60_000);
  expect(await latest()).toBe(1);
  advance(60_001);
  expect([await latest(), await latest()]).toEqual([3, 3]);
  advance(3_600_000);
  expect(await latest()).toBe(4);
});

test('behavior: nothing is known while the database does not answer', async () => {
  const { latest, advance, breakDown, reading } = world();
  await latest();
  breakDown(true);
  advance(10_000);
  await latest();
  expect(await reading.latest()).toBeNull();
  breakDown(false);
  advance(10_000);
  expect(await reading.latest()).toBe(3);
});
