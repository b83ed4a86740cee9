/** Makes the dependencies of the service throw, one call after the other. */
export interface Faults {
  /** The same thing, whose functions may throw instead of being called. */
  wrap<T extends object>(name: string, thing: T): T;
  /** Name every call that a request makes. */
  countDuring(work: () => Promise<unknown>): Promise<readonly string[]>;
  /** Let one of these calls throw. */
  failAt<R>(at: number, work: () => Promise<R>): Promise<R>;
}

export function createFaults(): Faults {
  let calls: string[] | null = null;
  let failing = -1;
  let count = 0;
  const hit = (stage: string): void => {
    calls?.push(stage);
    if (failing < 0) return;
    count += 1;
    if (count === failing + 1) throw new Error(`fault at ${stage}`);
  };
  const wrap = <T extends object>(name: string, thing: T): T =>
    new Proxy(thing, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function' || typeof key === 'symbol') return value;
        return (...args: unknown[]) => {
          hit(`${name}.${key}`);
          return Reflect.apply(value, target, args);
        };
      },
      apply(target, self, args) {
        hit(name);
        return Reflect.apply(target as () => unknown, self, args);
      },
    });
  return {
    wrap,
    async countDuring(work) {
      calls = [];
      try {
        await work();
        return calls;
      } finally {
        calls = null;
      }
    },
    async failAt(at, work) {
      failing = at;
      count = 0;
      try {
        return await work();
      } finally {
        failing = -1;
      }
    },
  };
}
