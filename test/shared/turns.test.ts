import { afterEach, describe, expect, test, vi } from 'vitest';
import { inTurns } from '../../src/shared/turns.ts';

const failing = function* () {
  yield 1;
  throw new RangeError('two');
};

describe('inTurns', () => {
  afterEach(() => vi.restoreAllMocks());

  /** Process 1 to 4, each of which takes so long, beside one request; returns what happened in which order. */
  async function eventsOf(msPerItem: number): Promise<readonly unknown[]> {
    let nowMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const events: unknown[] = [];
    setImmediate(() => events.push('request'));
    for await (const item of inTurns(new Set([1, 2, 3, 4]))) {
      events.push(item);
      nowMs += msPerItem;
    }
    return events;
  }

  test('default: short work is done in one turn', async () => {
    expect(await eventsOf(0.9)).toEqual([1, 2, 3, 4]);
  });

  test('behavior: waiting work runs as soon as some milliseconds have passed', async () => {
    expect(await eventsOf(2)).toEqual([1, 2, 'request', 3, 4]);
    expect(await eventsOf(50)).toEqual([1, 'request', 2, 3, 4]);
  });

  test('error: an exception of the source ends it', async () => {
    const seen: number[] = [];
    const run = async () => {
      for await (const item of inTurns(failing())) seen.push(item);
    };
    await expect(run()).rejects.toBeInstanceOf(RangeError);
    expect(seen).toEqual([1]);
  });
});
