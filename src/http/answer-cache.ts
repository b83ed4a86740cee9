import { type ByteCache, type CacheFill, createByteCache } from '../shared/byte-cache.ts';
import { type CacheValidity, isValidAt } from '../shared/cache-validity.ts';
import type { Clock } from '../shared/clock.ts';
import type { Compress } from './compression.ts';
import { compressedBodies, type EncodedBodies, plainBody } from './encoded-body.ts';

/** What is told of the cost of an operation, in answers that tell it. */
export interface AnswerCost {
  readonly cost?: number | undefined;
  readonly limit?: number | undefined;
}

/** A successful answer that may be given again. */
export interface Answer {
  readonly contentType: string;
  readonly body: string;
  /** Whether the body is the whole answer: such a body is compressed. Answers of GraphQL get extensions of their own. */
  readonly isWhole: boolean;
  readonly cost?: AnswerCost | undefined;
}

/** A cached answer as bytes. The plain ones are there at once, compressed ones soon after it was found for the first time. */
export interface CachedResponse {
  readonly contentType: string;
  readonly cost: AnswerCost | undefined;
  readonly createdAtMs: number;
  /** Exclusive, ms; Infinity without a bound. */
  readonly untilMs: number;
  readonly bodies: EncodedBodies;
}

/** Answers of REST and GraphQL by what was asked. */
export interface AnswerCache {
  /** Find an answer that is still valid. */
  find(key: string): CachedResponse | undefined;
  /** Cache an answer, unless it is not valid any more. */
  store(key: string, answer: Answer, validity: CacheValidity): CachedResponse | undefined;
  /** Resolves when everything cached so far is compressed. */
  settled(): Promise<void>;
  readonly fill: CacheFill;
}

export interface AnswerCacheDeps {
  readonly clock: Clock;
  readonly compress: Compress;
  /** Most bytes cached, keys and all encodings included. */
  readonly maxBytes: number;
}

interface Entry extends CachedResponse {
  readonly validity: CacheValidity;
  /** Whether it is still to be compressed once somebody asks for it again. */
  isPlain: boolean;
  bodies: EncodedBodies;
}

/** Below it the headers are the larger part. */
const MIN_COMPRESSED_BYTES = 1_024;
/** What is valid no longer than this is compressed quickly: it is made again in a moment. */
const SHORT_LIVED_MS = 5_000;
/** What an entry, and each of its bodies, cost beside their bytes. */
const ENTRY_BYTES = 1_024;
const BODY_BYTES = 512;

/** Cache answers for as long as they are valid, in bounded memory. */
export function createAnswerCache({ clock, compress, maxBytes }: AnswerCacheDeps): AnswerCache {
  const entries: ByteCache<Entry> = createByteCache<Entry>({ maxBytes, bytesOf });
  const compressing = new Set<Promise<void>>();

  /** Without the compressed bytes the plain ones are as right. */
  const compressLater = (key: string, entry: Entry): void => {
    entry.isPlain = false;
    const effort = entry.untilMs - entry.createdAtMs < SHORT_LIVED_MS ? 'quick' : 'thorough';
    const running = compressedBodies(entry.bodies, compress, effort).then(
      (bodies) => {
        entry.bodies = bodies;
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
      const isPlain = isWhole && bodies.identity.bytes.length >= MIN_COMPRESSED_BYTES;
      const { untilMs } = validity;
      const entry: Entry = { contentType, cost, createdAtMs, untilMs, bodies, validity, isPlain };
      entries.set(key, entry);
      return entry;
    },
    async settled() {
      while (compressing.size > 0) await Promise.all(compressing);
    },
    fill: entries,
  };
}

function bytesOf({ bodies }: Entry, key: string): number {
  const sum = Object.values(bodies).reduce((total, { bytes }) => total + bytes.length + BODY_BYTES, 0);
  return sum + 2 * key.length + ENTRY_BYTES;
}
