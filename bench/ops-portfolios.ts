import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { getAddress, type Hex, numberToHex, pad } from 'viem';
import { startPostgres } from '../devnet/postgres.ts';
import { seedRegistrations } from '../devnet/seed-database.ts';
import { createCatalog, curatedChains } from '../src/catalog/index.ts';
import type { Chain } from '../src/catalog/types.ts';
import type { PositionReader } from '../src/chain/positions.ts';
import { createDatabase } from '../src/database/client.ts';
import { migrateDatabase } from '../src/database/migrate.ts';
import { createPortfolioSampleRepository } from '../src/database/portfolio-samples.ts';
import { createProxyRepository } from '../src/database/proxies.ts';
import { createRegistrationRepository, type Registration } from '../src/database/registrations.ts';
import { createSightingRepository } from '../src/database/sightings.ts';
import { composeChain } from '../src/domain/compose.ts';
import { queryPortfolios } from '../src/domain/portfolio/query.ts';
import { renderEntry } from '../src/domain/portfolio/render.ts';
import type { HeldPosition, WalletHoldings } from '../src/domain/position/types.ts';
import { createPortfolios } from '../src/services/portfolios.ts';
import { createWalletDirectory } from '../src/services/wallets.ts';
import { Decimal, ZERO } from '../src/shared/decimal.ts';
import type { Address } from '../src/shared/ids.ts';
import { silentLogger } from '../src/shared/logger.ts';
import { systemTimers } from '../src/shared/timers.ts';
import { completeFacts, DAY, NOW_MS, PARAMS } from '../test/domain/world.ts';
import { say } from './table.ts';

const CHAIN_ID = 4663;
const PER_WALLET = 5;
const SAMPLE_MS = 10;
const MB = 2 ** 20;

export interface OpsResult {
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
export async function measureOps(wallets: number): Promise<OpsResult> {
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
      samples: createPortfolioSampleRepository(db),
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

/** A wallet's positions: most are open, one is closed, now and then one was liquidated. */
function positionsOf(chain: Chain, wallet: number): HeldPosition[] {
  const loops = chain.markets.filter(({ kind }) => kind === 'loop');
  return Array.from({ length: PER_WALLET }, (_, id): HeldPosition => {
    const market = loops[(wallet + id) % loops.length];
    if (!market) throw new Error('no market');
    const open = id !== 1;
    const holds = open && (wallet + id) % 23 !== 0;
    const unit = 10n ** BigInt(market.collateral.decimals);
    return {
      id,
      marketId: market.id,
      proxy: getAddress(pad(numberToHex(wallet * PER_WALLET + id + 1_000_000), { size: 20 })),
      open,
      depositedAssets: BigInt(1_000 + (wallet % 977)) * 10n ** BigInt(market.loan.decimals),
      returnedAssets: open ? 0n : 990n * 10n ** BigInt(market.loan.decimals),
      collateral: holds ? BigInt(4_000 + (wallet % 977)) * unit : 0n,
      borrowShares: holds ? 3_000n * 10n ** BigInt(market.loan.decimals + 6) : 0n,
    };
  });
}

/** Rows that agree, but for one position in fifty that has none. */
export function registrationsOf(chain: Chain, owners: readonly Address[]): Registration[] {
  return owners.flatMap((wallet, n) =>
    positionsOf(chain, n).flatMap(({ id, marketId, open, collateral }): Registration[] => {
      if ((n * PER_WALLET + id) % 50 === 0) return [];
      const isOpen = open && collateral > 0n;
      return [
        {
          wallet,
          chainId: chain.chainId,
          marketId,
          positionIndex: id,
          isOpen,
          depositedUsd: new Decimal(1_000),
          addedUsd: ZERO,
          removedUsd: ZERO,
          returnedUsd: ZERO,
          collateralApyPctAtOpen: new Decimal('6.1'),
          borrowApyPctAtOpen: new Decimal('3.9'),
          leverageApyPctAtOpen: new Decimal('14.2'),
          desiredLtvPct: new Decimal(80),
          entryPrice: new Decimal('1.07'),
          exitPrice: null,
          equityVaultId: null,
          createdAtMs: NOW_MS - 30 * DAY,
          updatedAtMs: NOW_MS - 30 * DAY,
          closedAtMs: isOpen ? null : NOW_MS - 2 * DAY,
        },
      ];
    }),
  );
}

export function syntheticReader(chain: Chain, owners: readonly Address[]) {
  const held = new Map(owners.map((wallet, n) => [wallet, positionsOf(chain, n)]));
  const requests = { count: 0 };
  const block = { number: 100_000n, timestamp: BigInt(NOW_MS / 1_000) };
  const proxyCount = owners.length * PER_WALLET + 1;
  const reader: PositionReader = {
    chainId: chain.chainId,
    readProxyHead: async () => {
      requests.count += 3;
      return { blockNumber: block.number, proxyCount, genesisHash: `0x${'11'.repeat(32)}` as Hex };
    },
    readProxyOwners: async (nonces) => {
      if (nonces.length > 0) requests.count += 1;
      const ownerOf = (nonce: number) => (nonce === 1 ? null : (owners[(nonce - 2) % owners.length] ?? null));
      return { owners: new Map(nonces.map((nonce) => [nonce, ownerOf(nonce)])), failures: new Map() };
    },
    readHoldings: async (wallets) => {
      requests.count += 2;
      const values = wallets.map((wallet): [Address, WalletHoldings] => {
        const positions = held.get(wallet) ?? [];
        return [wallet, { chainId: chain.chainId, wallet, block, positions, stocks: [] }];
      });
      return { block, wallets: { values: new Map(values), failures: new Map() } };
    },
  };
  return { reader, requests };
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sizes = process.argv
    .slice(2)
    .map(Number)
    .filter((size) => size > 0);
  await main(sizes.length > 0 ? sizes : [100, 1_000, 10_000]);
}
