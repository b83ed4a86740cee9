import { createHash } from 'node:crypto';
import { ownBytes } from '../shared/bytes.ts';
import {
  CONTENT_ENCODINGS,
  type Compress,
  type ContentEncoding,
  chooseEncoding,
  type Effort,
  matchesTag,
} from './compression.ts';

export interface EncodedBody {
  readonly bytes: Buffer;
  /** Strong entity tag, by the content and the encoding. */
  readonly etag: string;
}

/** A body in every content encoding that makes it smaller. */
export interface EncodedBodies {
  readonly identity: EncodedBody;
  readonly br?: EncodedBody | undefined;
  readonly gzip?: EncodedBody | undefined;
}

/** The body to send to a caller. */
export interface ChosenBody extends EncodedBody {
  readonly encoding: ContentEncoding;
  /** Whether the caller has these bytes already. */
  readonly isKnown: boolean;
}

const HASH_CHARS = 27;
const SUFFIX: Readonly<Record<ContentEncoding, string>> = { identity: '', br: '-br', gzip: '-gz' };

/** Hash and tag a body without encodings. */
export function plainBody(content: string | Uint8Array): EncodedBodies {
  const bytes = ownBytes(typeof content === 'string' ? Buffer.from(content) : Buffer.from(content));
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, HASH_CHARS);
  return { identity: { bytes, etag: `"${hash}"` } };
}

/** Compress a body, outside of the event loop, in the encodings that make it smaller. */
export async function compressedBodies(
  { identity }: EncodedBodies,
  compress: Compress,
  effort: Effort,
): Promise<EncodedBodies> {
  const compressed = await compress(identity.bytes, effort);
  const smaller = CONTENT_ENCODINGS.filter((encoding) => compressed[encoding].length < identity.bytes.length);
  const hash = hashOf({ identity });
  const encoded = smaller.map((encoding) => {
    const etag = `"${hash}${SUFFIX[encoding]}"`;
    return [encoding, { bytes: ownBytes(compressed[encoding]), etag }] as const;
  });
  return { identity, ...Object.fromEntries(encoded) };
}

/** The hash of the content, safe in URLs. */
export function hashOf({ identity }: EncodedBodies): string {
  return identity.etag.slice(1, -1);
}

/** Choose by `Accept-Encoding` and `If-None-Match`. */
export function chooseBody(bodies: EncodedBodies, headers: Readonly<Record<string, string | undefined>>): ChosenBody {
  const encoding = chooseEncoding(headers['accept-encoding'], (name) => bodies[name] !== undefined);
  const { bytes, etag } = bodies[encoding] ?? bodies.identity;
  return { bytes, etag, encoding, isKnown: matchesTag(headers['if-none-match'], etag) };
}
