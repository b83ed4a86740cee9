/**
 * Give bytes that are to be kept memory of their own. The buffer pool and zlib hand out parts of larger pieces, which would
 * stay in memory for as long as one part of them is kept.
 */
export function ownBytes(part: Buffer): Buffer {
  if (part.length === part.buffer.byteLength) return part;
  const own = Buffer.allocUnsafeSlow(part.length);
  part.copy(own);
  return own;
}
