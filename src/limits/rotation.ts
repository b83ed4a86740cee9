/** Items in groups of groups. Taking an item moves its group, on each level, behind the others. */
export interface Rotation<T> {
  /**
   * Add an item.
   * @param path its groups, the outermost first
   * @returns the function that removes it
   */
  add(path: readonly string[], item: T): () => void;
  /** Take the next item; `undefined` = there is none. */
  next(): T | undefined;
  readonly isEmpty: boolean;
  /** The most turns until a new item of these groups is taken, its own included. */
  turnsOf(path: readonly string[]): number;
}

interface Group<T> {
  readonly name: string;
  readonly parent: Group<T> | undefined;
  readonly groups: Map<string, Group<T>>;
  /** Entries of the innermost groups, each an object of its own. */
  readonly items: Set<{ readonly item: T }>;
}

export function createRotation<T>(): Rotation<T> {
  const make = (name: string, parent: Group<T> | undefined): Group<T> => ({
    name,
    parent,
    groups: new Map(),
    items: new Set(),
  });
  const root = make('', undefined);
  const inner = (group: Group<T>, name: string): Group<T> => {
    const found = group.groups.get(name) ?? make(name, group);
    group.groups.set(name, found);
    return found;
  };
  const remove = (group: Group<T>, entry: { readonly item: T }): void => {
    group.items.delete(entry);
    let emptied: Group<T> | undefined = group;
    while (emptied?.parent && emptied.items.size === 0 && emptied.groups.size === 0) {
      emptied.parent.groups.delete(emptied.name);
      emptied = emptied.parent;
    }
  };
  return {
    add(path, item) {
      const group = path.reduce(inner, root);
      const entry = { item };
      group.items.add(entry);
      return () => {
        if (group.items.has(entry)) remove(group, entry);
      };
    },
    next() {
      let group = root;
      for (let [first] = group.groups.values(); first !== undefined; [first] = group.groups.values()) {
        group.groups.delete(first.name);
        group.groups.set(first.name, first);
        group = first;
      }
      const [entry] = group.items;
      if (entry !== undefined) remove(group, entry);
      return entry?.item;
    },
    get isEmpty() {
      return root.groups.size === 0;
    },
    turnsOf(path) {
      let group: Group<T> | undefined = root;
      let turns = 1;
      for (const name of path) {
        const own: Group<T> | undefined = group?.groups.get(name);
        turns *= (group?.groups.size ?? 0) + (own === undefined ? 1 : 0);
        group = own;
      }
      return turns * ((group?.items.size ?? 0) + 1);
    },
  };
}
