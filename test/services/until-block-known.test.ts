import { describe, expect, test } from 'vitest';
import { BlockMissingError, ChainReadError } from '../../src/chain/rpc/errors.ts';
import { untilThere } from '../../src/services/fresh-reads/until-block-known.ts';
import type { Timers } from '../../src/shared/timers.ts';

/** Timers that fire at once, with the pauses that were asked for. */
function createTimers() {
  const pauses: number[] = [];
  const timers: Timers = {
    setTimeout: (callback, ms) => {
      pauses.push(ms);
      queueMicrotask(callback);
    },
    clearTimeout: () => {},
  };
  return { timers, pauses };
}

/** A reading that fails with these errors in turn, and then has its value. */
function readingOf(...errors: readonly Error[]) {
  const rest = [...errors];
  let reads = 0;
  const read = async () => {
    reads += 1;
    const error = rest.shift();
    if (error) throw error;
    return 'value';
  };
  return { read, reads: () => reads };
}

const missing = (times: number) => Array.from({ length: times }, () => new BlockMissingError());

describe('untilThere', () => {
  test.each([
    [0, []],
    [1, [250]],
    [2, [250, 500]],
    [3, [250, 500, 1_000]],
  ])('default: a block that is missing %i times is read after growing pauses', async (times, expected) => {
    const { timers, pauses } = createTimers();
    const { read, reads } = readingOf(...missing(times));
    expect(await untilThere(timers, read)).toBe('value');
    expect([pauses, reads()]).toEqual([expected, times + 1]);
  });

  test('error: ChainReadError with a time to try again when no node has the block', async () => {
    const { timers, pauses } = createTimers();
    const { read, reads } = readingOf(...missing(9));
    const error = await untilThere(timers, read).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ChainReadError);
    expect(error).not.toBeInstanceOf(BlockMissingError);
    expect(error).toMatchObject({ reason: 'missing', retryAfterSec: expect.any(Number) });
    expect([pauses, reads()]).toEqual([[250, 500, 1_000], 4]);
  });

  test('error: keeps the reason of the last reading', async () => {
    const { read } = readingOf(...missing(3), new BlockMissingError('implausible'));
    await expect(untilThere(createTimers().timers, read)).rejects.toMatchObject({ reason: 'implausible' });
  });

  test.each([0, 1, 3])('error: any other failure is thrown at once, after %i missing blocks', async (times) => {
    const { timers, pauses } = createTimers();
    const failure = new ChainReadError('timeout');
    const { read, reads } = readingOf(...missing(times), failure);
    await expect(untilThere(timers, read)).rejects.toBe(failure);
    expect([pauses.length, reads()]).toEqual([times, times + 1]);
  });
});
