import { describe, expect, test } from 'vitest';
import { AppError } from '../../src/shared/errors.ts';
import type { Lease, LeasePort } from '../../src/snapshot/lease.ts';
import { type FakeTime, fakeTime, settle } from './fake-time.ts';
import { held, running, SECOND, warmer } from './runner-world.ts';

describe('leases', () => {
  /** Leases of one job that several runners share; `away` = its holder is unknown. */
  function sharedLease(time: FakeTime) {
    const holders = new Map<string, { token: number; untilMs: number }>();
    let tokens = 0;
    const state = { away: false };
    const port = (): LeasePort => ({
      ttlMs: 9 * SECOND,
      isClockOff: () => false,
      acquire: async (job) => {
        const holder = holders.get(job);
        if (state.away) return { lease: null, freeInMs: null };
        const freeInMs = (holder?.untilMs ?? 0) - time.clock.now();
        if (freeInMs > 0) return { lease: null, freeInMs };
        tokens += 1;
        const token = tokens;
        holders.set(job, { token, untilMs: time.clock.now() + 9 * SECOND });
        const mine = () => holders.get(job)?.token === token;
        const lease: Lease = {
          renew: async () => {
            if (state.away) throw new Error('away');
            if (mine()) holders.set(job, { token, untilMs: time.clock.now() + 9 * SECOND });
            return mine();
          },
          release: async () => {
            if (mine()) holders.delete(job);
          },
        };
        return { lease, freeInMs: null };
      },
      close: async () => {},
    });
    return { port, state, steal: (job: string) => holders.set(job, { token: -1, untilMs: Number.POSITIVE_INFINITY }) };
  }

  test('behavior: one of two processes runs a job, and the other takes over when it stops', async () => {
    const time = fakeTime();
    const { port } = sharedLease(time);
    const [mine, theirs] = [warmer('prices:1', { everySec: 10 }), warmer('prices:1', { everySec: 10 })];
    const [a, b] = [running([mine], port(), time), running([theirs], port(), time)];
    await a.runner.start();
    await b.runner.start();
    await time.advance(60 * SECOND);
    expect([mine.modes.length, theirs.modes.length]).toEqual([7, 0]);
    await expect(b.runner.refresh('prices:1')).rejects.toBeInstanceOf(AppError);
    await a.runner.stop();
    await time.advance(9 * SECOND);
    expect([mine.modes.length, theirs.modes.length]).toEqual([7, 1]);
    await b.runner.stop();
  });

  test('behavior: the job of a dead process runs elsewhere as soon as its lease ends', async () => {
    const time = fakeTime();
    const { port } = sharedLease(time);
    // Another process takes the lease and never renews it.
    await port().acquire('prices:1');
    const [prices, tvl] = [warmer('prices:1'), warmer('tvl:1')];
    const { runner } = running([prices, tvl], port(), time);
    await time.advance(3_456);
    await runner.start();
    expect([prices.modes.length, tvl.modes.length]).toEqual([0, 1]);
    await time.advance(9 * SECOND - 3_456);
    expect(prices.modes).toHaveLength(0);
    await time.advance(10);
    expect(prices.modes).toHaveLength(1);
    await runner.stop();
  });

  test('behavior: releases a lease granted during the stop before the stop ends', async () => {
    const time = fakeTime();
    const reported: string[] = [];
    let grant = () => {};
    const port: LeasePort = {
      ttlMs: 9 * SECOND,
      isClockOff: () => false,
      acquire: () =>
        new Promise((resolve) => {
          const release = async () => void reported.push('given back');
          grant = () => resolve({ lease: { renew: async () => true, release }, freeInMs: null });
        }),
      close: async () => {},
    };
    const prices = warmer('prices:1');
    const { runner } = running([prices], port, time);
    const started = runner.start();
    await settle();
    const stopped = runner.stop().then(() => reported.push('stopped'));
    await settle();
    expect(reported).toEqual([]);
    grant();
    await Promise.all([started, stopped]);
    expect([reported, prices.modes]).toEqual([['given back', 'stopped'], []]);
  });

  test('behavior: a process with a wrong clock runs nothing and reports it', async () => {
    const port: LeasePort = {
      ttlMs: 9 * SECOND,
      acquire: async () => ({ lease: null, freeInMs: null }),
      isClockOff: () => true,
      close: async () => {},
    };
    const { runner, events } = running([warmer('prices:1')], port);
    await runner.start();
    expect(events).toEqual([]);
    expect(runner.jobs()).toEqual({ held: [], standby: ['prices:1'], clockOff: true });
    await expect(runner.refresh('prices:1')).rejects.toThrow('the clock of this process is more than two minutes');
    await runner.stop();
  });

  test('behavior: aborts a run that lost its lease', async () => {
    const time = fakeTime();
    const { port, steal } = sharedLease(time);
    const prices = warmer('prices:1');
    held(prices);
    const { runner, events } = running([prices], port(), time);
    const started = runner.start();
    await settle();
    steal('prices:1');
    await time.advance(3 * SECOND);
    expect(prices.signals[0]?.aborted).toBe(true);
    await started;
    await time.advance(100 * SECOND);
    expect([prices.modes.length, events]).toEqual([1, []]);
    await runner.stop();
  });

  test('behavior: with an unknown holder the lease ends with its time and is taken again afterwards', async () => {
    const time = fakeTime();
    const { port, state } = sharedLease(time);
    const prices = warmer('prices:1', { everySec: 5 });
    const { runner } = running([prices], port(), time);
    await runner.start();
    state.away = true;
    await time.advance(60 * SECOND);
    const ran = prices.modes.length;
    expect(ran).toBeLessThanOrEqual(3);
    state.away = false;
    await time.advance(10 * SECOND);
    expect(prices.modes.length).toBeGreaterThan(ran);
    await runner.stop();
  });
});
