/** A key with its colon, a string that is none, or a bracket: all that matters of a text that is valid JSON. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")\s*(:)?|[{}[\]]/g;

/**
 * Find a key that one object of a JSON text has twice; `undefined` = none. Parsers keep the last one and say nothing, so
 * that of two amounts one would be guessed.
 * @param text valid JSON
 */
export function repeatedKey(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, quoted, colon] of text.matchAll(TOKEN)) {
    if (colon !== undefined && quoted !== undefined) {
      const key: string = quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1);
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    } else if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
  }
  return undefined;
}
