import { describe, expect, test } from 'vitest';
import type { Exchange, Told } from '../../src/limits/counters.ts';
import { createExchangedCounters, EXCHANGE_MS, MAX_TOLD, URGENT_MS } from '../../src/limits/exchanged-counters.ts';
import { rememberingLogger } from '../snapshot/logs.ts';
import { fakeTime } from '../warmers/fake-time.ts';

const SECOND = 1_000;

/** Processes that exchange through one store, on one clock. */
function processes(options: { readonly urgentPoints?: number; readonly max?: number } = {}) {
  const time = fakeTime();
  const logger = rememberingLogger();
  const sums = new Map<string, { used: number; endsAtMs: number }>();
  const store = { away: false, told: [] as (readonly Told[])[], forget: () => sums.clear() };
  const exchange: Exchange = async (told) => {
    store.told.push(told);
    if (store.away) throw new Error('away');
    return told.map(({ identity, points, msLeft }) => {
      const nowMs = time.clock.now();
      const running = sums.get(identity);
      const sum = running && running.endsAtMs > nowMs ? running : { used: 0, endsAtMs: nowMs + msLeft };
      sum.used += points;
      sums.set(identity, sum);
      return { used: sum.used, msLeft: sum.endsAtMs - nowMs };
    });
  };
  const start = () =>
    createExchangedCounters(
      { windowSec: 60, max: options.max ?? 10_000, urgentPoints: options.urgentPoints ?? 1_000 },
      { exchange, clock: time.clock, timers: time.timers, logger },
    );
  return { time, store, logger, start };
}
const usedOf = (counters: { add(identity: string, points: number): { used: number } }, identity = 'a') =>
  counters.add(identity, 0).used;

describe('add', () => {
  test('default: counts at once, and with the others after an exchange', async () => {
    const { time, start } = processes();
    const [one, two] = [start(), start()];
    expect(one.add('a', 5)).toEqual({ used: 5, msLeft: 60 * SECOND });
    expect(two.add('a', 7)).toEqual({ used: 7, msLeft: 60 * SECOND });
    await time.advance(EXCHANGE_MS);
    expect([usedOf(one), usedOf(two)]).toEqual([5, 12]);
    await time.advance(EXCHANGE_MS);
    expect([usedOf(one), usedOf(two)]).toEqual([12, 12]);
    one.add('a', 1);
    await time.advance(EXCHANGE_MS);
    expect(usedOf(one)).toBe(13);
  });

  test('behavior: all processes share one window, that of the first', async () => {
    const { time, start } = processes();
    const [one, two] = [start(), start()];
    one.add('a', 5);
    await time.advance(40 * SECOND);
    expect(two.add('a', 1).msLeft).toBe(60 * SECOND);
    await time.advance(EXCHANGE_MS);
    expect(two.add('a', 0)).toEqual({ used: 6, msLeft: 20 * SECOND - EXCHANGE_MS });
    await time.advance(20 * SECOND);
    expect(two.add('a', 1)).toEqual({ used: 1, msLeft: 60 * SECOND });
    await time.advance(EXCHANGE_MS);
    expect(usedOf(two)).toBe(1);
  });

  test('behavior: what comes while an exchange runs is neither lost nor told of twice', async () => {
    const { time, start } = processes();
    const [one, two] = [start(), start()];
    for (let i = 0; i < 100; i++) {
      (i % 3 === 0 ? one : two).add('a', 1);
      await time.advance(37);
    }
    await time.advance(2 * EXCHANGE_MS);
    usedOf(one);
    usedOf(two);
    await time.advance(EXCHANGE_MS);
    expect([usedOf(one), usedOf(two)]).toEqual([100, 100]);
  });

  test('behavior: only what was used since the last exchange is told of, and nothing when nothing was', async () => {
    const { time, store, start } = processes();
    const one = start();
    for (const identity of ['a', 'b', 'c']) one.add(identity, 1);
    await time.advance(EXCHANGE_MS);
    one.add('b', 2);
    await time.advance(10 * EXCHANGE_MS);
    expect(store.told.map((told) => told.map(({ identity, points }) => [identity, points]))).toEqual([
      [
        ['a', 1],
        ['b', 1],
        ['c', 1],
      ],
      [['b', 2]],
    ]);
    expect(time.pending()).toEqual([]);
  });

  test('behavior: so many identities at once, the others afterwards', async () => {
    const { time, store, start } = processes();
    const one = start();
    for (let i = 0; i < 2 * MAX_TOLD + 1; i++) one.add(`id-${i}`, 1);
    await time.advance(3 * EXCHANGE_MS);
    expect(store.told.map(({ length }) => length)).toEqual([MAX_TOLD, MAX_TOLD, 1]);
  });

  test('behavior: who uses much is told of soon, but not with every call', async () => {
    const { time, store, start } = processes({ urgentPoints: 10 });
    const one = start();
    one.add('a', 9);
    one.add('a', 1);
    for (let i = 0; i < 50; i++) one.add('a', 1);
    await time.advance(URGENT_MS);
    expect(store.told).toHaveLength(1);
    one.add('a', 1);
    await time.advance(EXCHANGE_MS - 1);
    expect(store.told).toHaveLength(1);
    await time.advance(1);
    expect(store.told).toHaveLength(2);
  });

  test('behavior: while the store is away counting goes on here, and is told of when it is back', async () => {
    const { time, store, logger, start } = processes();
    const [one, two] = [start(), start()];
    store.away = true;
    one.add('a', 5);
    await time.advance(SECOND);
    expect(one.add('a', 1).used).toBe(6);
    store.away = false;
    await time.advance(SECOND);
    two.add('a', 1);
    await time.advance(EXCHANGE_MS);
    expect(usedOf(two)).toBe(7);
    expect(logger.messages).toEqual([
      'addresses are counted by this process alone',
      'addresses are counted together again',
    ]);
  });

  test('behavior: a store that comes back empty takes nothing back', async () => {
    const { time, store, start } = processes();
    const one = start();
    one.add('a', 50);
    await time.advance(EXCHANGE_MS);
    store.forget();
    one.add('a', 1);
    await time.advance(EXCHANGE_MS);
    expect(usedOf(one)).toBe(51);
  });

  test('behavior: a closed one exchanges nothing more', async () => {
    const { time, store, start } = processes();
    const one = start();
    one.add('a', 1);
    one.close();
    one.add('b', 1);
    await time.advance(SECOND);
    expect([store.told, time.pending()]).toEqual([[], []]);
  });
});
