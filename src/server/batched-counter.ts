import { Counter, type Registry } from 'prom-client';

export interface BatchedCounterOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  readonly registers: Registry[];
}

export interface BatchedCounter {
  /** Count one, by the values of the labels in their order. */
  inc(...values: readonly string[]): void;
}

/** Count what happens with every request: finding a counter by its labels is dear, so it is done when metrics are read. */
export function createBatchedCounter<L extends string>(options: BatchedCounterOptions<L>): BatchedCounter {
  const pending = new Map<string, { readonly labels: Partial<Record<L, string>>; count: number }>();
  new Counter<L>({
    ...options,
    collect() {
      for (const batch of pending.values()) {
        if (batch.count > 0) this.inc(batch.labels, batch.count);
        batch.count = 0;
      }
    },
  });
  return {
    inc(...values) {
      let key = '';
      for (const value of values) key += `${value} `;
      const batch = pending.get(key);
      if (batch) {
        batch.count += 1;
        return;
      }
      const labels = Object.fromEntries(options.labelNames.map((name, i) => [name, values[i] ?? '']));
      pending.set(key, { labels: labels as Partial<Record<L, string>>, count: 1 });
    },
  };
}
