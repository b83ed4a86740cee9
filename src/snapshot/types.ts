import type { ChainFacts, Fact, FactGroup, FactGroups, Failure } from '../domain/facts.ts';
import type { ChainId } from '../shared/ids.ts';

/** What one refresh of a group found. Keys in neither map are left as they are. */
export interface Publication<T> {
  readonly attemptedAtMs: number;
  readonly items: ReadonlyMap<string, Fact<T>>;
  readonly failures: ReadonlyMap<string, Omit<Failure, 'sinceMs'>>;
  /** The source gave nothing at all: no success, even where there is no key yet to say it of. */
  readonly failed?: boolean | undefined;
}

/** What one refresh found of several groups that belong to one moment. */
export type Publications = { readonly [G in FactGroup]?: Publication<FactGroups[G]> };

/** Told of every new version, after it can be read: once for each group that it changed. */
export type SnapshotListener = (facts: ChainFacts, group: FactGroup) => void;

/** The read side: synchronous, from memory, the same immutable object until the next version. */
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
  /** Publish several groups as one version: nobody ever sees one of them without the others. */
  publishAll(chainId: ChainId, publications: Publications): Promise<ChainFacts>;
}

/** Where facts are kept beside this process, and whether the latest version is there. */
export interface SnapshotPlace {
  readonly kind: 'memory' | 'file' | 'redis';
  readonly ok: boolean;
  /** How far our clock is ahead of the one that all processes share, ms; absent where there is none, or before it was measured. */
  readonly clockSkewMs?: number | undefined;
}

export interface SnapshotStore extends SnapshotReader, SnapshotWriter {
  place(): SnapshotPlace;
  /** Bring back the last persisted facts with their true ages. Never throws for damaged data: it is set aside and logged. */
  restore(): Promise<void>;
  /** Flush what is not persisted yet and let go of connections. */
  close(): Promise<void>;
}
