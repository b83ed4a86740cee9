import type { ChainFacts, Fact, FactGroup, FactGroups, Failure } from '../domain/facts.ts';
import type { ChainId } from '../shared/ids.ts';

/** Result of one refresh of a group. Keys in neither map stay unchanged. */
export interface Publication<T> {
  readonly attemptedAtMs: number;
  readonly items: ReadonlyMap<string, Fact<T>>;
  readonly failures: ReadonlyMap<string, Omit<Failure, 'sinceMs'>>;
  /** The source failed as a whole. This does not count as a success, even without any key to record a failure for. */
  readonly failed?: boolean | undefined;
}

/** Result of one refresh of several groups at one moment. */
export type Publications = { readonly [G in FactGroup]?: Publication<FactGroups[G]> };

/** Called on every new version, after it can be read: once per changed group. */
export type SnapshotListener = (facts: ChainFacts, group: FactGroup) => void;

/** The read side: synchronous, from memory. Returns the same immutable object until the next version. */
export interface SnapshotReader {
  /** The facts of a chain; empty facts (version 0) before the first publish. */
  facts(chainId: ChainId): ChainFacts;
  subscribe(listener: SnapshotListener): () => void;
}

/** The write side: merges into last-good and publishes the next version atomically. */
export interface SnapshotWriter {
  publish<G extends FactGroup>(
    chainId: ChainId,
    group: G,
    publication: Publication<FactGroups[G]>,
  ): Promise<ChainFacts>;
  /** Publish several groups as one version, so that readers never see one without the others. */
  publishAll(chainId: ChainId, publications: Publications): Promise<ChainFacts>;
}

/** A group of facts in Redis that cannot be read. */
export interface Unreadable {
  readonly chainId: ChainId;
  readonly group: FactGroup;
  /** `other_version`: of another version of the service, which is never overwritten. `other_type`: the key holds no facts at all. */
  readonly reason: 'damaged' | 'other_version' | 'other_type';
}

/** Where facts are stored outside of this process, and whether the latest version is there. */
export interface SnapshotPlace {
  readonly kind: 'memory' | 'file' | 'redis';
  readonly ok: boolean;
  /** Lead of our clock over the shared one, ms; absent without a shared one, or before the first measurement. */
  readonly clockSkewMs?: number | undefined;
  /** Groups of facts in Redis that cannot be read; absent = none, or another store. */
  readonly unreadable?: readonly Unreadable[] | undefined;
}

export interface SnapshotStore extends SnapshotReader, SnapshotWriter {
  place(): SnapshotPlace;
  /** Load the last persisted facts with their age. Never throws for damaged data: it is set aside and logged. */
  restore(): Promise<void>;
  /** Persist pending changes and close connections. */
  close(): Promise<void>;
}
