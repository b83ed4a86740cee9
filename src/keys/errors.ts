import { BadRequestError, NotFoundError } from '../shared/errors.ts';

/** No key has this prefix. */
export class KeyNotFoundError extends NotFoundError {
  constructor(prefix: string) {
    super(`No key has the prefix "${prefix}". List the keys to find their prefixes.`, {
      resource: 'key',
      id: prefix,
    });
  }
}

/** Invalid input of a key operation. */
export class KeyInputError extends BadRequestError {}

/** The key is revoked or expired and cannot be rotated. */
export class KeyNotActiveError extends KeyInputError {
  constructor(prefix: string, status: string) {
    super(`The key "${prefix}" is ${status} and cannot be rotated. Issue a new one.`, {
      field: 'prefix',
      value: prefix,
      limit: { status: 'active' },
    });
  }
}
