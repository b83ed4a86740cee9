import { Counter, Gauge, type Registry } from 'prom-client';

/** Recording functions of reads that wait for a block or have facts measured again. */
export interface FreshReadMetrics {
  /** Count a wait by its status, or the kind of its error. */
  blockWait(outcome: string): void;
  /** Register the gauge of waits under way. */
  watchWaits(count: () => number): void;
  /** Count a measurement that a request asked for. */
  requestedRefresh(group: string, outcome: string): void;
}

export function freshReadMetrics(registers: Registry[]): FreshReadMetrics {
  const waits = new Counter({
    name: 'spiral_block_waits_total',
    help: 'Reads that waited for a block, by status or kind of error.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const refreshes = new Counter({
    name: 'spiral_requested_refreshes_total',
    help: 'Measurements that requests asked for by maxAge, afterTx or minBlock, by group of facts and outcome.',
    labelNames: ['group', 'outcome'] as const,
    registers,
  });
  return {
    blockWait: (outcome) => waits.inc({ outcome }),
    requestedRefresh: (group, outcome) => refreshes.inc({ group, outcome }),
    watchWaits: (count) =>
      void new Gauge({
        name: 'spiral_block_waits',
        help: 'Reads that wait for a block now.',
        registers,
        collect() {
          this.set(count());
        },
      }),
  };
}
