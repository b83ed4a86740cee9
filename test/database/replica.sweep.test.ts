import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/client.ts';
import { DatabaseUnavailableError } from '../../src/database/connection/errors.ts';
import { createDatabaseWatch } from '../../src/database/connection/watch.ts';
import { createReplicaReads } from '../../src/database/replica.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { captureLogs } from '../support/log-capture.ts';
import { coded } from './driver-error.ts';

describe(createReplicaReads, () => {
  /** Reads over a replica that reports these lags; an error is thrown. */
  function setUp(lags: (string | null | Error)[], newest?: Date | null, maxLagSec = 10) {
    const clock = { nowMs: 50_000, now: () => clock.nowMs };
    const logs = captureLogs();
    let checks = 0;
    const driver = new (class extends DummyDriver {
      override async acquireConnection() {
        return {
          executeQuery: async ({ sql: text }: { readonly sql: string }) => {
            if (text.includes('max(sampled_at)')) return { rows: [{ newest }] as never[] };
            checks += 1;
            const lag = lags.length > 1 ? lags.shift() : lags[0];
            if (lag instanceof Error) throw lag;
            return { rows: [{ isStandby: newest === undefined, lag }] as never[] };
          },
          streamQuery: async function* () {},
        };
      }
    })();
    const replica: Database = new Kysely({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => driver,
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    });
    const watch = createDatabaseWatch(silentLogger, clock);
    const reads = createReplicaReads({ replica, watch, clock, logger: logs.logger, maxLagSec });
    let failure: Error | undefined;
    const read = reads.prefer(
      async (n: number) => {
        if (failure) throw failure;
        return `replica ${n}`;
      },
      async (n: number) => `primary ${n}`,
    );
    return {
      clock,
      logs,
      watch,
      reads,
      read,
      checks: () => checks,
      fail: (error?: Error) => {
        failure = error;
      },
    };
  }

  test.each([
    ['0', 'replica 1'],
    ['10', 'replica 1'],
    ['10.001', 'primary 1'],
    [null, 'primary 1'],
    ['-119.999', 'replica 1'],
    ['-120', 'primary 1'],
  ])('behavior: a replica that is %s s behind, of 10, is read: %s', async (lag, place) => {
    const { read, reads } = setUp([lag]);
    expect(await read(1)).toBe(place);
    const isLate = place.startsWith('primary');
    expect(reads.status()).toEqual(isLate ? { problem: 'late', sinceMs: 50_000 } : { problem: null, sinceMs: null });
  });

  test.each([5_000, -5_000])('behavior: its lag is checked again after 5 s: %s ms', async (ms) => {
    const { clock, read, checks } = setUp(['0', '11', '11', '9']);
    await Promise.all([read(1), read(2)]);
    clock.nowMs += ms - Math.sign(ms);
    expect([await read(3), checks()]).toEqual(['replica 3', 1]);
    clock.nowMs += Math.sign(ms);
    expect([await read(4), checks()]).toEqual(['primary 4', 2]);
  });

  test('behavior: logs once that it is late since its first check, and once that it is used again', async () => {
    const { clock, logs, read, reads } = setUp(['11', '12', '9', '0']);
    for (let i = 0; i < 4; i += 1) {
      await read(i);
      if (i === 1) expect(reads.status()).toEqual({ problem: 'late', sinceMs: 50_000 });
      clock.nowMs += 5_000;
    }
    expect(logs.take()).toEqual([
      'warn read replica is not used: it is late {"lagSec":11,"maxLagSec":10}',
      'info read replica is used again {"lagSec":9}',
    ]);
  });

  test('behavior: after a failure the primary is read for 5 s, and then the lag is checked anew', async () => {
    const { clock, read, checks, fail } = setUp(['0']);
    expect(await read(1)).toBe('replica 1');
    fail(new DatabaseUnavailableError('unreachable'));
    expect(await read(2)).toBe('primary 2');
    fail();
    clock.nowMs += 4_999;
    expect([await read(3), checks()]).toEqual(['primary 3', 1]);
    clock.nowMs += 1;
    expect([await read(4), await read(5), checks()]).toEqual(['replica 4', 'replica 5', 2]);
  });

  test('behavior: a check that fails is a failure; another error is thrown', async () => {
    const { read, fail } = setUp([new DatabaseUnavailableError('silent'), '0']);
    expect(await read(1)).toBe('primary 1');
    const broken = setUp(['0']);
    broken.fail(new TypeError('a defect'));
    await expect(broken.read(1)).rejects.toThrow('a defect');
    fail();
  });

  test.each([
    [new Date(50_000), 'replica 1'],
    [new Date(40_000), 'replica 1'],
    [new Date(39_999), 'primary 1'],
    [null, 'primary 1'],
  ])('behavior: a copy that is no standby is as late as its newest sample, %s: %s', async (newest, place) => {
    expect(await setUp([null], newest).read(1)).toBe(place);
  });

  test.each(['42P01', '42703', '3F000'])(
    'behavior: code %s is another schema, until a read works again',
    async (code) => {
      const { clock, logs, read, reads, fail } = setUp(['0']);
      fail(coded(code));
      expect([await read(1), await read(2)]).toEqual(['primary 1', 'primary 2']);
      clock.nowMs += 5_000;
      expect([await read(3), reads.status()]).toEqual(['primary 3', { problem: 'other_schema', sinceMs: 50_000 }]);
      expect(logs.take()).toEqual(['warn read replica is not used: it has another schema {}']);
      fail();
      clock.nowMs += 5_000;
      expect([await read(4), reads.status()]).toEqual(['replica 4', { problem: null, sinceMs: null }]);
    },
  );

  test('behavior: an outage of the replica is named before its lag', async () => {
    const { clock, read, reads, watch } = setUp(['11']);
    await read(1);
    clock.nowMs += 1;
    watch.failed('unreachable');
    expect(reads.status()).toEqual({ problem: 'unreachable', sinceMs: 50_001 });
  });
});
