import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getAddress, numberToHex, pad } from 'viem';
import { startPostgres } from '../devnet/postgres.ts';
import { seedRegistrations } from '../devnet/seed-database.ts';
import { createCatalog, curatedChains } from '../src/catalog/index.ts';
import { createDatabase } from '../src/database/client.ts';
import { migrateDatabase } from '../src/database/migrate.ts';
import { createPortfolioSampleRepository } from '../src/database/portfolio-samples.ts';
import { createProxyRepository } from '../src/database/proxies.ts';
import { createRegistrationRepository } from '../src/database/registrations.ts';
import { createSightingRepository } from '../src/database/sightings.ts';
import { composeChain } from '../src/domain/compose.ts';
import { queryPortfolios } from '../src/domain/portfolio/query.ts';
import { renderEntry } from '../src/domain/portfolio/render.ts';
import { createPortfolios } from '../src/services/portfolios.ts';
import { createWalletDirectory } from '../src/services/wallets.ts';
import { systemClock } from '../src/shared/clock.ts';
import { silentLogger } from '../src/shared/logger.ts';
import { systemTimers } from '../src/shared/timers.ts';
import { completeFacts, NOW_MS, PARAMS } from '../test/domain/world.ts';
import { PER_WALLET, registrationsOf, syntheticReader } from './synthetic-wallets.ts';
import { say } from './table.ts';

const CHAIN_ID = 4663;
const SAMPLE_MS = 10;
const MB = 2 ** 20;

interface OpsResult {
  readonly wallets: number;
  readonly positions: number;
  readonly firstMs: number;
  readonly againMs: number;
  /** Longest time in which nothing else could run while a report was computed. */
  readonly delayMs: number;
  readonly rpcRequests: number;
  readonly sqlStatements: number;
  /** Largest resident set while computing, and what of the heap a report keeps. */
  readonly peakRssMb: number;
  readonly keptMb: number;
  readonly firstQueryMs: number;
  readonly queryMs: number;
  readonly sumMs: number;
  readonly renderMs: number;
  readonly bodyMb: number;
  readonly drift: number;
}

/**
 * Measure the report of all portfolios: a synthetic chain reader that answers at once, and a real Postgres with the register.
 * A reading of holdings counts as the two requests that the real reader makes.
 */
async function measureOps(wallets: number): Promise<OpsResult> {
  const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-bench-'));
  const server = await startPostgres({ dataDir: folder, logger: silentLogger });
  let sqlStatements = 0;
  const url = await server.createDatabase('bench');
  await migrateDatabase(url);
  const config = { url, poolSize: 2, statementTimeoutMs: 60_000 };
  const db = createDatabase(config, {
    onQuery: () => {
      sqlStatements += 1;
    },
  });
  try {
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
    const port = createPortfolios({
      catalog,
      readers,
      directory: createWalletDirectory({ catalog, readers, proxies: createProxyRepository(db), logger: silentLogger }),
      registrations: createRegistrationRepository(db),
      sightings: createSightingRepository(db),
      samples: createPortfolioSampleRepository(db, systemClock),
      composed: () => composed,
      facts: () => facts,
      clock: { now: () => nowMs },
      timers: systemTimers,
      logger: silentLogger,
      staleAfterSec: 60,
    });
    global.gc?.();
    const before = process.memoryUsage().heapUsed;
    const firstMs = await timed(() => port.report(CHAIN_ID));
    const delay = monitorEventLoopDelay({ resolution: 1 });
    let peakRss = 0;
    const sampler = setInterval(() => {
      peakRss = Math.max(peakRss, process.memoryUsage.rss());
    }, SAMPLE_MS);
    nowMs += 61_000;
    sqlStatements = 0;
    requests.count = 0;
    delay.enable();
    // The older report would be handed out while this one takes long: ask until the new one is there.
    const againMs = await timed(async () => {
      while ((await port.report(CHAIN_ID)).report.computedAtMs !== nowMs);
    });
    delay.disable();
    clearInterval(sampler);
    const [rpcRequests, statements] = [requests.count, sqlStatements];
    global.gc?.();
    const kept = process.memoryUsage().heapUsed - before;
    const { report } = await port.report(CHAIN_ID);
    const query = () => queryPortfolios([report], { filter: {}, order: 'headroom', direction: 'asc', first: 50 });
    const [firstQueryMs, queryMs] = [await timed(query), await timed(query)];
    const sumMs = await timed(() => port.aggregate([report], {}));
    let body = '';
    const renderMs = await timed(() => {
      body = JSON.stringify(report.entries.map(renderEntry));
    });
    return {
      wallets,
      positions: wallets * PER_WALLET,
      firstMs,
      againMs,
      delayMs: delay.max / 1e6,
      rpcRequests,
      sqlStatements: statements,
      peakRssMb: peakRss / MB,
      keptMb: kept / MB,
      firstQueryMs,
      queryMs,
      sumMs,
      renderMs,
      bodyMb: Buffer.byteLength(body) / MB,
      drift: report.counts.drift,
    };
  } finally {
    await db.destroy();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function timed(work: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

async function main(sizes: readonly number[]): Promise<void> {
  say(
    '| wallets | positions | first | again | longest pause | RPC | SQL | peak RSS | report | first query, next | sums | render | body |',
  );
  say('|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|');
  for (const wallets of sizes) {
    const row = await measureOps(wallets);
    const ms = (value: number) => `${value.toFixed(0)} ms`;
    const mb = (value: number) => `${value.toFixed(0)} MB`;
    say(
      `| ${row.wallets} | ${row.positions} | ${ms(row.firstMs)} | ${ms(row.againMs)} | ${ms(row.delayMs)} | ${row.rpcRequests} ` +
        `| ${row.sqlStatements} | ${mb(row.peakRssMb)} | ${mb(row.keptMb)} | ${ms(row.firstQueryMs)}, ${ms(row.queryMs)} ` +
        `| ${ms(row.sumMs)} | ${ms(row.renderMs)} | ${mb(row.bodyMb)} |`,
    );
  }
}

const given = process.argv
  .slice(2)
  .map(Number)
  .filter((size) => size > 0);
await main(given.length > 0 ? given : [100, 1_000, 10_000]);
