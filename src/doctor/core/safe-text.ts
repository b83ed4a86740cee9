/** Longest text of one cell: whoever answers decides what it holds. */
const LONGEST = 400;
/** Control characters, marks that turn or join what is beside them, separators of lines, and halves of characters. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;

/**
 * Make a text that anybody may have written fit for a terminal: nothing in it moves the cursor, colours, hides or reorders
 * what is beside it, and it is short.
 */
export function safeText(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return cut
    .replace(/[\r\n\t ]+/g, ' ')
    .replace(UNSAFE, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)
    .trim();
}

/** Take secrets out of a text, the longest first. */
export type Redact = (text: string) => string;

const SHOWN = '[secret]';
/** Shorter ones would blacken ordinary words. */
const SHORTEST = 4;

/** Create what takes secrets out of texts, in the forms in which URLs and errors repeat them. */
export function createRedact(secrets: readonly string[]): Redact {
  const forms = secrets
    .filter((secret) => secret.length >= SHORTEST)
    .flatMap((secret) => [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]);
  const found = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => found.reduce((rest, secret) => rest.split(secret).join(SHOWN), text);
}
