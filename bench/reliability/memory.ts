/** Memory of a process. */
export interface Sample {
  readonly atMin: number;
  readonly rssMb: number;
  readonly heapMb: number;
  /** Memory of V8's heap: used, free and fragmented. */
  readonly heapTotalMb: number;
  /** Buffers and other memory outside the heap. */
  readonly externalMb: number;
  /** Size that the caches of answers report. */
  readonly cacheMb: number;
}

/** The heap after a full collection. */
export interface Collection {
  readonly atMin: number;
  readonly heapMb: number;
}

const MB = 2 ** 20;

/**
 * A module for `--import`: the process prints the heap after every full collection to stderr. V8 decides on the
 * collections, as in an ordinary run.
 */
export const REPORT_COLLECTIONS = `data:text/javascript,${encodeURIComponent(`
import { PerformanceObserver, constants } from 'node:perf_hooks';
new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries()) {
    if (detail.kind !== constants.NODE_PERFORMANCE_GC_MAJOR) continue;
    process.stderr.write(JSON.stringify({ msg: 'collected', time: Date.now(), heapUsed: process.memoryUsage().heapUsed }) + '\\n');
  }
}).observe({ entryTypes: ['gc'] });
`)}`;

/** Find the heap after full collections in a log. */
export function collectionsIn(log: readonly string[], startedMs: number): readonly Collection[] {
  return log
    .filter((line) => line.includes('"msg":"collected"'))
    .map((line) => JSON.parse(line) as { readonly time: number; readonly heapUsed: number })
    .map(({ time, heapUsed }) => ({ atMin: (time - startedMs) / 60_000, heapMb: heapUsed / MB }));
}

/** Read a sample from the metrics of a process. */
export async function readMemory(metricsUrl: string, startedMs: number): Promise<Sample> {
  const text = await (await fetch(metricsUrl)).text();
  /** The sum of a metric over its labels, MB. */
  const megabytes = (name: string) => {
    const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].map(([, value]) =>
      Number(value),
    );
    return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / MB;
  };
  return {
    atMin: (Date.now() - startedMs) / 60_000,
    rssMb: megabytes('process_resident_memory_bytes'),
    heapMb: megabytes('nodejs_heap_size_used_bytes'),
    heapTotalMb: megabytes('nodejs_heap_size_total_bytes'),
    externalMb: megabytes('nodejs_external_memory_bytes'),
    cacheMb: megabytes('spiral_cache_bytes'),
  };
}
