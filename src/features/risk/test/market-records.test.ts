import { describe, expect, test } from 'vitest';
import { rememberingLogger } from '../../../../test/snapshot/logs.ts';
import { fakeTime } from '../../../../test/warmers/fake-time.ts';
import { UpstreamUnavailableError } from '../../../shared/errors.ts';
import { parseMarketId } from '../../../shared/ids.ts';
import { createMarketRecords } from '../services/market-records.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const NOW = 20_000 * 24 * HOUR_MS;
const MARKET = { chainId: 1, id: parseMarketId(`0x${'1'.repeat(64)}`) };

/** A database with 40 days of hourly samples, which can be taken away. */
function recorded() {
  const time = fakeTime(NOW);
  const logger = rememberingLogger();
  const state = { mode: 'ok' as 'ok' | 'away' | 'broken', reads: [] as number[], hits: [] as boolean[], remembered: 0 };
  const records = createMarketRecords({
    samples: {
      since: async (_chainId, _marketId, fromMs) => {
        state.reads.push(fromMs);
        if (state.mode === 'away') throw new UpstreamUnavailableError('database', 'unreachable');
        if (state.mode === 'broken') throw new TypeError('a fault of ours');
        return Array.from({ length: 960 }, (_, i) => ({
          atMs: NOW - (959 - i) * HOUR_MS,
          price: 10n ** 36n,
          borrowRate: 1n,
        }));
      },
    },
    clock: time.clock,
    timers: time.timers,
    logger,
    onLookup: (hit) => state.hits.push(hit),
    onRemembered: () => {
      state.remembered += 1;
    },
  });
  return { records, state, time, logger };
}

describe('records of markets', () => {
  test('default: 90 days are read, once in ten minutes and once for requests at the same time', async () => {
    const { records, state, time } = recorded();
    const [first, same] = await Promise.all([records.read(MARKET), records.read(MARKET)]);
    expect(first.record).toBe(same.record);
    expect([first.record?.samples, first.validUntilMs]).toEqual([960, NOW + 10 * MINUTE_MS]);
    expect(state.reads).toEqual([NOW - 90 * 24 * HOUR_MS]);
    await time.advance(10 * MINUTE_MS - 1);
    await records.read(MARKET);
    await time.advance(1);
    await records.read(MARKET);
    expect(state.reads).toHaveLength(2);
    expect(state.hits).toEqual([false, true, true, false]);
  });

  test('behavior: during an outage an older record is served for a day, then none; both are asked for again soon', async () => {
    const { records, state, time, logger } = recorded();
    await records.read(MARKET);
    state.mode = 'away';
    await time.advance(24 * HOUR_MS);
    expect(await records.read(MARKET)).toMatchObject({ validUntilMs: NOW + 24 * HOUR_MS + 10_000 });
    expect(state.remembered).toBe(1);
    await time.advance(10_001);
    const { reads } = state;
    const tried = reads.length;
    expect(await records.read(MARKET)).toEqual({ validUntilMs: time.clock.now() + 10_000 });
    expect(await records.read(MARKET)).toEqual({ validUntilMs: time.clock.now() + 10_000 });
    expect(reads).toHaveLength(tried + 1);
    state.mode = 'ok';
    await time.advance(10_001);
    expect((await records.read(MARKET)).record?.samples).toBe(960);
    expect(logger.messages).toEqual(['records of markets cannot be read', 'records of markets are read again']);
  });

  test('behavior: a fault of ours is no outage', async () => {
    const { records, state } = recorded();
    state.mode = 'broken';
    await expect(records.read(MARKET)).rejects.toThrow('a fault of ours');
  });
});
