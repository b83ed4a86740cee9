import { describe, expect, test } from 'vitest';
import { AppError, NotFoundError, UpstreamUnavailableError } from '../../src/shared/errors.ts';
import { createMemoryLease, type Lease, type LeasePort } from '../../src/snapshot/lease.ts';
import { createWarmerRunner, type RunEvent } from '../../src/warmers/runner/runner.ts';
import type { RunMode, RunReport, Warmer } from '../../src/warmers/types.ts';
import { rememberingLogger } from '../snapshot/logs.ts';
import { type FakeTime, fakeTime, settle } from './fake-time.ts';

const GOOD: RunReport = { items: 1, failures: 0, retryable: 0 };
const SECOND = 1_000;

interface Scripted extends Warmer {
  readonly modes: RunMode[];
  signals: AbortSignal[];
  /** The outcomes of the next runs; later runs succeed. */
  readonly script: (() => Promise<RunReport>)[];
}

function warmer(name: string, options: Partial<Pick<Warmer, 'everySec' | 'phase'>> = {}): Scripted {
  const self: Scripted = {
    name,
    groups: ['price'],
    everySec: 100,
    phase: 1,
    ...options,
    modes: [],
    signals: [],
    script: [],
    run: async (signal, mode) => {
      self.modes.push(mode);
      self.signals.push(signal);
      return (self.script.shift() ?? (async () => GOOD))();
    },
  };
  return self;
}

