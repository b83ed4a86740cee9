/**
 * Compute something of an immutable object once and find it by identity for as long as the object lives. Facts and catalog
 * rows outlive many compositions; what follows from one of them alone is made with it.
 */
export function oncePer<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    let entry = made.get(key);
    if (!entry) {
      entry = { value: make(key) };
      made.set(key, entry);
    }
    return entry.value;
  };
}
