const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * Remember which keys came before, for the last `max` to `2 * max` different ones. Only their hashes are kept (32-bit
 * FNV-1a): about one key in `2^32 / max` is taken for one that was seen.
 * @returns a function that tells whether a key came before, and remembers it
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
