import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { createLocalFacts } from './local.ts';
import { mergePublication } from './merge.ts';
import type { SnapshotStore } from './types.ts';

export interface MemorySnapshotDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Create a snapshot store that lives and dies with the process. */
export function createMemorySnapshot({ clock, logger }: MemorySnapshotDeps): SnapshotStore {
  const local = createLocalFacts({ logger });
  return {
    facts: local.facts,
    subscribe: local.subscribe,
    publish: async (chainId, group, publication) => {
      const next = mergePublication(local.facts(chainId), group, publication, clock.now());
      local.set(next, [group]);
      return next;
    },
    restore: async () => {},
    close: async () => {},
  };
}
