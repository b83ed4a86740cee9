import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Catalog } from '../../src/catalog/types.ts';
import { composeChain } from '../../src/domain/compose.ts';
import { FACT_GROUPS } from '../../src/domain/facts.ts';
import type { ComposedChain } from '../../src/domain/market/types.ts';
import { createComposition } from '../../src/services/composition.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { createMemorySnapshot } from '../../src/snapshot/memory.ts';
import { serve } from '../serve.ts';
import { NOW_MS, PARAMS, publicationsOf, refreshedFacts, syntheticChain, syntheticFacts } from '../synthetic.ts';

export interface ComposeResult {
  readonly markets: number;
  /** One composition without a pause, with all lending states and oracles refreshed since the one before; median, ms. */
  readonly atOnceMs: number;
  /** The first composition, which reads all histories, ms. */
  readonly firstMs: number;
  /** From a publish of new lending state to its composition; median, ms. */
  readonly refreshMs: number;
  /** Longest delay of the event loop while that runs, median of the rounds, ms. */
  readonly delayMs: number;
  /** The same, of the worst round. */
  readonly worstDelayMs: number;
  /** Memory at the end, of facts and composition together. */
  readonly heapBytes: number;
}

const ROUNDS = 11;
/** Enough rounds to include full collections of the heap. */
const DELAY_ROUNDS = 30;
/** Not counted: V8 plans its next collection by the waiting time of its tasks, which is long during the setup. */
const WARM_UP_ROUNDS = 15;
const DELAY_RESOLUTION_MS = 1;

/** Compose one synthetic chain, at once and in the steps of the service. */
serve<{ readonly markets: number }>(async ({ markets }) => {
  const idleBytes = process.memoryUsage().heapUsed;
  const chain = syntheticChain(markets);
  const facts = syntheticFacts(chain);
  const timed = (work: () => void): number => {
    const since = performance.now();
    work();
    return performance.now() - since;
  };
  let previous: ComposedChain | undefined;
  const once = (round: number) => {
    const next = refreshedFacts(facts, round);
    return timed(() => {
      previous = composeChain(chain, next, { ...PARAMS, nowMs: NOW_MS, previous });
    });
  };
  const firstMs = once(1);
  // A warm-up, because a running service has compiled code.
  for (let round = 2; round < 2 + WARM_UP_ROUNDS; round += 1) once(round);
  const atOnceMs = median(Array.from({ length: ROUNDS }, (_, i) => once(i + 2 + WARM_UP_ROUNDS)));

  const clock = { now: () => NOW_MS };
  const snapshot = createMemorySnapshot({ clock, logger: silentLogger });
  const catalog = { chain: () => chain } as unknown as Catalog;
  const composed = createComposition({ catalog, snapshot, clock, logger: silentLogger, params: PARAMS });
  const groups = FACT_GROUPS.filter((group) => facts.groups[group].items.size > 0);
  await snapshot.publishAll(chain.chainId, publicationsOf(facts, groups));
  await composed.settled();
  const refreshes: number[] = [];
  const delays: number[] = [];
  for (let round = 1 - WARM_UP_ROUNDS; round <= DELAY_ROUNDS; round += 1) {
    const next = refreshedFacts(facts, round + WARM_UP_ROUNDS);
    const refreshed = publicationsOf(next, ['lendingState', 'oracle']);
    await pause(20);
    const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
    delay.enable();
    await pause(20);
    delay.reset();
    // The first turn after a reset is not counted.
    await pause(2);
    const since = performance.now();
    await snapshot.publishAll(chain.chainId, refreshed);
    await composed.settled();
    const tookMs = performance.now() - since;
    await pause(5);
    if (round > 0) {
      refreshes.push(tookMs);
      delays.push(delay.max / 1e6 - DELAY_RESOLUTION_MS);
    }
    delay.disable();
  }
  if (composed(chain.chainId).markets.length !== markets) throw new Error('not everything was composed');
  globalThis.gc?.();
  const result: ComposeResult = {
    markets,
    atOnceMs,
    firstMs,
    refreshMs: median(refreshes),
    delayMs: median(delays),
    worstDelayMs: Math.max(...delays),
    heapBytes: process.memoryUsage().heapUsed - idleBytes,
  };
  return { url: '', report: { result }, stop: async () => {} };
});

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
