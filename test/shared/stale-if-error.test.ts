import { describe, expect, it } from 'vitest';
import { createStaleIfError } from '../../src/shared/stale-if-error.ts';
import { fakeTime } from '../warmers/fake-time.ts';

const FRESH_MS = 60_000;
const VALUE_BYTES = 10_000;

function world({ staleMs = 0, maxBytes = 1_000_000 } = {}) {
  let nowMs = 1_000_000;
  let loads = 0;
  let broken = false;
  const { get } = createStaleIfError<string>({
    clock: { now: () => nowMs },
    freshMs: FRESH_MS,
    staleMs,
    bounds: { maxBytes, bytesOf: () => VALUE_BYTES },
    load: async (key) => {
      loads += 1;
      if (broken) throw new Error('broken');
      return `${key} ${loads}`;
    },
  });
  return {
    get,
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

describe('createStaleIfError', () => {
  it('default: one load for concurrent callers and while the value is fresh', async () => {
    const w = world();
    const all = await Promise.all([w.get('a'), w.get('a'), w.get('a')]);
    expect(new Set(all.map(({ value }) => value))).toEqual(new Set(['a 1']));
    w.pass(FRESH_MS - 1);
    expect(await w.get('a')).toEqual({ value: 'a 1', loadedAtMs: 1_000_000, stale: false, outage: null });
    w.pass(1);
    expect((await w.get('a')).value).toBe('a 2');
  });

  it('behavior: serves the previous value after a failed load within its limit', async () => {
    const w = world({ staleMs: 2 * FRESH_MS });
    await w.get('a');
    w.broken = true;
    w.pass(2 * FRESH_MS);
    expect(await w.get('a')).toMatchObject({ value: 'a 1', loadedAtMs: 1_000_000, stale: true });
    w.pass(1);
    await expect(w.get('a')).rejects.toThrow('broken');
  });

  it('behavior: memory is bounded by the cost of values', async () => {
    const w = world({ maxBytes: 10 * VALUE_BYTES });
    for (let n = 0; n < 100; n += 1) await w.get(`k${n}`);
    const before = w.loads;
    for (let n = 99; n >= 0; n -= 1) await w.get(`k${n}`);
    // An entry costs a little more than its value: nine of a hundred were still there.
    expect(w.loads - before).toBe(91);
  });

  it('behavior: a load that fails after the eviction of its entry still answers its callers', async () => {
    const gates: (() => void)[] = [];
    const { get } = createStaleIfError<string>({
      clock: { now: () => 1_000_000 },
      freshMs: FRESH_MS,
      bounds: { max: 1 },
      load: (key) => new Promise((resolve) => gates.push(() => resolve(key))),
    });
    const all = [get('a'), get('b'), get('c')];
    for (const open of gates) open();
    expect((await Promise.all(all)).map(({ value }) => value)).toEqual(['a', 'b', 'c']);
  });

  it('behavior: a clock that is set back prolongs no value', async () => {
    const w = world({ staleMs: FRESH_MS });
    await w.get('a');
    w.pass(-3_600_000);
    expect((await w.get('a')).value).toBe('a 2');
    w.pass(-3_600_000);
    w.broken = true;
    await expect(w.get('a')).rejects.toThrow('broken');
  });
});

describe('wait, pause and outage', () => {
  function source({ failFast = false, isOutage = true } = {}) {
    const time = fakeTime();
    const events: string[] = [];
    const state = { mode: 'ok' as 'ok' | 'broken' | 'wrong' | 'hangs', loads: 0 };
    const held = createStaleIfError<number>({
      clock: time.clock,
      bounds: { max: 10 },
      freshMs: 0,
      staleMs: FRESH_MS,
      load: async () => {
        state.loads += 1;
        if (state.mode === 'hangs') return new Promise(() => {});
        if (state.mode !== 'ok') throw new Error(state.mode);
        return state.loads;
      },
      isOutage: (error) => (error as Error).message !== 'wrong',
      wait: { timers: time.timers, ms: 1_000, outageMs: 100, isOutage },
      pauseMs: 2_000,
      failFast,
      onOutage: () => events.push('outage'),
      onRecovery: (ms) => events.push(`recovered after ${ms}`),
    });
    return { ...held, time, events, state };
  }

  it('default: loads nothing during the pause after a failure; reports each outage once', async () => {
    const { get, state, time, events } = source();
    await get('a');
    state.mode = 'broken';
    const first = await get('a');
    expect(first).toMatchObject({ value: 1, stale: true, outage: { sinceMs: time.clock.now() } });
    await get('a');
    expect(state.loads).toBe(2);
    await time.advance(2_000);
    await get('a');
    expect(state.loads).toBe(3);
    state.mode = 'ok';
    await time.advance(2_000);
    expect(await get('a')).toMatchObject({ value: 4, stale: false, outage: null });
    expect(events).toEqual(['outage', 'recovered after 4000']);
  });

  it('behavior: without an older value each call loads; with failFast throws the failure again', async () => {
    for (const failFast of [false, true]) {
      const { get, state } = source({ failFast });
      state.mode = 'broken';
      for (let i = 0; i < 3; i++) await expect(get('a')).rejects.toThrow('broken');
      expect(state.loads).toBe(failFast ? 1 : 3);
    }
  });

  it('behavior: waits once for a hanging load, then more briefly, and counts it as an outage if configured', async () => {
    for (const isOutage of [true, false]) {
      const { get, state, time, outage } = source({ isOutage });
      await get('a');
      state.mode = 'hangs';
      const waiting = get('a');
      await time.advance(1_000);
      expect(await waiting).toMatchObject({ value: 1, stale: true });
      expect(outage() !== null).toBe(isOutage);
      if (!isOutage) continue;
      expect(await get('a')).toMatchObject({ stale: true });
      await time.advance(2_000);
      const again = get('a');
      await time.advance(100);
      expect(await again).toMatchObject({ stale: true });
      expect(state.loads).toBe(2);
    }
  });

  it('behavior: an error that is not an outage drops the stored value', async () => {
    const { get, peek, state, events } = source();
    await get('a');
    state.mode = 'wrong';
    await expect(get('a')).rejects.toThrow('wrong');
    expect([peek('a'), events]).toEqual([undefined, []]);
  });
});
