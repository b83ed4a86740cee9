import { describe, expect, test } from 'vitest';
import { createRecordedRates } from '../../src/services/recorded-rates.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import type { MarketId } from '../../src/shared/ids.ts';
import { rememberingLogger } from '../snapshot/logs.ts';
import { fakeTime } from '../warmers/fake-time.ts';

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;
const [A, B] = ['a', 'b'] as unknown as [MarketId, MarketId];
const away = () => Promise.reject(new UpstreamUnavailableError('database', 'unreachable'));

/** A database that has the named hours of every market, and can be taken away. */
function recording(options: { readonly maxBytes?: number } = {}) {
  const time = fakeTime(NOW);
  const logger = rememberingLogger();
  const state = { mode: 'ok' as 'ok' | 'away' | 'hangs', reads: 0, remembered: 0, apy: '0.05' };
  const rates = createRecordedRates({
    samples: {
      readHourly: (_chainId, ids, { fromMs, toMs = Number.POSITIVE_INFINITY }) => {
        state.reads += 1;
        if (state.mode === 'away') return away();
        if (state.mode === 'hangs') return new Promise(() => {});
        const hours = Array.from({ length: 100 }, (_, i) => NOW - (100 - i) * HOUR);
        const found = hours
          .filter((atMs) => atMs >= fromMs && atMs < toMs && atMs <= time.clock.now())
          .map((atMs) => ({
            atMs,
            borrowApy: new Decimal(state.apy),
            utilization: new Decimal(1),
            supplyAssets: 1n,
            borrowAssets: 1n,
            liquidityAssets: 0n,
          }));
        return Promise.resolve(
          new Map(ids.filter((id) => id !== B).map((id) => [id, found.map((one) => ({ ...one, marketId: id }))])),
        );
      },
    },
    clock: time.clock,
    timers: time.timers,
    logger,
    onRemembered: () => {
      state.remembered += 1;
    },
    ...options,
  });
  const read = async (hoursBack: number, ids: readonly MarketId[] = [A], toMs = time.clock.now() + HOUR) => {
    const series = await rates.read(1, ids, { fromMs: NOW - hoursBack * HOUR, toMs });
    return ids.map((id) => {
      const found = series.get(id) ?? [];
      return { hours: found.length, firstMs: found[0]?.atMs, apy: found[0]?.borrowApy.toFixed() };
    });
  };
  return { ...state, state, time, read, logger };
}

describe('read', () => {
  test('default: reads from the database', async () => {
    const { read, state } = recording();
    expect(await read(10)).toEqual([{ hours: 10, firstMs: NOW - 10 * HOUR, apy: '0.05' }]);
    state.apy = '0.06';
    expect((await read(10))[0]?.apy).toBe('0.06');
    expect(state).toMatchObject({ reads: 2, remembered: 0 });
  });

  test('behavior: serves earlier reads during an outage', async () => {
    const { read, state, time, logger } = recording();
    await read(50, [A, B]);
    state.mode = 'away';
    await time.advance(2 * HOUR);
    expect(await read(50, [A, B])).toEqual([
      { hours: 50, firstMs: NOW - 50 * HOUR, apy: '0.05' },
      // Nothing was recorded of it: that was read as well.
      { hours: 0, firstMs: undefined, apy: undefined },
    ]);
    expect((await read(5))[0]).toMatchObject({ hours: 5 });
    expect((await read(50, [A], NOW - 40 * HOUR))[0]).toMatchObject({ hours: 10 });
    expect(state.remembered).toBe(3);
    state.mode = 'ok';
    await time.advance(2_000);
    const { remembered } = state;
    await read(50);
    expect(state.remembered).toBe(remembered);
    expect(logger.messages).toEqual(['recorded rates are served from memory', 'recorded rates are read again']);
  });

  test('behavior: does not ask for every read during an outage; a hanging database costs its wait timeouts', async () => {
    const { read, state, time } = recording();
    await read(10);
    state.mode = 'hangs';
    const waiting = read(10);
    await time.advance(2_000);
    expect((await waiting)[0]).toMatchObject({ hours: 10 });
    const requested = state.reads;
    await read(10);
    expect(state.reads).toBe(requested);
  });

  test('behavior: a short read does not shorten the stored range', async () => {
    const { read, state, time } = recording();
    await read(50);
    await time.advance(HOUR);
    await read(2);
    state.mode = 'away';
    expect((await read(50))[0]).toMatchObject({ hours: 50 });
  });

  test('behavior: does not skip an unknown range in between', async () => {
    const { read, state, time } = recording();
    await read(50);
    await time.advance(30 * HOUR);
    await read(-20);
    state.mode = 'away';
    await expect(read(50)).rejects.toBeInstanceOf(UpstreamUnavailableError);
    await read(-20);
    expect(state.remembered).toBe(1);
  });

  test('error: UpstreamUnavailableError without an earlier read', async () => {
    const { read, state } = recording();
    await read(10);
    await read(90, [A], NOW - 80 * HOUR);
    state.mode = 'away';
    await expect(read(11)).rejects.toBeInstanceOf(UpstreamUnavailableError);
    await expect(read(10, [A, B])).rejects.toBeInstanceOf(UpstreamUnavailableError);
    expect((await read(10))[0]).toMatchObject({ hours: 10 });
  });

  test('behavior: memory is bounded; drops the least recently read first', async () => {
    const ids = Array.from({ length: 20 }, (_, i) => `m${i}` as unknown as MarketId);
    const { read, state } = recording({ maxBytes: 10 * (200 + 100 * 13) });
    for (const id of ids) await read(100, [id]);
    state.mode = 'away';
    await expect(read(100, [ids[0] as MarketId])).rejects.toBeInstanceOf(UpstreamUnavailableError);
    expect((await read(100, ids.slice(-5))).map(({ hours }) => hours)).toEqual([100, 100, 100, 100, 100]);
  });
});
