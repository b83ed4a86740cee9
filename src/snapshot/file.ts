import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, readlink, realpath, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type ChainFacts, FACT_GROUPS } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';
import { CodecError } from './codec.ts';
import { parseFile, writeFacts } from './file-format.ts';
import { createKeyedMutex } from './keyed-mutex.ts';
import { createLocalFacts } from './local.ts';
import { groupsOf, type KeepItem, mergeGroups, withGroups } from './merge.ts';
import { removeLeftovers, setAside } from './quarantined-files.ts';
import { admit } from './restore.ts';
import type { SnapshotStore, SnapshotWriter } from './types.ts';

export interface FileSnapshotDeps {
  readonly path: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly keep: (chainId: ChainId) => KeepItem;
  /** Publishes within this time are written together; a crash loses at most this much. */
  readonly gatherMs?: number | undefined;
}

const GATHER_MS = 1_000;

/**
 * Create a snapshot store of one process that survives restarts in one file. A damaged file or a full disk does not stop it. Of
 * several processes with one file each writes it whole, and the latest is read: true facts with their ages.
 */
export function createFileSnapshot(deps: FileSnapshotDeps): SnapshotStore {
  const { path, clock, timers, logger, gatherMs = GATHER_MS } = deps;
  let resolved: Promise<string> | undefined;
  const file = (): Promise<string> => {
    resolved ??= targetOf(path);
    return resolved;
  };
  const local = createLocalFacts({ logger });
  const mutex = createKeyedMutex();
  let scheduled: unknown = null;
  let dirty = false;
  let failing = false;
  let writing: Promise<void> = Promise.resolve();

  const save = async (): Promise<void> => {
    if (!dirty) return;
    dirty = false;
    try {
      // Facts are immutable: publishes during the write are in the next one.
      await writeAtomically(await file(), local.chainIds().map(local.facts));
      if (failing) logger.info({ path }, 'snapshot file written again');
      failing = false;
    } catch (error) {
      dirty = true;
      if (!failing) logger.warn({ path, error: errorCode(error) }, 'snapshot file cannot be written');
      failing = true;
    }
  };
  const flush = (): Promise<void> => {
    writing = writing.then(save);
    return writing;
  };

  const publishAll: SnapshotWriter['publishAll'] = (chainId, publications) =>
    mutex(chainId, async () => {
      const facts = local.facts(chainId);
      const groups = mergeGroups(facts, publications, clock.now());
      const next = withGroups(facts, groups, facts.version + 1, clock.now());
      local.set(next, groupsOf(publications));
      dirty = true;
      scheduled ??= timers.setTimeout(() => {
        scheduled = null;
        void flush();
      }, gatherMs);
      return next;
    });

  return {
    facts: local.facts,
    subscribe: local.subscribe,
    publish: (chainId, group, publication) => publishAll(chainId, { [group]: publication }),
    publishAll,
    place: () => ({ kind: 'file', ok: !failing }),
    restore: async () => {
      const target = await file();
      await removeLeftovers(target, clock.now(), logger);
      const text = await readIfThere(target, logger);
      if (text === null) return;
      try {
        const read = parseFile(text).map((facts) => admit(facts, deps.keep(facts.chainId), clock.now()));
        for (const facts of read) local.set(facts, FACT_GROUPS);
      } catch (error) {
        const aside = await setAside(target, error, clock.now());
        const reason = error instanceof CodecError ? error.message : String(error);
        logger.warn({ path, aside, reason }, 'snapshot file set aside');
      }
    },
    close: async () => {
      await mutex.settled();
      if (scheduled !== null) timers.clearTimeout(scheduled);
      scheduled = null;
      await flush();
    },
  };
}

/** Follow a symbolic link: a rename would replace the link, and leave the disk that it leads to. */
async function targetOf(path: string): Promise<string> {
  const target = await readlink(path).catch(() => null);
  if (target === null) return path;
  // The file may not be there yet.
  return realpath(path).catch(() => resolve(dirname(path), target));
}

async function readIfThere(path: string, logger: Logger): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') logger.warn({ path, error: errorCode(error) }, 'snapshot file cannot be read');
    return null;
  }
}

/** Write a temporary file, sync it and rename it over the old one, so that a reader sees the old file or the new one. */
async function writeAtomically(path: string, facts: readonly ChainFacts[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      await writeFacts(file, facts);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
