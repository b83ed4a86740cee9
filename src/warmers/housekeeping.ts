import type { Warmer } from './types.ts';

const EVERY_SEC = 86_400;

/** Remove samples that are older than what is kept, or from the future, once a day. In the runner, so that one process of many does it. */
export function createHousekeepingWarmer(prune: () => Promise<number>): Warmer {
  return {
    name: 'housekeeping',
    groups: [],
    everySec: EVERY_SEC,
    phase: 2,
    run: async () => {
      const removed = await prune();
      return { items: removed, failures: 0, retryable: 0 };
    },
  };
}
