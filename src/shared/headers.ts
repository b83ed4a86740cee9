/** Headers by their name in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** Join headers: of a name that several groups have the last value counts, and what an answer varies with adds up. */
export function joinHeaders(...groups: readonly Headers[]): Headers {
  // Without a prototype it is a plain table. `{ ...a, ...b }` costs several times as much: V8 gives up sharing the hidden
  // classes of objects that begin with one of more than 1,500 different keys, and makes one for every header of every answer.
  const joined = Object.create(null) as Record<string, string>;
  for (const group of groups) {
    for (const name in group) {
      const value = group[name] ?? '';
      joined[name] = name === 'vary' && joined.vary !== undefined ? `${joined.vary}, ${value}` : value;
    }
  }
  return joined;
}
