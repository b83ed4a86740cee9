import type { KeyInfo } from './admin.ts';

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
  readonly list: () => Promise<readonly Pick<KeyInfo, 'id' | 'rotatedFrom' | 'status'>[]>;
  /** Texts of the keys of a local world. */
  readonly sampleKeys?: Iterable<string> | undefined;
}

/** Create the look-up of owners. Each call reads the keys, because a revocation counts at once. */
export function createKeyOwners({ list, sampleKeys = [] }: KeyOwnersDeps): KeyOwners {
  const samples = [...sampleKeys].map(sampleKeyId);
  return {
    ownerOf: async (keyId) => {
      if (samples.includes(keyId)) return keyId;
      return rootsOf(await list()).get(keyId) ?? keyId;
    },
    active: async () => {
      const keys = await list();
      const roots = rootsOf(keys);
      const owners = keys.flatMap(({ id, status }) => (status === 'active' ? [roots.get(id) ?? id] : []));
      return [...new Set([...owners, ...samples])];
    },
  };
}

function rootsOf(keys: readonly Pick<KeyInfo, 'id' | 'rotatedFrom'>[]): ReadonlyMap<string, string> {
  const before = new Map(keys.map(({ id, rotatedFrom }) => [id, rotatedFrom]));
  return new Map(
    keys.map(({ id }) => {
      let root = id;
      const seen = new Set([root]);
      for (;;) {
        const earlier = before.get(root);
        if (earlier == null || !before.has(earlier) || seen.has(earlier)) return [id, root];
        seen.add(earlier);
        root = earlier;
      }
    }),
  );
}
