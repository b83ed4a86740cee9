/** Headers by their name in lower case. An absent header has no key, because Node refuses `undefined` as a value. */
export type Headers = Readonly<Record<string, string>>;

/**
 * Join headers into a list of names and values, as `writeHead` takes them. When several groups have a name, the last value
 * counts; values of `vary` are combined. A list, because `{ ...a, ...b }` costs several times as much: V8 stops sharing hidden
 * classes of objects that begin with one of more than 1,500 different keys.
 */
export function joinHeaders(...groups: readonly Headers[]): string[] {
  const joined: string[] = [];
  for (const group of groups) {
    for (const name in group) {
      const value = group[name] ?? '';
      const at = indexOfName(joined, name);
      if (at === -1) joined.push(name, value);
      else joined[at + 1] = name === 'vary' ? `${joined[at + 1]}, ${value}` : value;
    }
  }
  return joined;
}

function indexOfName(list: readonly string[], name: string): number {
  for (let i = 0; i < list.length; i += 2) if (list[i] === name) return i;
  return -1;
}
