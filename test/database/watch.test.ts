import { describe, expect, test } from 'vitest';
import { createRest } from '../../src/database/connection/rest.ts';
import { createDatabaseWatch } from '../../src/database/connection/watch.ts';
import { captureLogs } from '../support/log-capture.ts';

describe(createRest, () => {
  function setUp(answers: boolean[]) {
    const clock = { nowMs: 10_000, now: () => clock.nowMs };
    let probes = 0;
    const rest = createRest(clock, async () => {
      probes += 1;
      return answers.shift() ?? false;
    });
    return { clock, rest, probes: () => probes };
  }

  test('default: statements may be sent, and nothing is probed', async () => {
    const { rest, probes } = setUp([]);
    expect([await rest.allows(), probes(), rest.silences]).toEqual([true, 0, 0]);
  });

  test('behavior: after a silence one probe every 2 s decides for all waiting statements', async () => {
    const { clock, rest, probes } = setUp([false, true]);
    rest.begin();
    rest.begin();
    expect([await rest.allows(), probes(), rest.silences]).toEqual([false, 0, 1]);
    clock.nowMs += 1_999;
    expect([await rest.allows(), probes()]).toEqual([false, 0]);
    clock.nowMs += 1;
    expect([await Promise.all([rest.allows(), rest.allows(), rest.allows()]), probes()]).toEqual([
      [false, false, false],
      1,
    ]);
    clock.nowMs += 1_999;
    expect([await rest.allows(), probes()]).toEqual([false, 1]);
    clock.nowMs += 1;
    expect([await rest.allows(), await rest.allows(), probes(), rest.silences]).toEqual([true, true, 2, 1]);
    rest.begin();
    expect([await rest.allows(), rest.silences]).toEqual([false, 2]);
  });

  test('behavior: a silence while it rests begins the pause anew', async () => {
    const { clock, rest, probes } = setUp([true]);
    rest.begin();
    clock.nowMs += 1_500;
    rest.begin();
    clock.nowMs += 1_999;
    expect([await rest.allows(), probes()]).toEqual([false, 0]);
  });

  test('behavior: a clock that was set back does not prolong the pause', async () => {
    const { clock, rest } = setUp([true]);
    rest.begin();
    clock.nowMs -= 1;
    expect(await rest.allows()).toBe(true);
  });
});

describe(createDatabaseWatch, () => {
  function setUp() {
    const clock = { nowMs: 100_000, now: () => clock.nowMs };
    const logs = captureLogs();
    return { clock, logs, watch: createDatabaseWatch(logs.logger, clock, 'DATABASE_READ_URL') };
  }

  test('behavior: an outage is logged once at its start and once at its end, with its length', () => {
    const { clock, logs, watch } = setUp();
    expect(watch.status()).toEqual({ problem: null, sinceMs: null });
    watch.failed('unreachable');
    clock.nowMs += 5_000;
    watch.failed('going_up_or_down');
    expect(watch.status()).toEqual({ problem: 'going_up_or_down', sinceMs: 100_000 });
    watch.failed('bad_password');
    clock.nowMs += 2_000;
    watch.answered(false);
    watch.answered(true);
    expect(watch.status()).toEqual({ problem: null, sinceMs: null });
    expect(logs.take()).toEqual([
      'warn database unavailable {"of":"DATABASE_READ_URL","problem":"unreachable"}',
      'warn database unavailable {"of":"DATABASE_READ_URL","problem":"bad_password"}',
      'info database recovered {"of":"DATABASE_READ_URL","problem":"bad_password","forMs":7000}',
    ]);
  });

  test.each(['slow_statement', 'pool_exhausted'] as const)('behavior: %s is no outage', (problem) => {
    const { logs, watch } = setUp();
    expect(watch.failed(problem)).toMatchObject({ problem });
    expect([watch.status().problem, logs.take()]).toEqual([null, []]);
  });

  test('behavior: a read-only database is over with the first write', () => {
    const { watch } = setUp();
    watch.failed('read_only');
    watch.answered(false);
    expect(watch.status().problem).toBe('read_only');
    watch.answered(true);
    expect(watch.status().problem).toBeNull();
  });

  test.each([60_000, -60_000])('behavior: a missing right is over after a minute without another one: %s ms', (ms) => {
    const { clock, watch } = setUp();
    watch.failed('no_right');
    clock.nowMs += ms / 2;
    watch.failed('no_right');
    clock.nowMs += ms - Math.sign(ms);
    watch.answered(true);
    expect(watch.status()).toEqual({ problem: 'no_right', sinceMs: 100_000 });
    clock.nowMs += Math.sign(ms);
    watch.answered(false);
    expect(watch.status().problem).toBeNull();
  });
});
