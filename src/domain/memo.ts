/**
 * Compute something of an immutable object once and find it by identity for as long as the object lives. Facts and catalog
 * rows outlive many compositions; what follows from one of them alone is made with it.
 */
export function oncePer<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined || made.has(key)) return known as V;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

/** The same for values that are not objects and of which there are few: what was made is kept for good. */
export function oncePerValue<K extends string | number | bigint, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined || made.has(key)) return known as V;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}
