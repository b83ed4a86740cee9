/** How the global id is described on every type. */
export const GLOBAL_ID =
  'Global id of the object, for `node` and for the caches of clients. Opaque: its form may change.';
