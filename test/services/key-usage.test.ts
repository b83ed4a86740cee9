import { describe, expect, test } from 'vitest';
import type { UsageDay } from '../../src/database/key-usage.ts';
import { createKeyUsage } from '../../src/services/key-usage.ts';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import { captureLogs } from '../support/log-capture.ts';

const DAY = 86_400_000;
const START = 20_000 * DAY;

function worldOf() {
  const stored = new Map<string, UsageDay>();
  const due: (() => void)[] = [];
  const state = { nowMs: START, isAway: false, statements: 0, due, stored };
  const logs = captureLogs();
  const usage = createKeyUsage({
    repository: {
      async add(counts) {
        state.statements += 1;
        if (state.isAway) throw new UpstreamUnavailableError('database', 'unreachable');
        for (const { keyId, dayMs, calls, points, refusals } of counts) {
          const key = `${keyId} ${dayMs}`;
          const known = stored.get(key) ?? { calls: 0, points: 0, refusals: 0 };
          const sums = {
            calls: known.calls + calls,
            points: known.points + points,
            refusals: known.refusals + refusals,
          };
          stored.set(key, { keyId, dayMs, ...sums });
        }
      },
      since: async (keyId, fromMs) => [...stored.values()].filter((day) => day.keyId === keyId && day.dayMs >= fromMs),
    },
    clock: { now: () => state.nowMs },
    timers: { setTimeout: (run) => due.push(run), clearTimeout: () => {} },
    logger: logs.logger,
  });
  const tick = async () => {
    for (const run of due.splice(0)) run();
    await usage.since('-', 0);
  };
  return { usage, state, tick, logs };
}
const counts = (days: readonly { calls: number; points: number; refusals: number }[]) =>
  days.map(({ calls, points, refusals }) => [calls, points, refusals]);

describe(createKeyUsage, () => {
  test('default: a thousand calls are one statement a minute', async () => {
    const { usage, state, tick } = worldOf();
    usage.start();
    for (let i = 0; i < 1_000; i += 1) usage.note('key', { calls: 1, points: 10 });
    expect(state.statements).toBe(0);
    expect(counts(await usage.since('key', 0))).toEqual([[1_000, 10_000, 0]]);
    await tick();
    expect(state.statements).toBe(1);
    expect(counts(await usage.since('key', 0))).toEqual([[1_000, 10_000, 0]]);
  });

  test('behavior: stored and new counts of a day are added, days and keys are apart, and refunds count', async () => {
    const { usage, state, tick } = worldOf();
    usage.start();
    usage.note('key', { calls: 1, points: 10 });
    usage.note('other', { calls: 5 });
    await tick();
    usage.note('key', { refusals: 1, calls: 1 });
    usage.note('key', { points: -9 });
    state.nowMs += DAY;
    usage.note('key', { calls: 1, points: 1 });
    expect(counts(await usage.since('key', 0))).toEqual([
      [2, 1, 1],
      [1, 1, 0],
    ]);
    expect(counts(await usage.since('key', START + DAY))).toEqual([[1, 1, 0]]);
    await tick();
    expect(counts([...state.stored.values()])).toEqual([
      [2, 1, 1],
      [5, 0, 0],
      [1, 1, 0],
    ]);
  });

  test('behavior: counts outlive an outage of the database, which is logged once', async () => {
    const { usage, state, tick, logs } = worldOf();
    usage.start();
    state.isAway = true;
    usage.note('key', { calls: 1 });
    await tick();
    await tick();
    usage.note('key', { calls: 1 });
    state.isAway = false;
    await tick();
    expect(counts([...state.stored.values()])).toEqual([[2, 0, 0]]);
    expect(logs.take().map((line) => line.split(' {')[0])).toEqual([
      'warn use of keys not stored',
      'info use of keys stored again',
    ]);
  });

  test('behavior: the end of the process stores what is left', async () => {
    const { usage, state } = worldOf();
    usage.note('key', { calls: 1 });
    await usage.close();
    expect(counts([...state.stored.values()])).toEqual([[1, 0, 0]]);
  });
});
