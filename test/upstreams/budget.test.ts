import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBudget } from '../../src/upstreams/budget.ts';

/** A clock that sleeping moves, as for one caller at a time. */
function fakeTime() {
  let nowMs = 1_000_000;
  return {
    clock: { now: () => nowMs },
    sleep: async (ms: number) => {
      nowMs += ms;
    },
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe('createBudget', () => {
  it('default', async () => {
    const time = fakeTime();
    const budget = createBudget({ ...time, requestsPerMinute: 30, maxWaitMs: 15_000 });
    const start = time.clock.now();
    for (let i = 0; i < 15; i += 1) await budget.take();
    expect(time.clock.now()).toBe(start);
    await budget.take();
    expect(time.clock.now()).toBe(start + 4_000);
  });

  it('behavior: no window of a minute sees more requests than allowed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 120 }),
        async (requestsPerMinute, pauses) => {
          const time = fakeTime();
          const budget = createBudget({ ...time, requestsPerMinute, maxWaitMs: 60_000 });
          const sent: number[] = [];
          for (const pause of pauses) {
            time.advance(pause);
            if ((await budget.take()) === null) sent.push(time.clock.now());
          }
          for (const end of sent) {
            const window = sent.filter((at) => at > end - 60_000 && at <= end);
            expect(window.length).toBeLessThanOrEqual(Math.max(1, requestsPerMinute));
          }
        },
      ),
    );
  });

  it('behavior: refuses at once without a charge when the wait would be too long', async () => {
    const time = fakeTime();
    const budget = createBudget({ ...time, requestsPerMinute: 2, maxWaitMs: 15_000 });
    await budget.take();
    expect(await budget.take()).toEqual({ refusedForMs: 60_000 });
    expect(await budget.take()).toEqual({ refusedForMs: 60_000 });
    time.advance(60_000);
    expect(await budget.take()).toBeNull();
  });

  it('behavior: an aborted wait frees its place', async () => {
    const time = fakeTime();
    const gaveUp = new Error('no longer wanted');
    let isPatient = false;
    const sleep = (ms: number) => (isPatient ? time.sleep(ms) : Promise.reject(gaveUp));
    const budget = createBudget({ clock: time.clock, sleep, requestsPerMinute: 30, maxWaitMs: 15_000 });
    for (let i = 0; i < 15; i += 1) await budget.take();
    for (let i = 0; i < 50; i += 1) await expect(budget.take()).rejects.toBe(gaveUp);
    isPatient = true;
    const start = time.clock.now();
    expect(await budget.take()).toBeNull();
    expect(time.clock.now()).toBe(start + 4_000);
  });

  it('behavior: counts the requests of the last minute, without those that were given up', async () => {
    const time = fakeTime();
    const budget = createBudget({ ...time, requestsPerMinute: 4, maxWaitMs: 60_000 });
    expect([budget.requestsPerMinute, budget.used()]).toEqual([4, 0]);
    await budget.take();
    await budget.take();
    expect(budget.used()).toBe(2);
    const givenUp = createBudget({
      ...time,
      sleep: () => Promise.reject(new Error('gone')),
      requestsPerMinute: 2,
      maxWaitMs: 60_000,
    });
    await givenUp.take();
    await expect(givenUp.take()).rejects.toThrow('gone');
    expect(givenUp.used()).toBe(1);
    time.advance(60_000);
    expect(budget.used()).toBe(0);
  });
});
