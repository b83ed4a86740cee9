import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { randomCalls, seeded } from './calls.ts';
import { startLab } from './environment.ts';
import { type LoadStats, startLoad } from './load.ts';
import { collectionsIn, REPORT_COLLECTIONS, readMemory, type Sample } from './memory.ts';
import { judge, reportOf } from './verdict.ts';

/*
 * Load one process with new calls, and report the growth of its memory once it is warm, and its
 * answers: `npm run bench:soak -- [minutes] [requests per second]`. Exits with 1 when memory grows or when an answer is
 * neither the requested data nor a refusal.
 */

const [minutes = 30, perSecond = 100] = process.argv.slice(2).map(Number);
/**
 * The first part of the run fills the bounded structures (counts of addresses, verdicts on keys, parsed documents,
 * cached answers) to their bounds: the largest of them takes two hundred thousand of these calls.
 */
const WARM_UP_MINUTES = minutes * 0.3;
const WARM_UP_REQUESTS = 200_000;
const MAX_WARM_UP_PER_SECOND = 400;
const SAMPLE_MS = 5_000;
/** A small heap is collected often, so it shows the retained memory, and a leak ends the process. */
const HEAP_MB = 320;

const lab = await startLab();
try {
  const service = await lab.spawn({
    TRUSTED_PROXIES: '1',
    REDIS_URL: lab.redis.url,
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} --import ${REPORT_COLLECTIONS}`,
  });
  while ((await fetch(`${service.url}/ready`)).status !== 200) await pause(200);
  const startedMs = Date.now();
  const next = randomCalls(createCatalog(curatedChains), lab.partnerKey, seeded(1));
  const samples: Sample[] = [];
  const totals: LoadStats[] = [];
  const loadUntil = async (minute: number, rate: number) => {
    const load = startLoad({ targets: () => [service.url], perSecond: rate, maxOpen: 64, next });
    while (Date.now() - startedMs < minute * 60_000) {
      await pause(SAMPLE_MS);
      const sample = await readMemory(`${service.metricsUrl}/metrics`, startedMs);
      samples.push(sample);
      totals.push(load.take());
      if (samples.length % (60_000 / SAMPLE_MS) === 0) process.stderr.write(`${progress(sample)}\n`);
    }
    totals.push(await load.stop());
  };
  const warmUpPerSecond = Math.min(MAX_WARM_UP_PER_SECOND, Math.ceil(WARM_UP_REQUESTS / (WARM_UP_MINUTES * 60)));
  await loadUntil(WARM_UP_MINUTES, Math.max(perSecond, warmUpPerSecond));
  const warmFrom = totals.length;
  await loadUntil(minutes, perSecond);
  const run = {
    minutes,
    warmMinutes: WARM_UP_MINUTES,
    perSecond,
    heapLimitMb: HEAP_MB,
    samples,
    warmUp: totals.slice(0, warmFrom),
    measured: totals.slice(warmFrom),
    collections: collectionsIn(service.log, startedMs),
  };
  const verdict = judge(run);
  process.stdout.write(`${reportOf(run, verdict)}\n`);
  if (verdict.faults.length > 0) process.exitCode = 1;
} finally {
  await lab.stop();
}

function progress({ atMin, rssMb, heapMb, externalMb, cacheMb }: Sample): string {
  const mb = (value: number) => value.toFixed(0);
  return `${atMin.toFixed(1)} min: ${mb(rssMb)} MB resident, ${mb(heapMb)} MB heap, ${mb(externalMb)} MB external, ${mb(cacheMb)} MB kept answers`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
