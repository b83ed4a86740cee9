import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ChainFacts, emptyGroup, FACT_GROUPS } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { inPages } from '../shared/pages.ts';
import type { Timers } from '../shared/timers.ts';
import { asGroup, CODEC_VERSION, CodecError, decode, encode, encodeGroup, ITEMS_PER_PAGE } from './codec.ts';
import { createKeyedMutex } from './keyed-mutex.ts';
import { createLocalFacts } from './local.ts';
import { groupsOf, type KeepItem, mergeGroups, withGroups } from './merge.ts';
import { admit } from './restore.ts';
import type { SnapshotStore, SnapshotWriter } from './types.ts';

export interface FileSnapshotDeps {
  readonly path: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly keep: (chainId: ChainId) => KeepItem;
  /** How long publishes are gathered into one write; a crash loses at most this much. */
  readonly gatherMs?: number;
}

const GATHER_MS = 1_000;

/** Create a snapshot store of one process that survives restarts in one file. Neither a damaged file nor a full disk stops it. */
export function createFileSnapshot(deps: FileSnapshotDeps): SnapshotStore {
  const { path, clock, timers, logger, gatherMs = GATHER_MS } = deps;
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
      // Facts are immutable: what is published meanwhile is written the next time.
      const hash = createHash('sha256');
      const body: string[] = [];
      for await (const page of inPages(piecesOf(local.chainIds().map(local.facts)), ITEMS_PER_PAGE)) {
        const text = page.join('');
        hash.update(text);
        body.push(text);
      }
      const head = encode({ v: CODEC_VERSION, sha256: hash.digest('hex') });
      await writeAtomically(path, [`${head}\n`, ...body, '\n']);
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
      const text = await readIfThere(path, logger);
      if (text === null) return;
      try {
        for (const facts of parse(text)) local.set(admit(facts, deps.keep(facts.chainId), clock.now()), FACT_GROUPS);
      } catch (error) {
        if (!(error instanceof CodecError)) throw error;
        const aside = `${path}.damaged-${new Date(clock.now()).toISOString().replaceAll(':', '-')}`;
        await rename(path, aside).catch(() => {});
        logger.warn({ path, aside, reason: error.message }, 'snapshot file set aside');
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

/** Parse the whole file before anything is used. @throws CodecError when it is cut, changed, or of another version. */
function parse(text: string): readonly ChainFacts[] {
  const headEnd = text.indexOf('\n');
  const head = text.slice(0, Math.max(headEnd, 0));
  const body = text.slice(headEnd + 1).replace(/\n$/, '');
  const header = decode(head);
  if (!isRecord(header) || header.v !== CODEC_VERSION) {
    throw new CodecError(`The snapshot file is of another version than ${CODEC_VERSION}.`);
  }
  if (header.sha256 !== sha256(body)) throw new CodecError('The snapshot file does not match its checksum.');
  const chains = decode(body);
  if (!Array.isArray(chains)) throw new CodecError('The snapshot file holds no list of chains.');
  return chains.map((chain: unknown): ChainFacts => {
    if (!isRecord(chain) || !isRecord(chain.groups)) throw new CodecError('The snapshot file holds a malformed chain.');
    const { chainId, version, publishedMs, groups } = chain;
    if (typeof chainId !== 'number' || typeof version !== 'number' || typeof publishedMs !== 'number') {
      throw new CodecError('The snapshot file holds a malformed chain.');
    }
    // A group that is not there is one that the version which wrote the file did not have.
    const states = Object.fromEntries(
      FACT_GROUPS.map((group) => [group, groups[group] === undefined ? emptyGroup() : asGroup(group, groups[group])]),
    );
    return { chainId, version, publishedMs, groups: states as unknown as ChainFacts['groups'] };
  });
}

async function readIfThere(path: string, logger: Logger): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') logger.warn({ path, error: errorCode(error) }, 'snapshot file cannot be read');
    return null;
  }
}

/** A reader sees the old file or the new one, never a part: written beside it, synced, then renamed over it. */
async function writeAtomically(path: string, parts: readonly string[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      for (const part of parts) await file.appendFile(part);
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

/** The pieces of the body, an item each. */
function* piecesOf(all: readonly ChainFacts[]): Generator<string> {
  yield '[';
  for (const [n, { chainId, version, publishedMs, groups }] of all.entries()) {
    yield `${n === 0 ? '' : ','}${encode({ chainId, version, publishedMs }).slice(0, -1)},"groups":{`;
    for (const [i, group] of FACT_GROUPS.entries()) {
      yield `${i === 0 ? '' : ','}${JSON.stringify(group)}:`;
      yield* encodeGroup(group, groups[group]);
    }
    yield '}}';
  }
  yield ']';
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
