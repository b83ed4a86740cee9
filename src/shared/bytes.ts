/**
 * Copy bytes that are cached into memory of their own. The buffer pool and zlib return slices of larger buffers, which would
 * stay in memory as long as the slice.
 */
export function ownBytes(part: Buffer): Buffer {
  if (part.length === part.buffer.byteLength) return part;
  const own = Buffer.allocUnsafeSlow(part.length);
  part.copy(own);
  return own;
}
