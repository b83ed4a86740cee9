/** One typo is allowed per this many letters, because in a short name every letter counts. */
const LETTERS_PER_TYPO = 5;
const MAX_TYPOS = 3;

/** Find the known name nearest to a name; `undefined` where none is near. Case and separators are ignored. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const plain = plainOf(name);
  const limit = Math.min(MAX_TYPOS, Math.floor(plain.length / LETTERS_PER_TYPO));
  const [best] = known
    // Each letter more or less is a typo. Comparing takes the product of both lengths, and callers choose one of them.
    .filter((candidate) => Math.abs(candidate.length - name.length) <= limit)
    .map((candidate) => ({ candidate, typos: distance(plain, plainOf(candidate)) }))
    .filter(({ typos }) => typos <= limit)
    .sort((a, b) => a.typos - b.typos);
  return best?.candidate;
}

function plainOf(name: string): string {
  return name.toUpperCase().replace(/[-_.]/g, '_');
}

/** Count the letters to insert, delete, replace, or swap with their neighbour. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const at = (up: number, left: number) => rows[i - up]?.[j - left] ?? Number.POSITIVE_INFINITY;
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        at(1, 0) + 1,
        (row[j - 1] ?? 0) + 1,
        at(1, 1) + (isSame ? 0 : 1),
        isSwapped && i > 1 && j > 1 ? at(2, 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? Number.POSITIVE_INFINITY;
}
