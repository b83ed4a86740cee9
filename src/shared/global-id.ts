import { BadRequestError } from './errors.ts';
import { formatValue } from './ids.ts';

/** A global id taken apart: the name of the object's type, and what identifies it among those of its type. */
export interface GlobalId {
  readonly typename: string;
  readonly key: string;
}

/** Longer than any id that is given out; keeps megabytes from being decoded. */
const MAX_CHARS = 512;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
const CONTENT = /^([A-Z][A-Za-z0-9]{0,63}):([ -~]+)$/;

/** Make the global id of an object. Clients take it as it is: what it is made of may change. */
export function encodeGlobalId(typename: string, key: string): string {
  return Buffer.from(`${typename}:${key}`).toString('base64url');
}

/** Take a global id apart. @throws BadRequestError naming `field` for a text that is no global id */
export function decodeGlobalId(id: string, field = 'id'): GlobalId {
  const [, typename, key] = (isEncoded(id) && CONTENT.exec(Buffer.from(id, 'base64url').toString())) || [];
  if (typename === undefined || key === undefined) throw invalidGlobalId(id, field);
  return { typename, key };
}

/** The error for a text that is no global id, or that of nothing that the service has. */
export function invalidGlobalId(id: string, field: string): BadRequestError {
  return new BadRequestError(
    `"${formatValue(id)}" is not a global id. Send the "id" of an object as an answer gave it; domain ids such as "marketId" and "strategyId" have arguments of their own.`,
    { field, value: formatValue(id), limit: { maxLength: MAX_CHARS } },
  );
}

function isEncoded(id: string): boolean {
  return id.length <= MAX_CHARS && BASE64URL.test(id);
}
