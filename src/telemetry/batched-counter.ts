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

interface Batch<L extends string> {
  readonly labels: Partial<Record<L, string>>;
  count: number;
}

/** A map per label, value by value: putting a key together would cost more than counting. */
interface Level<L extends string> {
  readonly next: Map<string, Level<L>>;
  batch?: Batch<L>;
}

/** Count what happens with every request: finding a counter by its labels is dear, so it is done when metrics are read. */
export function createBatchedCounter<L extends string>(options: BatchedCounterOptions<L>): BatchedCounter {
  const root: Level<L> = { next: new Map() };
  const batches: Batch<L>[] = [];
  new Counter<L>({
    ...options,
    collect() {
      for (const batch of batches) {
        if (batch.count > 0) this.inc(batch.labels, batch.count);
        batch.count = 0;
      }
    },
  });
  const batchAt = (level: Level<L>, values: readonly string[]): Batch<L> => {
    const labels = Object.fromEntries(options.labelNames.map((name, i) => [name, values[i] ?? '']));
    const batch: Batch<L> = { labels: labels as Partial<Record<L, string>>, count: 0 };
    batches.push(batch);
    level.batch = batch;
    return batch;
  };
  return {
    inc(...values) {
      let level = root;
      for (const value of values) {
        let next = level.next.get(value);
        if (!next) {
          next = { next: new Map() };
          level.next.set(value, next);
        }
        level = next;
      }
      (level.batch ?? batchAt(level, values)).count += 1;
    },
  };
}
