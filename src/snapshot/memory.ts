import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { createKeyedMutex } from './keyed-mutex.ts';
import { createLocalFacts } from './local.ts';
import { groupsOf, mergeGroups, withGroups } from './merge.ts';
import type { SnapshotStore, SnapshotWriter } from './types.ts';

export interface MemorySnapshotDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Create a snapshot store without persistence. */
export function createMemorySnapshot(deps: MemorySnapshotDeps): SnapshotStore {
  const { clock, logger } = deps;
  const mutex = createKeyedMutex();
  const local = createLocalFacts({ logger });
  const publishAll: SnapshotWriter['publishAll'] = (chainId, publications) =>
    mutex(chainId, async () => {
      const facts = local.facts(chainId);
      const groups = mergeGroups(facts, publications, clock.now());
      const next = withGroups(facts, groups, facts.version + 1, clock.now());
      local.set(next, groupsOf(publications));
      return next;
    });
  return {
    facts: local.facts,
    subscribe: local.subscribe,
    publish: (chainId, group, publication) => publishAll(chainId, { [group]: publication }),
    publishAll,
    place: () => ({ kind: 'memory', ok: true }),
    restore: async () => {},
    close: async () => {},
  };
}
