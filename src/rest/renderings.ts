import { createHash } from 'node:crypto';
import { ownBytes } from '../shared/bytes.ts';
import { type CacheValidity, isValidAt } from '../shared/cache-validity.ts';
import { createKept, type Fill } from '../shared/cached.ts';
import type { Clock } from '../shared/clock.ts';
import { CODINGS, type Coding, type Compress } from './encoding.ts';

export interface Variant {
  readonly body: Buffer;
  /** The same bytes as a latin1 string, when they are few: headers and body then leave in one write. */
  readonly text?: string;
  /** Strong: from the content, one per coding. */
  readonly etag: string;
  /** As it goes on the wire. */
  readonly length: string;
}

/** The row of the table that an answer belongs to. */
export interface Row {
  /** Path template. */
  readonly path: string;
  readonly operation: string;
}

/** An answer as bytes. The plain ones are there at once, the others soon after somebody has asked again. */
export interface Rendering {
  readonly row: Row;
  readonly contentType: string;
  readonly madeAtMs: number;
  readonly untilMs: number;
  readonly variants: Readonly<Partial<Record<Coding, Variant>>> & { readonly identity: Variant };
}

export interface RenderingsDeps {
  readonly clock: Clock;
  readonly compress: Compress;
  /** Most bytes kept, keys and all codings included. */
  readonly maxBytes: number;
}

export interface Answer {
  readonly row: Row;
  readonly contentType: string;
  readonly body: string;
}

export interface Renderings {
  /** Find a rendering that still holds. The first time that it is found it begins to be compressed. */
  find(key: string): Rendering | undefined;
  /** Keep an answer, unless what it was made from has changed meanwhile. */
  keep(key: string, answer: Answer, validity: CacheValidity): Rendering | undefined;
  /** Resolves when everything kept so far is compressed. */
  settled(): Promise<void>;
  /** What is kept now. */
  readonly fill: Fill;
}

interface Kept extends Rendering {
  readonly validity: CacheValidity;
  askedAgain: boolean;
  variants: Rendering['variants'];
}

/** Below it the headers are the larger part. */
const MIN_COMPRESSED_BYTES = 1_024;
/** What holds no longer than this is compressed quickly: it is rendered again in a moment. */
const SHORT_LIVED_MS = 5_000;
/** Above it, copying costs more than a second write. */
const MAX_TEXT_BYTES = 16_384;
/** What an entry, and each of its variants with the headers that it is sent with, cost beside their bytes. */
const ENTRY_BYTES = 1_024;
const VARIANT_BYTES = 1_024;
const TAG_CHARS = 27;
const SUFFIX: Readonly<Record<Coding, string>> = { identity: '', br: '-br', gzip: '-gz' };

/** Keep answers as bytes for as long as they hold, in bounded memory: what was not asked for longest goes first. */
export function createRenderings({ clock, compress, maxBytes }: RenderingsDeps): Renderings {
  const kept = createKept<Kept>({ maxBytes, bytesOf: sizeOf });
  const compressing = new Set<Promise<void>>();

  const prepare = async (key: string, rendering: Kept): Promise<void> => {
    const { body, etag } = rendering.variants.identity;
    const effort = rendering.untilMs - rendering.madeAtMs < SHORT_LIVED_MS ? 'quick' : 'thorough';
    const compressed = await compress(body, effort);
    const hash = etag.slice(1, -1);
    for (const coding of CODINGS) {
      const smaller = compressed[coding].length < body.length;
      if (smaller)
        rendering.variants = { ...rendering.variants, [coding]: variantOf(ownBytes(compressed[coding]), hash, coding) };
    }
    if (kept.peek(key) === rendering) kept.set(key, rendering);
  };

  /** What nobody asks for again is not worth compressing. */
  const noteAsked = (key: string, rendering: Kept): void => {
    rendering.askedAgain = true;
    if (rendering.variants.identity.body.length < MIN_COMPRESSED_BYTES) return;
    // Without the compressed bytes the plain ones are as right.
    const running = prepare(key, rendering).catch(() => {});
    compressing.add(running);
    void running.then(() => compressing.delete(running));
  };

  return {
    find(key) {
      const rendering = kept.get(key);
      if (!rendering) return undefined;
      if (isValidAt(rendering.validity, clock.now())) {
        if (!rendering.askedAgain) noteAsked(key, rendering);
        return rendering;
      }
      kept.delete(key);
      return undefined;
    },
    keep(key, { row, contentType, body }, validity) {
      const madeAtMs = clock.now();
      if (!isValidAt(validity, madeAtMs)) return undefined;
      const bytes = ownBytes(Buffer.from(body));
      const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, TAG_CHARS);
      const rendering: Kept = {
        row,
        contentType,
        madeAtMs,
        untilMs: validity.untilMs,
        validity,
        askedAgain: false,
        variants: { identity: variantOf(bytes, hash, 'identity') },
      };
      kept.set(key, rendering);
      return rendering;
    },
    async settled() {
      while (compressing.size > 0) await Promise.all(compressing);
    },
    fill: kept,
  };
}

function variantOf(body: Buffer, hash: string, coding: Coding): Variant {
  const text = body.length <= MAX_TEXT_BYTES ? { text: body.toString('latin1') } : {};
  return { body, ...text, etag: `"${hash}${SUFFIX[coding]}"`, length: String(body.length) };
}

function sizeOf(rendering: Kept, key: string): number {
  const variants = Object.values(rendering.variants).reduce(
    (sum, { body, text }) => sum + body.length + (text?.length ?? 0) + VARIANT_BYTES,
    0,
  );
  return variants + 2 * key.length + ENTRY_BYTES;
}
