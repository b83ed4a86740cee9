import { describe, expect, it } from 'vitest';
import { createRelay } from '../../src/services/relay.ts';

const FRESH_MS = 60_000;
const VALUE_BYTES = 10_000;

function world({ standInMs = 0, maxBytes = 1_000_000 } = {}) {
  let nowMs = 1_000_000;
  let loads = 0;
  let broken = false;
  const relay = createRelay<string>({
    clock: { now: () => nowMs },
    freshMs: FRESH_MS,
    standInMs,
    maxBytes,
    bytesOf: () => VALUE_BYTES,
    load: async (key) => {
      loads += 1;
      if (broken) throw new Error('broken');
      return `${key} ${loads}`;
    },
  });
  return {
    relay,
    pass: (ms: number) => {
      nowMs += ms;
    },
    set broken(value: boolean) {
      broken = value;
    },
    get loads() {
      return loads;
    },
  };
}

describe('createRelay', () => {
  it('default: one load for whoever asks at once and for as long as the value is fresh', async () => {
    const w = world();
    const all = await Promise.all([w.relay('a'), w.relay('a'), w.relay('a')]);
    expect(new Set(all.map(({ value }) => value))).toEqual(new Set(['a 1']));
    w.pass(FRESH_MS - 1);
    expect(await w.relay('a')).toEqual({ value: 'a 1', fetchedAtMs: 1_000_000, stale: false });
    w.pass(1);
    expect((await w.relay('a')).value).toBe('a 2');
  });

  it('behavior: the previous value stands in for a failed load, for as long as it may', async () => {
    const w = world({ standInMs: 2 * FRESH_MS });
    await w.relay('a');
    w.broken = true;
    w.pass(2 * FRESH_MS);
    expect(await w.relay('a')).toEqual({ value: 'a 1', fetchedAtMs: 1_000_000, stale: true });
    w.pass(1);
    await expect(w.relay('a')).rejects.toThrow('broken');
  });

  it('behavior: memory is bounded by what values cost, however many are asked for', async () => {
    const w = world({ maxBytes: 10 * VALUE_BYTES });
    for (let n = 0; n < 100; n += 1) await w.relay(`k${n}`);
    const before = w.loads;
    for (let n = 99; n >= 0; n -= 1) await w.relay(`k${n}`);
    // An entry costs a little more than its value: nine of a hundred were still there.
    expect(w.loads - before).toBe(91);
  });
});
