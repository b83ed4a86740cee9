import { type ByteCache, type CacheFill, createByteCache } from '../shared/byte-cache.ts';
import { type CacheValidity, isValidAt } from '../shared/cache-validity.ts';
import type { Clock } from '../shared/clock.ts';
import { type Compress, MIN_COMPRESSED_BYTES } from './compression.ts';
import { compressedBodies, type EncodedBodies, plainBody } from './encoded-body.ts';
import { compressOpen, type OpenBody } from './open-encoding.ts';

/** Cost of an operation, for answers that state it. */
export interface AnswerCost {
  readonly cost?: number | undefined;
  readonly limit?: number | undefined;
}

/** A successful answer that may be cached. */
export interface Answer {
  readonly contentType: string;
  readonly body: string;
  /** Whether the body is the whole answer. To others, those of GraphQL, each request adds its extensions. */
  readonly isWhole: boolean;
  readonly cost?: AnswerCost | undefined;
}

/** A cached answer as bytes. Plain ones exist from the start, compressed ones soon after the first hit. */
export interface CachedResponse {
  readonly contentType: string;
  readonly cost: AnswerCost | undefined;
  readonly createdAtMs: number;
  /** Exclusive, ms; Infinity without a bound. */
  readonly untilMs: number;
  readonly bodies: EncodedBodies;
  /** Compressed beginning of an answer that is not whole, soon after the first hit. */
  readonly open?: OpenBody | undefined;
}

/** Cached answers of REST and GraphQL by cache key. */
export interface AnswerCache {
  find(key: string): CachedResponse | undefined;
  /** Cache an answer, if it is still valid. */
  store(key: string, answer: Answer, validity: CacheValidity): CachedResponse | undefined;
  /** Resolves when all pending compressions are done. */
  settled(): Promise<void>;
  readonly fill: CacheFill;
}

export interface AnswerCacheDeps {
  readonly clock: Clock;
  readonly compress: Compress;
  /** Maximum bytes in the cache, keys and all encodings included. */
  readonly maxBytes: number;
}

interface Entry extends CachedResponse {
  readonly validity: CacheValidity;
  readonly isWhole: boolean;
  /** Whether it is to be compressed at its next hit. */
  isPlain: boolean;
  bodies: EncodedBodies;
  open?: OpenBody | undefined;
}

/** Answers that are valid for a shorter time are compressed quickly. */
const SHORT_LIVED_MS = 5_000;
/** Memory of an entry, and of each of its bodies, beside their bytes. */
const ENTRY_BYTES = 1_024;
const BODY_BYTES = 512;

/** Create the cache of answers, each valid for a limited time, in bounded memory. */
export function createAnswerCache({ clock, compress, maxBytes }: AnswerCacheDeps): AnswerCache {
  const entries: ByteCache<Entry> = createByteCache<Entry>({ maxBytes, bytesOf });
  const compressing = new Set<Promise<void>>();

  /** If compression fails, the plain bytes stay. */
  const compressLater = (key: string, entry: Entry): void => {
    entry.isPlain = false;
    const effort = entry.untilMs - entry.createdAtMs < SHORT_LIVED_MS ? 'quick' : 'thorough';
    const { bodies: plain, isWhole } = entry;
    const made = isWhole
      ? compressedBodies(plain, compress, effort).then((bodies) => ({ bodies, open: undefined }))
      : compressOpen(plain.identity.bytes, effort).then((open) => ({ bodies: plain, open }));
    const running = made.then(
      ({ bodies, open }) => {
        entry.bodies = bodies;
        entry.open = open;
        if (entries.peek(key) === entry) entries.set(key, entry);
      },
      () => {},
    );
    compressing.add(running);
    void running.then(() => compressing.delete(running));
  };

  return {
    find(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (!isValidAt(entry.validity, clock.now())) {
        entries.delete(key);
        return undefined;
      }
      if (entry.isPlain) compressLater(key, entry);
      return entry;
    },
    store(key, { contentType, body, isWhole, cost }, validity) {
      const createdAtMs = clock.now();
      if (!isValidAt(validity, createdAtMs)) return undefined;
      const bodies = plainBody(body);
      const isPlain = bodies.identity.bytes.length >= MIN_COMPRESSED_BYTES;
      const { untilMs } = validity;
      const entry: Entry = { contentType, cost, createdAtMs, untilMs, bodies, validity, isWhole, isPlain };
      entries.set(key, entry);
      return entry;
    },
    async settled() {
      while (compressing.size > 0) await Promise.all(compressing);
    },
    fill: entries,
  };
}

function bytesOf({ bodies, open }: Entry, key: string): number {
  const opened = open === undefined ? 0 : open.br.length + open.gzip.length + 2 * BODY_BYTES;
  const sum = Object.values(bodies).reduce((total, { bytes }) => total + bytes.length + BODY_BYTES, 0);
  return sum + opened + 2 * key.length + ENTRY_BYTES;
}
