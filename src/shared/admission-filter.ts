const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * Create a filter that remembers the last `max` to `2 * max` different keys. Only their hashes are stored (32-bit FNV-1a):
 * about one key in `2^32 / max` is wrongly taken for a known one.
 * @returns a function that returns whether a key came before, and remembers it
 */
export function createAdmissionFilter(max: number): (key: string) => boolean {
  let young = new Set<number>();
  let old = new Set<number>();
  return (key) => {
    const hash = hashOf(key);
    if (young.has(hash)) return true;
    const known = old.has(hash);
    young.add(hash);
    if (young.size >= max) {
      old = young;
      young = new Set();
    }
    return known;
  };
}

function hashOf(text: string): number {
  let hash = FNV_OFFSET;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash;
}
