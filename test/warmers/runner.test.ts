import { describe, expect, test } from 'vitest';
import { NotFoundError, UpstreamUnavailableError } from '../../src/shared/errors.ts';
import { settle } from './fake-time.ts';
import { held, running, SECOND, warmer } from './runner-world.ts';

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

describe('runForRequest', () => {
  test('default: runs completely, and joins a run that is under way', async () => {
    const prices = warmer('prices:1');
    const { runner, time } = running([prices]);
    expect(await runner.runForRequest('prices:1', 2 * SECOND)).toBe('ran');
    expect(prices.modes).toEqual(['all']);
    await time.advance(2 * SECOND);
    const hold = held(prices);
    const both = [runner.runForRequest('prices:1', 2 * SECOND), runner.runForRequest('prices:1', 2 * SECOND)];
    await settle();
    hold.end();
    expect(await Promise.all(both)).toEqual(['ran', 'ran']);
    expect(prices.modes).toHaveLength(2);
    await runner.stop();
  });

  test('behavior: not soon after the last start, not while the source fails, not without the lease', async () => {
    const prices = warmer('prices:1');
    const { runner, time } = running([prices]);
    await runner.runForRequest('prices:1', 2 * SECOND);
    expect(await runner.runForRequest('prices:1', 2 * SECOND)).toBe('too_recent');
    await time.advance(2 * SECOND);
    prices.script.push(() => Promise.reject(new UpstreamUnavailableError('x', 'timeout')));
    expect(await runner.runForRequest('prices:1', 2 * SECOND)).toBe('failed');
    await time.advance(3 * SECOND);
    // The backoff after a failure is not shortened by requests.
    const runs = prices.modes.length;
    expect(await runner.runForRequest('prices:1', 2 * SECOND)).toBe('failed');
    expect(prices.modes).toHaveLength(runs);
    expect(await runner.runForRequest('weather:1', 0)).toBe('elsewhere');
    await runner.stop();
    expect(await runner.runForRequest('prices:1', 0)).toBe('elsewhere');
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
