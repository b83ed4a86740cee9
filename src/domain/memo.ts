interface Store<K, V> {
  get(key: K): V | undefined;
  has(key: K): boolean;
  set(key: K, value: V): unknown;
}

/**
 * Compute something of an immutable object once and find it by identity for as long as the object lives. Facts and catalog
 * rows outlive many compositions; what follows from one of them alone is made with it.
 */
export function oncePer<K extends object, V>(make: (key: K) => V): (key: K) => V {
  return remembering(new WeakMap<K, V>(), make);
}

/** The same for values that are not objects and of which there are few: what was made is kept for good. */
export function oncePerValue<K extends string | number | bigint, V>(make: (key: K) => V): (key: K) => V {
  return remembering(new Map<K, V>(), make);
}

function remembering<K, V>(made: Store<K, V>, make: (key: K) => V): (key: K) => V {
  return (key) => {
    const known = made.get(key);
    if (known !== undefined || made.has(key)) return known as V;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}
