type Optional<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];

/** The same properties; those that may be undefined are optional. */
export type WithoutUndefined<T> = { [K in Exclude<keyof T, Optional<T>>]: T[K] } & {
  [K in Optional<T>]?: Exclude<T[K], undefined>;
};

/** Copy an object without its undefined properties, for headers, queries and spreads, where absence and undefined differ. */
export function withoutUndefined<const T extends object>(fields: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>;
}
