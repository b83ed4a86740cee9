import { describe, expect, it } from 'vitest';
import { emptyChainFacts, type FactGroup } from '../../src/domain/facts.ts';
import { createJobs, createRefreshes } from '../../src/services/fresh-reads/refreshes.ts';
import type { SnapshotListener } from '../../src/snapshot/types.ts';
import type { RequestedRun } from '../../src/warmers/types.ts';
import { fakeTime, settle } from '../warmers/fake-time.ts';

function world(options: { here?: RequestedRun | 'hangs' | null; others?: 'listen' | 'none' | 'broken' } = {}) {
  const time = fakeTime();
  const listeners = new Set<SnapshotListener>();
  let facts = emptyChainFacts(1);
  const asked: string[] = [];
  const here = options.here === undefined ? 'ran' : options.here;
  const refreshes = createRefreshes({
    jobs: createJobs({ pricesMinSec: 60 }),
    snapshot: {
      facts: () => facts,
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    runHere: here === null ? null : async () => (here === 'hangs' ? new Promise(() => {}) : here),
    askOthers:
      options.others === undefined || options.others === 'none'
        ? null
        : async (name) => {
            asked.push(name);
            if (options.others === 'broken') throw new Error('Redis is away');
          },
    clock: time.clock,
    timers: time.timers,
    maxWaitMs: 5_000,
  });
  const publish = (group: FactGroup, lastAttemptMs: number) => {
    const state = { ...facts.groups[group], lastAttemptMs };
    facts = { ...facts, version: facts.version + 1, groups: { ...facts.groups, [group]: state } };
    for (const listener of listeners) listener(facts, group);
  };
  return { time, refreshes, asked, listeners, publish };
}

describe('createRefreshes', () => {
  it.each([
    ['ran', 'refreshed'],
    ['failed', 'failed'],
    ['too_recent', 'too_recent'],
    ['hangs', 'late'],
  ] as const)('behavior: a run of this process that %s is %s', async (here, outcome) => {
    const { refreshes, time } = world({ here });
    const ended = refreshes.refresh(1, 'prices', () => false);
    await time.advance(5_000);
    expect(await ended).toBe(outcome);
  });

  it('behavior: without a lease the holder is asked once for all, and its publication ends the wait', async () => {
    const { refreshes, asked, publish, listeners, time } = world({ here: 'elsewhere', others: 'listen' });
    let isYoung = false;
    const all = [1, 2, 3].map(() => refreshes.refresh(1, 'prices', () => isYoung));
    await settle();
    expect(asked).toEqual(['prices']);
    publish('oracle', time.clock.now());
    publish('price', time.clock.now());
    isYoung = true;
    publish('price', time.clock.now());
    expect(await Promise.all(all)).toEqual(['refreshed', 'refreshed', 'refreshed']);
    expect(listeners.size).toBe(0);
  });

  it.each([
    ['listen', 'late'],
    ['broken', 'unavailable'],
    ['none', 'unavailable'],
  ] as const)('behavior: in a process without warmers, others that %s are %s', async (others, outcome) => {
    const { refreshes, time, listeners } = world({ here: null, others });
    const ended = refreshes.refresh(1, 'market_state', () => false);
    await time.advance(5_000);
    expect([await ended, listeners.size]).toEqual([outcome, 0]);
  });

  it('behavior: a measurement that is allowed soon is waited for', async () => {
    const { refreshes, publish, time } = world();
    publish('lendingState', time.clock.now());
    const ended = refreshes.refresh(1, 'market_state', () => false);
    let isOver = false;
    ended.then(() => {
      isOver = true;
    });
    await time.advance(1_999);
    expect(isOver).toBe(false);
    await time.advance(1);
    expect(await ended).toBe('refreshed');
  });

  it('behavior: facts count as too recent by their latest attempt, also a failed one, and not by a time in the future', () => {
    const { refreshes, publish, time } = world();
    expect(refreshes.isTooRecent(1, 'prices')).toBe(false);
    publish('price', time.clock.now() - 54_999);
    expect(refreshes.isTooRecent(1, 'prices')).toBe(true);
    publish('price', time.clock.now() - 55_000);
    expect(refreshes.isTooRecent(1, 'prices')).toBe(false);
    publish('price', time.clock.now() + 1_000);
    expect(refreshes.isTooRecent(1, 'prices')).toBe(false);
    expect([refreshes.measuredAtMs(1, 'prices'), refreshes.stateBlock(1)]).toEqual([null, null]);
  });
});
