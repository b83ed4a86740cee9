/** The caller of a request. The tier of a key opens the partner fields, and `ops` the ops fields as well. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'key'; readonly keyId: string; readonly tier: 'partner' | 'ops' };
