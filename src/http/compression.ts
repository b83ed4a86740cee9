import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { type BrotliOptions, brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';

/** Smaller bodies are not compressed, because the headers are the larger part. */
export const MIN_COMPRESSED_BYTES = 1_024;

/** Supported content encodings, best first. */
export const CONTENT_ENCODINGS = ['br', 'gzip'] as const;
export type ContentEncoding = (typeof CONTENT_ENCODINGS)[number] | 'identity';

/** `quick` = for short-lived bytes. */
export type Effort = 'thorough' | 'quick';

/** Compresses outside of the event loop. */
export type Compress = (
  body: Buffer,
  effort: Effort,
) => Promise<Readonly<Record<(typeof CONTENT_ENCODINGS)[number], Buffer>>>;

/** Higher qualities take ten times as long and save a twentieth of the bytes. */
export const BROTLI_QUALITY = { thorough: 5, quick: 1 } as const;
export const GZIP_LEVEL = { thorough: 6, quick: 1 } as const;

const brotliAsync = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const gzipAsync = promisify<Buffer, { level: number }, Buffer>(gzip);

/** Compress in zlib's thread pool. */
export const compress: Compress = async (body, effort) => {
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY[effort],
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  };
  const [br, gz] = await Promise.all([brotliAsync(body, { params }), gzipAsync(body, { level: GZIP_LEVEL[effort] })]);
  return { br, gzip: gz };
};

/** Compress a body that is made for one caller, in zlib's thread pool. */
export function compressQuickly(body: Buffer, encoding: (typeof CONTENT_ENCODINGS)[number]): Promise<Buffer> {
  if (encoding === 'gzip') return gzipAsync(body, { level: GZIP_LEVEL.quick });
  const { BROTLI_PARAM_MODE, BROTLI_MODE_TEXT, BROTLI_PARAM_QUALITY } = constants;
  const params = { [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT, [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY.quick };
  return brotliAsync(body, { params });
}

/** Compress a stream, in the threads of zlib: quickly, because it is made for one caller. */
export function createCompressor(encoding: (typeof CONTENT_ENCODINGS)[number]): Transform {
  if (encoding === 'gzip') return createGzip({ level: GZIP_LEVEL.quick });
  const { BROTLI_PARAM_MODE, BROTLI_MODE_TEXT, BROTLI_PARAM_QUALITY } = constants;
  return createBrotliCompress({
    params: { [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT, [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY.quick },
  });
}

/**
 * Choose among the available encodings by an `Accept-Encoding` header: the highest weight, and of equal weights the smaller
 * body. Without the header, or without a match, the plain bytes.
 */
export function chooseEncoding(
  header: string | undefined,
  ready: (encoding: ContentEncoding) => boolean,
): ContentEncoding {
  if (header === undefined) return 'identity';
  const weights = weightsOf(header);
  let best: ContentEncoding = 'identity';
  let bestWeight = 0;
  for (const encoding of CONTENT_ENCODINGS) {
    const weight = weights.get(encoding) ?? weights.get('*') ?? 0;
    if (weight > bestWeight && ready(encoding)) [best, bestWeight] = [encoding, weight];
  }
  return (weights.get('identity') ?? 0) > bestWeight ? 'identity' : best;
}

/** Browsers and libraries send few different headers: this many are cached in parsed form, others are parsed each time. */
const MAX_KNOWN = 100;
const MAX_CHARS = 200;
const known = new Map<string, ReadonlyMap<string, number>>();

function weightsOf(header: string): ReadonlyMap<string, number> {
  const parsed = known.get(header);
  if (parsed) return parsed;
  const weights = new Map<string, number>();
  for (const part of header.slice(0, MAX_CHARS).split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    if (name !== '') weights.set(name === 'x-gzip' ? 'gzip' : name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  if (known.size < MAX_KNOWN) known.set(header, weights);
  return weights;
}

/** Check whether an `If-None-Match` header contains this entity tag. */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header === tag) return true;
  return header.split(',').some((part) => {
    const named = part.trim();
    return named === '*' || named === tag || named === `W/${tag}`;
  });
}
