import { createHash, randomBytes, randomInt } from 'node:crypto';
import type { KeyTier } from '../database/keys.ts';

/** Without `_`, which separates the parts. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX_ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
const PREFIX_LENGTH = 8;
const SECRET_BYTES = 32;
/** Base-62 digits of 256 bits. */
const SECRET_LENGTH = 43;
/** Base-62 digits of 32 bits. */
const CHECKSUM_LENGTH = 6;

const PATTERN = new RegExp(
  `^sg_(partner|ops)_([0-9a-z]{${PREFIX_LENGTH}})_([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

export interface ParsedKey {
  readonly tier: KeyTier;
  readonly prefix: string;
}

/** Make a new key `sg_<tier>_<prefix>_<secret><checksum>` with a secret of 256 random bits. */
export function generateKey(tier: KeyTier): ParsedKey & { readonly text: string } {
  const prefix = Array.from({ length: PREFIX_LENGTH }, () => PREFIX_ALPHABET[randomInt(PREFIX_ALPHABET.length)]).join(
    '',
  );
  const body = `sg_${tier}_${prefix}_${toBase62(randomBytes(SECRET_BYTES), SECRET_LENGTH)}`;
  return { tier, prefix, text: `${body}${checksum(body)}` };
}

/**
 * Parse the public parts of a key, or `null` when the text is not one. A typo is detected here, without a database. The
 * checksum is not secret and does not authenticate.
 */
export function parseKey(text: string): ParsedKey | null {
  const match = PATTERN.exec(text);
  if (match === null) return null;
  const [, tier, prefix, , sum] = match;
  if (prefix === undefined || sum !== checksum(text.slice(0, -CHECKSUM_LENGTH))) return null;
  return { tier: tier === 'ops' ? 'ops' : 'partner', prefix };
}

function checksum(body: string): string {
  return toBase62(createHash('sha256').update(body).digest().subarray(0, 4), CHECKSUM_LENGTH);
}

function toBase62(bytes: Buffer, length: number): string {
  const base = BigInt(ALPHABET.length);
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let digit = 0; digit < length; digit += 1) {
    text = `${ALPHABET[Number(rest % base)]}${text}`;
    rest /= base;
  }
  return text;
}
