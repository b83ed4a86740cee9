/** How the global id is described on every type. */
export const GLOBAL_ID =
  'Global id of the object, for `node` and for the caches of clients. Opaque: its form may change.';

/** The type by which an object was loaded, since the object itself may not show it. */
const types = new WeakMap<object, string>();

/** Note by which type an object was found by its global id. */
export function noteLoaded(object: object, typename: string): void {
  types.set(object, typename);
}

/** Find the type of an object that was loaded by its global id. */
export function loadedTypeOf(object: unknown): string | undefined {
  return typeof object === 'object' && object !== null ? types.get(object) : undefined;
}
