import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { randomCalls, seeded } from './calls.ts';
import { startLab } from './lab.ts';
import { type LoadStats, startLoad } from './load.ts';

/*
 * Load one process with calls that were never seen before and tell how its memory grows once it is warm:
 * `npm run bench:soak -- [minutes] [requests per second]`.
 */

const [minutes = 30, perSecond = 100] = process.argv.slice(2).map(Number);
/** Share of the run that is left out of the slope: caches of answers fill up to their bounds (96 MB) first. */
const WARM_UP_SHARE = 0.6;
const SAMPLE_MS = 5_000;
/** A small heap is collected often: what is left of it is what is kept, and a leak ends the process. */
const HEAP_MB = 320;

interface Sample {
  readonly atMin: number;
  readonly rssMb: number;
  readonly heapMb: number;
}

const lab = await startLab();
try {
  const service = await lab.spawn({
    TRUSTED_PROXIES: '1',
    REDIS_URL: lab.redis.url,
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
  });
  await untilReady(service.url);
  const catalog = createCatalog(curatedChains);
  const load = startLoad({
    targets: () => [service.url],
    perSecond,
    maxOpen: 64,
    next: randomCalls(catalog, lab.partnerKey, seeded(1)),
  });
  const samples: Sample[] = [];
  const startedMs = Date.now();
  const totals: LoadStats[] = [];
  while (Date.now() - startedMs < minutes * 60_000) {
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    const text = await (await fetch(`${service.metricsUrl}/metrics`)).text();
    const megabytes = (name: string) =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN) / 2 ** 20;
    const sample = {
      atMin: (Date.now() - startedMs) / 60_000,
      rssMb: megabytes('process_resident_memory_bytes'),
      heapMb: megabytes('nodejs_heap_size_used_bytes'),
    };
    samples.push(sample);
    totals.push(load.take());
    if (samples.length % 12 === 0) {
      process.stderr.write(
        `${sample.atMin.toFixed(1)} min: ${sample.rssMb.toFixed(0)} MB resident, ${sample.heapMb.toFixed(0)} MB heap\n`,
      );
    }
  }
  totals.push(await load.stop());
  report(samples, totals);
} finally {
  await lab.stop();
}

function report(samples: readonly Sample[], totals: readonly LoadStats[]): void {
  const warm = samples.filter(({ atMin }) => atMin >= minutes * WARM_UP_SHARE);
  const sum = (pick: (stats: LoadStats) => Readonly<Record<string, number>>) => {
    const all: Record<string, number> = {};
    for (const stats of totals)
      for (const [key, count] of Object.entries(pick(stats))) all[key] = (all[key] ?? 0) + count;
    return all;
  };
  const range = (pick: (sample: Sample) => number) => {
    const values = warm.map(pick);
    return `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)} MB, slope ${slope(warm, pick).toFixed(2)} MB/min`;
  };
  const failures = Object.entries(sum(({ failures: failed }) => failed));
  process.stdout.write(
    [
      `Soak: ${minutes} minutes, ${totals.reduce((all, { requests }) => all + requests, 0)} requests at ${perSecond}/s, the last ${((1 - WARM_UP_SHARE) * 100).toFixed(0)} % measured, heap limited to ${HEAP_MB} MB.`,
      `Statuses: ${JSON.stringify(sum(({ statuses }) => statuses))}`,
      `Resident: ${range(({ rssMb }) => rssMb)}`,
      `Heap: ${range(({ heapMb }) => heapMb)}`,
      `Heap after collections (least of each minute): ${leastPerMinute(warm)
        .map((mb) => mb.toFixed(0))
        .join(', ')} MB`,
      `Server errors and lost answers: ${failures.length === 0 ? 'none' : failures.map(([what, count]) => `${what} x${count}`).join(', ')}`,
      '',
    ].join('\n'),
  );
}

/** Least squares, MB per minute. */
function slope(samples: readonly Sample[], pick: (sample: Sample) => number): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(samples.map(({ atMin }) => atMin)), mean(samples.map(pick))];
  const over = samples.reduce((sum, sample) => sum + (sample.atMin - x) * (pick(sample) - y), 0);
  const under = samples.reduce((sum, { atMin }) => sum + (atMin - x) ** 2, 0);
  return under === 0 ? 0 : over / under;
}

function leastPerMinute(samples: readonly Sample[]): readonly number[] {
  const least = new Map<number, number>();
  for (const { atMin, heapMb } of samples) {
    const minute = Math.floor(atMin);
    least.set(minute, Math.min(least.get(minute) ?? Number.POSITIVE_INFINITY, heapMb));
  }
  return [...least.values()];
}

async function untilReady(url: string): Promise<void> {
  while ((await fetch(`${url}/ready`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 200));
}
