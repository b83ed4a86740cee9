import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ChainFacts, emptyGroup, FACT_GROUPS, type FactGroup, type GroupState } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { betweenEvents, letOthersRun, runInSlices, type Slicing } from '../shared/slices.ts';
import type { Timers } from '../shared/timers.ts';
import { asGroup, CODEC_VERSION, CodecError, decode, encode, encodeGroupParts } from './codec.ts';
import { createTurns } from './keyed-mutex.ts';
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
  /** How the writing is done in pieces; default: between other work of the event loop. */
  readonly slicing?: Slicing;
}

const GATHER_MS = 1_000;
/** Encoded, hashed and written in a fraction of a millisecond. */
const PART_CHARS = 65_536;
/** Room for a part in one go, whatever its characters. */
const ROOM_BYTES = 4 * PART_CHARS;

/** Create a snapshot store of one process that survives restarts in one file. Neither a damaged file nor a full disk stops it. */
export function createFileSnapshot(deps: FileSnapshotDeps): SnapshotStore {
  const { path, clock, timers, logger, gatherMs = GATHER_MS, slicing = betweenEvents } = deps;
  const local = createLocalFacts({ logger });
  const inTurn = createTurns();
  const encoded = new WeakMap<GroupState<unknown>, readonly string[]>();
  let scheduled: unknown = null;
  let dirty = false;
  let failing = false;
  let writing: Promise<void> = Promise.resolve();

  /**
   * The pieces of the body, `undefined` where work can pause before there is one; a group that did not change since it was
   * last written is not encoded again.
   */
  const bodyParts = function* (all: readonly ChainFacts[]): Pieces {
    for (const [n, { chainId, version, publishedMs, groups }] of all.entries()) {
      const head = encode({ chainId, version, publishedMs }).slice(0, -1);
      yield `${n === 0 ? '[' : ','}${head},"groups":`;
      for (const [i, group] of FACT_GROUPS.entries()) {
        yield `${i === 0 ? '{' : ','}${JSON.stringify(group)}:`;
        yield* partsOf(group, groups[group]);
      }
      yield '}}';
    }
    yield all.length === 0 ? '[]' : ']';
  };
  const partsOf = function* (group: FactGroup, state: GroupState<unknown>): Pieces {
    const known = encoded.get(state);
    if (known) return yield* known;
    const parts: string[] = [];
    for (const part of joined(encodeGroupParts(group, state))) {
      if (part !== undefined) parts.push(part);
      yield part;
    }
    encoded.set(state, parts);
  };
  const save = async (): Promise<void> => {
    if (!dirty) return;
    dirty = false;
    try {
      // Facts are immutable: what is published meanwhile is written the next time.
      const { parts, sha256 } = await runInSlices(hashing(bodyParts(local.chainIds().map(local.facts))), slicing);
      await writeAtomically(path, [`${encode({ v: CODEC_VERSION, sha256 })}\n`, ...parts, '\n'], slicing);
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
    inTurn(chainId, async () => {
      const facts = local.facts(chainId);
      const groups = await runInSlices(mergeGroups(facts, publications, clock.now()), slicing);
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
      await inTurn.settled();
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
async function writeAtomically(path: string, parts: readonly string[], slicing: Slicing): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      await writeParts(file, parts, slicing);
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

/**
 * Write parts through one buffer. A buffer for each would be the size of the file outside the heap, and their amount is what
 * makes the collector work at once instead of in pieces.
 */
async function writeParts(file: FileHandle, parts: readonly string[], slicing: Slicing): Promise<void> {
  const { now, sliceMs } = slicing;
  const encoder = new TextEncoder();
  const room = new Uint8Array(ROOM_BYTES);
  let sinceMs = now();
  for (const part of parts) {
    for (let from = 0; from < part.length; ) {
      const { read, written } = encoder.encodeInto(from === 0 ? part : part.slice(from), room);
      await file.appendFile(room.subarray(0, written));
      from += read;
      if (now() - sinceMs < sliceMs) continue;
      await letOthersRun(slicing);
      sinceMs = now();
    }
  }
}

type Pieces = Generator<string | undefined, void, void>;

/** Join pieces into larger ones, each of which is still a small piece of work to write. */
function* joined(pieces: Iterable<string>): Pieces {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    const full = text.length >= PART_CHARS;
    yield full ? text : undefined;
    if (full) text = '';
  }
  if (text !== '') yield text;
}

/** Gather pieces and their checksum, step by step. */
function* hashing(pieces: Pieces): Generator<void, { parts: readonly string[]; sha256: string }, void> {
  const hash = createHash('sha256');
  const parts: string[] = [];
  for (const piece of pieces) {
    if (piece !== undefined) {
      hash.update(piece);
      parts.push(piece);
    }
    yield;
  }
  return { parts, sha256: hash.digest('hex') };
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
