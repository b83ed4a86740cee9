/** Answers with their entity tags, for `If-None-Match`. */
export interface EntityTags {
  get(url: string): { readonly tag: string; readonly text: string } | undefined;
  set(url: string, tag: string, text: string): void;
}

/** Keep the answers that were used last: at most `maxEntries`, and `maxCharacters` of text. */
export function createEntityTags(maxEntries = 100, maxCharacters = 8_000_000): EntityTags {
  const entries = new Map<string, { readonly tag: string; readonly text: string }>();
  let characters = 0;
  const remove = (url: string) => {
    characters -= entries.get(url)?.text.length ?? 0;
    entries.delete(url);
  };
  return {
    get(url) {
      const found = entries.get(url);
      if (found === undefined) return undefined;
      entries.delete(url);
      entries.set(url, found);
      return found;
    },
    set(url, tag, text) {
      remove(url);
      if (text.length > maxCharacters) return;
      entries.set(url, { tag, text });
      characters += text.length;
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && characters <= maxCharacters) return;
        remove(oldest);
      }
    },
  };
}
