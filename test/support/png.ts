import { inflateSync } from 'node:zlib';

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of a pixel in one number, 0xrrggbb. Pixels are counted from the top left, row by row. */
  rgbAt(pixel: number): number;
}

const SIGNATURE_BYTES = 8;
/** Bytes of a pixel by color type: RGB and RGBA. */
const PIXEL_BYTES: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

/** Decode a picture as browsers take it: 8 bits for each color, not interlaced. */
export function decodePng(file: Buffer): Picture {
  const parts: Buffer[] = [];
  let header = file;
  for (let at = SIGNATURE_BYTES; at < file.length; ) {
    const [size, type] = [file.readUInt32BE(at), file.toString('latin1', at + 4, at + 8)];
    const content = file.subarray(at + 8, at + 8 + size);
    if (type === 'IHDR') header = content;
    if (type === 'IDAT') parts.push(content);
    at += size + 12;
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const step = PIXEL_BYTES[header[9] ?? -1];
  if (header[8] !== 8 || header[12] !== 0 || step === undefined) throw new Error('a picture of another kind');
  const bytes = inflateSync(Buffer.concat(parts));
  const row = width * step;
  /** Each row without the byte of its filter, which comes first in the file. */
  const pixels = Buffer.alloc(row * height);
  for (let y = 0; y < height; y += 1) {
    const filter = bytes[y * (row + 1)];
    const start = y * row;
    for (let x = 0; x < row; x += 1) {
      const left = x < step ? 0 : (pixels[start + x - step] ?? 0);
      const up = y === 0 ? 0 : (pixels[start + x - row] ?? 0);
      const corner = x < step || y === 0 ? 0 : (pixels[start + x - row - step] ?? 0);
      pixels[start + x] = (bytes[y * (row + 1) + 1 + x] ?? 0) + predicted(filter, left, up, corner);
    }
  }
  return { width, height, rgbAt: (pixel) => pixels.readUIntBE(pixel * step, 3) };
}

function predicted(filter: number | undefined, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const byLeft = Math.abs(up - corner);
  const byUp = Math.abs(left - corner);
  const byCorner = Math.abs(left + up - 2 * corner);
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}
