import { LRUCache } from 'lru-cache';
import type { KeyRepository } from '../database/keys.ts';
import type { Clock } from '../shared/clock.ts';

/** Id of a key of a local world. */
export function sampleKeyId(text: string): string {
  return `sample:${text}`;
}

/** Keys that replaced one another are one owner: the alerts of a key, for example, survive its rotation. */
export interface KeyOwners {
  /** Id of the first key in the chain of rotations of a key. @throws UpstreamUnavailableError */
  ownerOf(keyId: string): Promise<string>;
  /** Owners with at least one key that is neither revoked nor expired. @throws UpstreamUnavailableError */
  active(): Promise<readonly string[]>;
}

export interface KeyOwnersDeps {
  readonly keys: Pick<KeyRepository, 'rootOf' | 'activeRoots'>;
  readonly clock: Clock;
  /** Texts of the keys of a local world. */
  readonly sampleKeys?: Iterable<string> | undefined;
}

const MAX_REMEMBERED = 10_000;

/**
 * Create the look-up of owners. The first key in a chain of rotations never changes, so it is remembered. Who is active is read
 * on each call, because a revocation counts at once.
 */
export function createKeyOwners({ keys, clock, sampleKeys = [] }: KeyOwnersDeps): KeyOwners {
  const samples = [...sampleKeys].map(sampleKeyId);
  const roots = new LRUCache<string, string>({ max: MAX_REMEMBERED });
  return {
    ownerOf: async (keyId) => {
      if (samples.includes(keyId)) return keyId;
      const known = roots.get(keyId) ?? (await keys.rootOf(keyId));
      if (known !== null) roots.set(keyId, known);
      return known ?? keyId;
    },
    active: async () => [...(await keys.activeRoots(clock.now())), ...samples],
  };
}
