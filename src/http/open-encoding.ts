import { promisify } from 'node:util';
import zlib, { type BrotliOptions, brotliCompress, constants, deflateRaw, type ZlibOptions } from 'node:zlib';
import { ownBytes } from '../shared/bytes.ts';
import type { CONTENT_ENCODINGS, Effort } from './compression.ts';
import { BROTLI_QUALITY, GZIP_LEVEL } from './compression.ts';

/**
 * The compressed beginning of a body. It ends at a byte boundary without a last block, so that each answer adds its own end
 * uncompressed, and the beginning is compressed once.
 */
export interface OpenBody {
  readonly br: Buffer;
  readonly gzip: Buffer;
  /** CRC-32 and length of the plain beginning, for the end of a gzip body. */
  readonly crc: number;
  readonly length: number;
}

const brotliAsync = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const deflateAsync = promisify<Buffer, ZlibOptions, Buffer>(deflateRaw);

/** Compress the beginning of a body in zlib's thread pool. */
export async function compressOpen(body: Buffer, effort: Effort): Promise<OpenBody> {
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY[effort],
  };
  const [br, deflated] = await Promise.all([
    brotliAsync(body, { params, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
    deflateAsync(body, { level: GZIP_LEVEL[effort], finishFlush: constants.Z_SYNC_FLUSH }),
  ]);
  const gzip = Buffer.concat([GZIP_HEADER, deflated]);
  return { br: ownBytes(br), gzip: ownBytes(gzip), crc: crc32(body, 0), length: body.length };
}

/** Complete a body with its end, at most 65,535 bytes: the parts to send in order. */
export function closeBody(
  open: OpenBody,
  encoding: (typeof CONTENT_ENCODINGS)[number],
  end: Buffer,
): readonly Uint8Array[] {
  return encoding === 'gzip' ? closeGzip(open, end) : closeBrotli(open, end);
}

/** RFC 1952: magic number, deflate, no flags, no time, unknown system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const STORED_HEADER_BYTES = 5;

/** RFC 1951, 3.2.4: a last block without compression; then the CRC-32 and the length of the whole. */
function closeGzip({ gzip, crc, length }: OpenBody, end: Buffer): readonly Uint8Array[] {
  const header = Buffer.alloc(STORED_HEADER_BYTES);
  header.writeUInt8(1, 0);
  header.writeUInt16LE(end.length, 1);
  header.writeUInt16LE(~end.length & 0xffff, 3);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(end, crc), 0);
  trailer.writeUInt32LE((length + end.length) >>> 0, 4);
  return [gzip, header, end, trailer];
}

/** RFC 7932, 9.2: an uncompressed meta-block (length less one from bit 3 on, the flag at bit 19), then an empty last one. */
function closeBrotli({ br }: OpenBody, end: Buffer): readonly Uint8Array[] {
  const header = Buffer.alloc(3);
  header.writeUIntLE(((end.length - 1) << 3) | (1 << 19), 0, 3);
  return [br, header, end, LAST_EMPTY];
}

const LAST_EMPTY = Buffer.from([0x03]);

/** Continue a CRC-32. Releases of Node before 20.15 lack the one of zlib. */
const crc32: (bytes: Buffer, crc: number) => number = zlib.crc32 ?? slowCrc32;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** Check sum for versions of Node without `zlib.crc32`. Exported for its test. */
export function slowCrc32(bytes: Buffer, before: number): number {
  let crc = ~before;
  for (const byte of bytes) crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0);
  return ~crc >>> 0;
}
