import { BadRequestError } from './errors.ts';
import { formatValue } from './ids.ts';

/** A decoded global id: the type of the object, and its key within the type. */
export interface GlobalId {
  readonly typename: string;
  readonly key: string;
}

/** Longer than any valid id, so that long texts are not decoded. */
const MAX_CHARS = 512;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
const CONTENT = /^([A-Z][A-Za-z0-9]{0,63}):([ -~]+)$/;

/** Encode the global id of an object. It is opaque to clients: its content may change. */
export function encodeGlobalId(typename: string, key: string): string {
  return Buffer.from(`${typename}:${key}`).toString('base64url');
}

/**
 * Decode a global id.
 * @throws BadRequestError naming `field` for any other text
 */
export function decodeGlobalId(id: string, field = 'id'): GlobalId {
  const [, typename, key] = (isEncoded(id) && CONTENT.exec(Buffer.from(id, 'base64url').toString())) || [];
  if (typename === undefined || key === undefined) throw invalidGlobalId(id, field);
  return { typename, key };
}

/** The error for a text that is not a global id, or is the id of no object. */
export function invalidGlobalId(id: string, field: string): BadRequestError {
  return new BadRequestError(
    `"${formatValue(id)}" is not a global id. Send the "id" of an object as an answer gave it; domain ids such as "marketId" and "strategyId" have arguments of their own.`,
    { field, value: formatValue(id), limit: { maxLength: MAX_CHARS } },
  );
}

function isEncoded(id: string): boolean {
  return id.length <= MAX_CHARS && BASE64URL.test(id);
}
