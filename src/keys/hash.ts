import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Compared with when there is no such key, so that the timing is the same. No key has this hash. */
const NO_KEY_HASH = Buffer.alloc(32);

/**
 * Hash a key for storage. One round is enough for a secret of 256 random bits.
 * @param pepper - a secret outside the database; changing it invalidates every key.
 */
export function hashKey(text: string, pepper: string | undefined): Buffer {
  return pepper === undefined
    ? createHash('sha256').update(text).digest()
    : createHmac('sha256', pepper).update(text).digest();
}

/** Compare a hash with the stored one in constant time; `null` means no stored key and never matches. */
export function matchesHash(hash: Buffer, stored: Buffer | null): boolean {
  const other = stored?.length === hash.length ? stored : NO_KEY_HASH;
  return timingSafeEqual(hash, other) && other !== NO_KEY_HASH;
}