/** A run that waits until it is ended or aborted. */
function held(target: Scripted): { readonly end: () => void } {
  let end = (): void => {};
  target.script.push(
    () =>
      new Promise((resolve, reject) => {
        end = () => resolve(GOOD);
        const signal = target.signals.at(-1);
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  );
  return { end: () => end() };
}

function running(warmers: readonly Warmer[], lease: LeasePort = createMemoryLease(), time: FakeTime = fakeTime()) {
  const events: RunEvent[] = [];
  const logger = rememberingLogger();
  const runner = createWarmerRunner({
    warmers,
    clock: time.clock,
    timers: time.timers,
    logger,
    lease,
    random: () => 0,
    onRun: (event) => events.push(event),
  });
  return { runner, time, events, messages: () => logger.messages.filter((message) => message.startsWith('warmer')) };
}

describe('start', () => {
  test('default', async () => {
    const prices = warmer('prices:1');
    const { runner, time, events } = running([prices]);
    await runner.start();
    expect(events).toEqual([{ name: 'prices:1', ok: true, items: 1, failures: 0, ms: 0 }]);
    await time.advance(100 * SECOND - 1);
    expect(events).toHaveLength(1);
    await time.advance(1);
    expect(events).toHaveLength(2);
    await time.advance(300 * SECOND);
    expect(events).toHaveLength(5);
    expect(new Set(prices.modes)).toEqual(new Set(['due']));
    await runner.stop();
  });

  test('behavior: a phase begins after the end of the previous one', async () => {
    const [first, second, third] = [
      warmer('lending-state:1', { phase: 0 }),
      warmer('prices:1', { phase: 1 }),
      warmer('exit-liquidity:1', { phase: 2 }),
    ];
    const hold = held(first);
    const { runner } = running([third, second, first]);
    const started = runner.start();
    await settle();
    expect([first, second, third].map(({ modes }) => modes.length)).toEqual([1, 0, 0]);
    hold.end();
    await started;
    expect([first, second, third].map(({ modes }) => modes.length)).toEqual([1, 1, 1]);
    await runner.stop();
  });

  test('behavior: a failing warmer does not prevent others from starting', async () => {
    const broken = warmer('lending-state:1', { phase: 0 });
    broken.script.push(() => Promise.reject(new UpstreamUnavailableError('chain', 'timeout')));
    const { runner, events } = running([broken, warmer('prices:1')]);
    await runner.start();
    expect(events.map(({ name, ok }) => [name, ok])).toEqual([
      ['lending-state:1', false],
      ['prices:1', true],
    ]);
    await runner.stop();
  });
});

describe('backoff', () => {
  const failing = (retryAfterSec?: number) => () =>
    Promise.reject(new UpstreamUnavailableError('x', 'timeout', retryAfterSec === undefined ? {} : { retryAfterSec }));

  test('behavior: doubles from 5 s up to the cadence, and a success returns to the cadence', async () => {
    const prices = warmer('prices:1', { everySec: 60 });
    for (let i = 0; i < 6; i++) prices.script.push(failing());
    const { runner, time, messages } = running([prices]);
    await runner.start();
    for (const sec of [5, 10, 20, 40, 60, 60]) {
      const before = prices.modes.length;
      expect(time.pending().some((ms) => ms === sec * SECOND)).toBe(true);
      await time.advance(sec * SECOND);
      expect(prices.modes).toHaveLength(before + 1);
    }
    expect(messages()).toEqual(['warmer failing', 'warmer recovered']);
    await runner.stop();
  });

  test("behavior: is never sooner than the provider's Retry-After", async () => {
    const prices = warmer('prices:1');
    prices.script.push(failing(42));
    const { runner, time } = running([prices]);
    await runner.start();
    await time.advance(42 * SECOND - 1);
    expect(prices.modes).toHaveLength(1);
    await time.advance(1);
    expect(prices.modes).toHaveLength(2);
    await runner.stop();
  });

  test('behavior: retries a partly failed run early, but not a permanent failure', async () => {
    const [partial, incurable] = [warmer('a'), warmer('b')];
    partial.script.push(async () => ({ items: 3, failures: 1, retryable: 1 }));
    incurable.script.push(async () => ({ items: 3, failures: 1, retryable: 0 }));
    const { runner, time, events } = running([partial, incurable]);
    await runner.start();
    expect(events.map(({ ok }) => ok)).toEqual([false, true]);
    await time.advance(5 * SECOND);
    expect([partial.modes.length, incurable.modes.length]).toEqual([2, 1]);
    await runner.stop();
  });
});

describe('refresh', () => {
  test('behavior: runs now completely and restarts the cadence', async () => {
    const prices = warmer('prices:1');
    const { runner, time } = running([prices]);
    await runner.start();
    await time.advance(90 * SECOND);
    expect(await runner.refresh('prices:1')).toMatchObject([{ name: 'prices:1', ok: true }]);
    expect(prices.modes).toEqual(['due', 'all']);
    await time.advance(99 * SECOND);
    expect(prices.modes).toHaveLength(2);
    await time.advance(1 * SECOND);
    expect(prices.modes).toHaveLength(3);
    await runner.stop();
  });

  test('behavior: joins a running run', async () => {
    const prices = warmer('prices:1');
    const hold = held(prices);
    const { runner } = running([prices]);
    const started = runner.start();
    await settle();
    const refreshes = Promise.all([runner.refresh('prices:1'), runner.refresh('prices:1')]);
    await settle();
    hold.end();
    const [[a], [b]] = await refreshes;
    expect(a).toBe(b);
    expect(prices.modes).toHaveLength(1);
    await started;
    await runner.stop();
  });

  test('behavior: a name without its chain means every chain', async () => {
    const { runner } = running([warmer('prices:1'), warmer('prices:4663'), warmer('prices-of-something')]);
    expect((await runner.refresh('prices')).map(({ name }) => name)).toEqual(['prices:1', 'prices:4663']);
    await runner.stop();
  });

  test('error: NotFoundError', async () => {
    const { runner } = running([warmer('prices:1')]);
    await expect(runner.refresh('weather')).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe('stop', () => {
  test('behavior: aborts running warmers, waits for them, and runs nothing afterwards', async () => {
    const prices = warmer('prices:1');
    held(prices);
    const { runner, time, events, messages } = running([prices]);
    const started = runner.start();
    await settle();
    await runner.stop();
    await started;
    expect(prices.signals[0]?.aborted).toBe(true);
    expect(time.pending()).toEqual([]);
    expect([events, messages()]).toEqual([[], []]);
    await expect(runner.refresh('prices:1')).rejects.toMatchObject({ code: 'not_ready' });
  });
});

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
    // Somebody takes the lease and is never heard of again.
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
