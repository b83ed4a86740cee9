import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getAddress, numberToHex, pad } from 'viem';
import { seedRegistrations } from '../../devnet/seed-database.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { createDatabase } from '../../src/database/client.ts';
import { createDriftSightingRepository } from '../../src/database/drift-sightings.ts';
import { createPartSales } from '../../src/database/history/part-sales.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { createPortfolioSampleRepository } from '../../src/database/portfolio-samples.ts';
import { createProxyRepository } from '../../src/database/proxies.ts';
import { createRegistrationRepository } from '../../src/database/registrations.ts';
import { composeChain } from '../../src/domain/compose.ts';
import { queryPortfolios } from '../../src/domain/portfolio/query.ts';
import { createPortfolios } from '../../src/services/portfolios.ts';
import { createWalletDirectory } from '../../src/services/wallets.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { completeFacts, NOW_MS, PARAMS } from '../../test/domain/world.ts';
import { startTestGateway, UNLIMITED } from '../../test/http/test-gateway.ts';
import { serve } from '../serve.ts';
import { PER_WALLET, registrationsOf, syntheticReader } from '../synthetic-wallets.ts';

export interface OpsInput {
  readonly wallets: number;
  readonly databaseUrl: string;
}

export interface OpsResult {
  readonly positions: number;
  readonly firstMs: number;
  readonly againMs: number;
  /** Longest delay of the event loop while a report was computed, ms. */
  readonly delayMs: number;
  readonly rpcRequests: number;
  readonly sqlStatements: number;
  /** Heap of a report. */
  readonly reportBytes: number;
  readonly firstQueryMs: number;
  readonly queryMs: number;
  readonly sumMs: number;
}

/** The same, since the last call. */
export interface OpsLoad {
  readonly delayMs: number;
  /** The heap now, and the largest one. */
  readonly heapBytes: number;
  readonly peakHeapBytes: number;
}

const CHAIN_ID = 4663;
const DELAY_RESOLUTION_MS = 1;
const SAMPLE_MS = 5;
const SETTLE_MS = 1_000;

/**
 * The report of all portfolios over HTTP: a synthetic chain reader that answers at once, and a real Postgres with the register. A
 * reading of holdings counts as the two requests that the real reader makes.
 */
serve<OpsInput>(async ({ wallets, databaseUrl }) => {
  let sqlStatements = 0;
  await migrateDatabase(databaseUrl);
  const db = createDatabase(
    { url: databaseUrl, poolSize: 2, statementTimeoutMs: 60_000 },
    {
      onQuery: () => {
        sqlStatements += 1;
      },
    },
  );
  const catalog = createCatalog(curatedChains);
  const chain = catalog.chain(CHAIN_ID);
  if (!chain) throw new Error(`no chain ${CHAIN_ID}`);
  const owners = Array.from({ length: wallets }, (_, n) => getAddress(pad(numberToHex(n * 7_919 + 1), { size: 20 })));
  await seedRegistrations(db, registrationsOf(chain, owners));
  const { reader, requests } = syntheticReader(chain, owners);
  const readers = new Map([[CHAIN_ID, reader]]);
  const facts = completeFacts(chain);
  const composed = composeChain(chain, facts, PARAMS);
  let nowMs = NOW_MS;
  const ops = createPortfolios({
    catalog,
    readers,
    directory: createWalletDirectory({ catalog, readers, proxies: createProxyRepository(db), logger: silentLogger }),
    registrations: createRegistrationRepository(db),
    partSales: createPartSales(db),
    drift: createDriftSightingRepository(db, { now: () => nowMs }),
    samples: createPortfolioSampleRepository(db, systemClock),
    composed: () => composed,
    facts: () => facts,
    clock: { now: () => nowMs },
    timers: systemTimers,
    logger: silentLogger,
    staleAfterSec: 60,
  });
  const load = watchLoad();
  global.gc?.();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const idleBytes = process.memoryUsage().heapUsed;
  const firstMs = await timed(() => ops.report(CHAIN_ID));
  nowMs += 61_000;
  sqlStatements = 0;
  requests.count = 0;
  await load.take();
  // The older report is served until the new one is ready: repeat the request until then.
  const againMs = await timed(async () => {
    while ((await ops.report(CHAIN_ID)).report.computedAtMs !== nowMs);
  });
  const { delayMs } = await load.take();
  const counted = { rpcRequests: requests.count, sqlStatements };
  global.gc?.();
  const reportBytes = process.memoryUsage().heapUsed - idleBytes;
  const { report } = await ops.report(CHAIN_ID);
  const query = () =>
    queryPortfolios([report], {
      filter: {},
      order: 'headroom',
      direction: 'asc',
      window: { size: 50, fromEnd: false },
    });
  const [firstQueryMs, queryMs] = [await timed(query), await timed(query)];
  const sumMs = await timed(() => ops.aggregate([report], {}));
  const gateway = await startTestGateway({ env: UNLIMITED, services: { ops } });
  const positions = wallets * PER_WALLET;
  const result: OpsResult = {
    positions,
    firstMs,
    againMs,
    delayMs,
    ...counted,
    reportBytes,
    firstQueryMs,
    queryMs,
    sumMs,
  };
  global.gc?.();
  // By then the forced collection has finished its sweep.
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  await load.take();
  return {
    url: gateway.url,
    report: { result },
    figures: load.now,
    async stop() {
      load.close();
      await gateway.stop();
      await db.destroy();
    },
  };
});

/** Watch the delay of the event loop and the heap. */
function watchLoad() {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  let peakHeapBytes = 0;
  const sampler = setInterval(() => {
    peakHeapBytes = Math.max(peakHeapBytes, process.memoryUsage().heapUsed);
  }, SAMPLE_MS);
  const now = (): OpsLoad => {
    const heapBytes = process.memoryUsage().heapUsed;
    const load = { delayMs: Math.max(0, delay.max / 1e6 - DELAY_RESOLUTION_MS), heapBytes, peakHeapBytes };
    delay.reset();
    peakHeapBytes = heapBytes;
    return load;
  };
  return {
    now,
    /** The first turn after a reset is not counted. */
    async take(): Promise<OpsLoad> {
      const load = now();
      await new Promise((resolve) => setTimeout(resolve, 20));
      delay.reset();
      return load;
    },
    close() {
      clearInterval(sampler);
      delay.disable();
    },
  };
}

async function timed(work: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
