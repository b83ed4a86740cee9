import { expect, test } from 'vitest';
import { createHourlyReports } from '../../src/app/portfolio-samples.ts';

test('behavior: computes a report of every chain each hour, also after a failure, until it is stopped', async () => {
  const requested: number[] = [];
  const pending = new Map<number, { callback: () => void; ms: number }>();
  const hourly = createHourlyReports({
    chainIds: [1, 4663],
    ops: {
      report: async (chainId) => {
        requested.push(chainId);
        throw new Error('down');
      },
    },
    timers: {
      setTimeout: (callback, ms) => {
        pending.set(pending.size, { callback, ms });
        return pending.size - 1;
      },
      clearTimeout: (handle) => void pending.delete(handle as number),
    },
  });
  hourly.start();
  for (const round of [0, 1]) {
    expect(pending.get(round)?.ms).toBe(3_600_000);
    pending.get(round)?.callback();
    await expect.poll(() => pending.has(round + 1)).toBe(true);
  }
  expect(requested).toEqual([1, 4663, 1, 4663]);
  hourly.stop();
  expect(pending.has(2)).toBe(false);
});
