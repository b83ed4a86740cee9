/** Maximum length of a cell, because its content may come from outside. */
const MAX_LENGTH = 400;
/** Control characters, direction and joining marks, line separators, and unpaired surrogates. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;

/**
 * Make a text from outside safe for a terminal: it cannot move the cursor, colour, hide or reorder other text, and it is
 * short.
 */
export function safeText(text: string): string {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return cut
    .replace(/[\r\n\t ]+/g, ' ')
    .replace(UNSAFE, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)
    .trim();
}

/** Removes secrets from a text, the longest first. */
export type Redact = (text: string) => string;

const REPLACEMENT = '[secret]';
/** Shorter secrets would remove ordinary words. */
const MIN_SECRET_LENGTH = 4;

/** Create the function that removes secrets from texts, in the encodings in which URLs and errors repeat them. */
export function createRedact(secrets: readonly string[]): Redact {
  const forms = secrets
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]);
  const found = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => found.reduce((rest, secret) => rest.split(secret).join(REPLACEMENT), text);
}
