import type { Warmer } from './types.ts';

const EVERY_SEC = 86_400;

/**
 * Create the daily job that removes expired samples and samples from the future. It runs in the runner, so that only one
 * process executes it.
 */
export function createHousekeepingWarmer(prunes: readonly (() => Promise<number>)[]): Warmer {
  return {
    name: 'housekeeping',
    groups: [],
    everySec: EVERY_SEC,
    phase: 2,
    run: async () => {
      let removed = 0;
      for (const prune of prunes) removed += await prune();
      return { items: removed, failures: 0, retryable: 0 };
    },
  };
}
