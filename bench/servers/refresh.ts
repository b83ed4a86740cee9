import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Catalog } from '../../src/catalog/types.ts';
import { createChainReader } from '../../src/chain/reader.ts';
import { createChainNodes } from '../../src/chain/rpc/nodes.ts';
import { FACT_GROUPS } from '../../src/domain/facts.ts';
import { createComposition } from '../../src/services/composition.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { createFileSnapshot } from '../../src/snapshot/file.ts';
import { createLendingStateWarmer } from '../../src/warmers/lending-state.ts';
import { serve } from '../serve.ts';
import { NOW_MS, PARAMS, publicationsOf, syntheticChain, syntheticFacts } from '../synthetic.ts';

export interface RefreshResult {
  readonly markets: number;
  /** From the first request to the composition; median, ms. The node answers on another core. */
  readonly wallMs: number;
  /** CPU time of this process alone, writing the snapshot file included; median, ms. */
  readonly cpuMs: number;
  /** HTTP requests of one refresh. */
  readonly requests: number;
  /** Longest delay of the event loop while that runs, median of the rounds, ms. */
  readonly delayMs: number;
  /** The same, of the worst round. */
  readonly worstDelayMs: number;
}

/** Enough rounds to include full collections of the heap. */
const MAX_ROUNDS = 30;
/** Rounds of a large chain take seconds each. */
const MARKETS_IN_ALL = 60_000;
const DELAY_RESOLUTION_MS = 1;

/** Refresh a synthetic chain as the service does it: the warmer reads a node, publishes, and the chain is composed again. */
serve<{ readonly markets: number; readonly rpcUrl: string }>(async ({ markets, rpcUrl }) => {
  const chain = syntheticChain(markets);
  let requests = 0;
  const clock = { now: () => NOW_MS };
  const nodes = createChainNodes({
    chainId: 1,
    urls: [rpcUrl],
    clock,
    logger: silentLogger,
    retryCount: 0,
    fetchOf: () => (input, init) => {
      requests += 1;
      return fetch(input, init);
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-bench-'));
  const snapshot = createFileSnapshot({
    path: join(folder, 'snapshot.json'),
    clock,
    timers: systemTimers,
    logger: silentLogger,
    keep: () => () => true,
  });
  const catalog = { chain: () => chain } as unknown as Catalog;
  const composed = createComposition({ catalog, snapshot, clock, logger: silentLogger, params: PARAMS });
  const facts = syntheticFacts(chain);
  await snapshot.publishAll(
    chain.chainId,
    publicationsOf(
      facts,
      FACT_GROUPS.filter((group) => facts.groups[group].items.size > 0),
    ),
  );
  await composed.settled();
  await snapshot.close();
  const warmer = createLendingStateWarmer(
    { snapshot, clock, logger: silentLogger, recordSamples: async () => {}, recordMarkets: async () => {} },
    chain,
    createChainReader({ nodes, chain, clock }),
    60,
  );
  const counted = Math.min(MAX_ROUNDS, Math.ceil(MARKETS_IN_ALL / markets));
  // Not counted: the code is compiled, and V8 plans its next collection by the waiting time of its tasks during the setup.
  const warmUp = Math.ceil(counted / 2);
  const rounds: { wallMs: number; cpuMs: number; delayMs: number }[] = [];
  for (let round = 1 - warmUp; round <= counted; round += 1) {
    const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
    delay.enable();
    await new Promise((resolve) => setTimeout(resolve, 20));
    delay.reset();
    // The first turn after a reset is not counted.
    await new Promise((resolve) => setTimeout(resolve, 2));
    requests = 0;
    const cpu = process.cpuUsage();
    const since = performance.now();
    await warmer.run(new AbortController().signal, 'all');
    await composed.settled();
    const wallMs = performance.now() - since;
    // The write of the file a second later counts too, except for the time of the disk.
    await snapshot.close();
    const { user, system } = process.cpuUsage(cpu);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const delayMs = delay.max / 1e6 - DELAY_RESOLUTION_MS;
    delay.disable();
    if (round > 0) rounds.push({ wallMs, cpuMs: (user + system) / 1_000, delayMs });
  }
  const middle = (of: (round: (typeof rounds)[number]) => number) =>
    rounds.map(of).sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? Number.NaN;
  const result: RefreshResult = {
    markets,
    wallMs: middle(({ wallMs }) => wallMs),
    cpuMs: middle(({ cpuMs }) => cpuMs),
    requests,
    delayMs: middle(({ delayMs }) => delayMs),
    worstDelayMs: Math.max(...rounds.map(({ delayMs }) => delayMs)),
  };
  return { url: '', report: { result }, stop: () => rm(folder, { recursive: true, force: true }) };
});
