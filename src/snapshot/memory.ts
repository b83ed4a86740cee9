import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { createLocalFacts } from './local.ts';
import { groupsOf, mergePublications } from './merge.ts';
import type { SnapshotStore, SnapshotWriter } from './types.ts';

export interface MemorySnapshotDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Create a snapshot store that lives and dies with the process. */
export function createMemorySnapshot({ clock, logger }: MemorySnapshotDeps): SnapshotStore {
  const local = createLocalFacts({ logger });
  const publishAll: SnapshotWriter['publishAll'] = async (chainId, publications) => {
    const next = mergePublications(local.facts(chainId), publications, clock.now());
    local.set(next, groupsOf(publications));
    return next;
  };
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
