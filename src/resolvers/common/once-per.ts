/**
 * Compute a value once per object, for objects of a composed version: they never change, and many answers are made from them.
 * The value is forgotten with its object.
 */
export function oncePer<K extends object, V>(compute: (object: K) => V): (object: K) => V {
  const values = new WeakMap<K, { readonly value: V }>();
  return (object) => {
    const known = values.get(object);
    if (known !== undefined) return known.value;
    const value = compute(object);
    values.set(object, { value });
    return value;
  };
}
