import { UnauthorizedError } from '../../shared/errors.ts';

/** The caller of a request. The tier of a key opens the partner fields, and `ops` the ops fields as well. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'key'; readonly keyId: string; readonly tier: 'partner' | 'ops' };

/** The key of a caller. @throws UnauthorizedError */
export function keyOf({ caller }: { readonly caller: Caller }): string {
  if (caller.kind !== 'key') throw new UnauthorizedError();
  return caller.keyId;
}
