import type { Catalog, Chain } from '../catalog/types.ts';
import type { PositionReader } from '../chain/positions.ts';
import type { NamedBlock } from '../chain/reading.ts';
import { ChainReadError } from '../chain/rpc/errors.ts';
import type { DriftReading, DriftSightings } from '../database/drift-sightings.ts';
import type { PartSales } from '../database/history/part-sales.ts';
import type { PortfolioSampleRepository } from '../database/portfolio-samples.ts';
import type { Registration, RegistrationRepository } from '../database/registrations.ts';
import type { Drift, Sightings } from '../domain/drift/types.ts';
import type { ChainFacts } from '../domain/facts.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import { beginAggregates } from '../domain/portfolio/aggregates.ts';
import { composePortfolio } from '../domain/portfolio/compose.ts';
import { type PortfolioContext, portfolioContext } from '../domain/portfolio/context.ts';
import { driftOf, isFailed } from '../domain/portfolio/items.ts';
import { addCounts, beginSample, countsOf, type PortfolioReport } from '../domain/portfolio/report.ts';
import { rowsOfWallet, type WalletRows } from '../domain/portfolio/rows.ts';
import type { FailedPortfolio, Portfolio, PortfolioEntry } from '../domain/portfolio/types.ts';
import type { WalletHoldings } from '../domain/position/types.ts';
import type { OpsPort, ServedReport } from '../resolvers/ops/ops-services.ts';
import type { Clock } from '../shared/clock.ts';
import type { Decimal } from '../shared/decimal.ts';
import { AppError, UpstreamUnavailableError } from '../shared/errors.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { loggedError } from '../shared/scrub.ts';
import { createStaleIfError } from '../shared/stale-if-error.ts';
import { systemTimers, type Timers } from '../shared/timers.ts';
import { inTurns } from '../shared/turns.ts';
import { untilThere } from './fresh-reads/until-block-known.ts';
import { walkWallets } from './registered-wallets.ts';
import { OWN_FAILURES, type WalletDirectory } from './wallets.ts';

export interface PortfoliosDeps {
  readonly catalog: Catalog;
  readonly readers: ReadonlyMap<ChainId, PositionReader>;
  readonly directory: WalletDirectory;
  readonly registrations: Pick<RegistrationRepository, 'byWallets' | 'pageOfChain'>;
  /** The positions of which a part was sold: their result is not known. */
  readonly partSales: (chainId: ChainId, wallets: readonly Address[]) => Promise<PartSales>;
  readonly drift: Pick<DriftSightings, 'known' | 'record'>;
  readonly samples: Pick<PortfolioSampleRepository, 'record' | 'since'>;
  readonly composed: (chainId: ChainId) => ComposedChain;
  readonly facts: (chainId: ChainId) => ChainFacts;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Timers of short waits within a request. Default: the system's. */
  readonly waits?: Timers | undefined;
  readonly logger: Logger;
  /** How long a report is served without another reading, seconds. */
  readonly staleAfterSec: number;
}

/** Wallets per chain reading: two requests each, and some thousand positions in memory. */
export const WALLETS_PER_PAGE = 500;
/** Longer than a usual reading. After this time a caller gets the older report, marked as stale. */
const WAIT_MS = 5_000;
const PAUSE_AFTER_FAILURE_MS = 2_000;

/** Create the ops port: the portfolios of all wallets per chain, cached for `staleAfterSec`, and single wallets uncached. */
export function createPortfolios(deps: PortfoliosDeps): OpsPort {
  const { clock, timers, logger, samples } = deps;
  const served = new Map<ChainId, () => Promise<ServedReport>>();

  const reportsOf = (chainId: ChainId): (() => Promise<ServedReport>) => {
    const on = onChain(deps, chainId);
    const reports = createStaleIfError<PortfolioReport>({
      clock,
      bounds: { max: 1 },
      freshMs: deps.staleAfterSec * 1_000,
      staleMs: Number.POSITIVE_INFINITY,
      load: () => readReport(deps, on),
      wait: { timers, ms: WAIT_MS },
      pauseMs: PAUSE_AFTER_FAILURE_MS,
      failFast: true,
    });
    let failing = false;
    return async () => {
      const { value: report, outage: failure } = await reports.get('report');
      if (failure && !failing)
        logger.warn({ chainId, err: loggedError(failure.error) }, 'portfolios cannot be recomputed');
      if (!failure && failing) logger.info({ chainId }, 'portfolios recomputed again');
      failing = failure !== null;
      return { report, failure: failure && { ...messageOf(failure.error), sinceMs: failure.sinceMs } };
    };
  };

  return {
    report: (chainId) => {
      const serve = served.get(chainId) ?? reportsOf(chainId);
      served.set(chainId, serve);
      return serve();
    },
    live: (chainId, wallets, block) => {
      const on = onChain(deps, chainId);
      return block
        ? untilThere(deps.waits ?? systemTimers, () => readLive(deps, on, wallets, block))
        : readLive(deps, on, wallets);
    },
    aggregate: async (reports, filter) => {
      const sums = beginAggregates(reports, filter);
      for (const { rows } of reports) {
        for await (const wallet of inTurns(rows)) sums.add(wallet);
      }
      return sums.finish();
    },
    history: (chainIds, fromMs) => samples.since(chainIds, fromMs),
  };
}

interface OnChain {
  readonly chain: Chain;
  readonly reader: PositionReader;
}

function onChain({ catalog, readers }: PortfoliosDeps, chainId: ChainId): OnChain {
  const chain = catalog.chain(chainId);
  const reader = readers.get(chainId);
  if (!chain || !reader) throw new Error(`chain ${chainId} has no reader of positions`);
  return { chain, reader };
}

/**
 * Read some wallets of a chain now, or at a block, each with its portfolio or its own error.
 * @throws ChainReadError, UpstreamUnavailableError
 */
async function readLive(
  deps: PortfoliosDeps,
  { chain, reader }: OnChain,
  wallets: readonly Address[],
  block?: NamedBlock,
): Promise<ReadonlyMap<Address, Portfolio | Error>> {
  const { chainId } = chain;
  const [reading, registered, partSales, known] = await Promise.all([
    reader.readHoldings(wallets, { block }),
    deps.registrations.byWallets(wallets, chainId),
    deps.partSales(chainId, wallets),
    deps.drift.known(chainId, wallets),
  ]);
  const sightings = { known, nowMs: deps.clock.now() };
  const context = portfolioContext(deps.catalog, chain, deps.composed(chainId), deps.facts(chainId), sightings);
  const { values, failures } = reading.wallets;
  const portfolioOf = (wallet: Address): Portfolio | Error => {
    const holdings = values.get(wallet);
    if (!holdings) return new ChainReadError(failures.get(wallet) ?? 'missing');
    const rows = registered.get(wallet) ?? [];
    if (!rows.every(isUsable)) return new UpstreamUnavailableError('database', 'malformed');
    try {
      return composePortfolio(context, holdings, rows, partSales.get(wallet.toLowerCase()));
    } catch (error) {
      return error instanceof Error ? error : new Error('a portfolio cannot be composed', { cause: error });
    }
  };
  const found = new Map(wallets.map((wallet) => [wallet, portfolioOf(wallet)]));
  const whole = [...found.values()].flatMap((portfolio) => (portfolio instanceof Error ? [] : [portfolio]));
  await remembering(deps, () =>
    recordDrift(deps, sightings, {
      chainId,
      found: whole.flatMap(driftOf),
      wallets: { only: whole.map(({ wallet }) => wallet) },
    }),
  );
  return found;
}

/**
 * Read every wallet of a chain at one block, a page at a time.
 * @throws ChainReadError, UpstreamUnavailableError
 */
async function readReport(deps: PortfoliosDeps, { chain, reader }: OnChain): Promise<PortfolioReport> {
  const { catalog, directory, registrations, clock } = deps;
  const { chainId } = chain;
  const { wallets, block } = await directory.find(chainId);
  const sightings: Sightings = { known: await deps.drift.known(chainId), nowMs: clock.now() };
  const context = portfolioContext(catalog, chain, deps.composed(chainId), deps.facts(chainId), sightings);
  const composer = createComposer(context, deps.logger);
  const entries: PortfolioEntry[] = [];
  const rows: WalletRows[] = [];
  const counts = { ...countsOf([]) };
  let asOfMs: number | null = null;
  for await (const page of walkWallets(registrations, chainId, wallets, WALLETS_PER_PAGE)) {
    const owners = page.map(({ wallet }) => wallet);
    const [reading, partSales] = await Promise.all([
      reader.readHoldings(owners, { block }),
      deps.partSales(chainId, owners),
    ]);
    const { values, failures } = reading.wallets;
    for (const reason of failures.values()) {
      // A wallet that reverts will revert again. After any other failure a readable wallet would be left out.
      if (!OWN_FAILURES.includes(reason)) throw new ChainReadError(reason);
    }
    asOfMs ??= Number(reading.block.timestamp) * 1_000;
    for await (const { wallet, rows: registered } of inTurns(page)) {
      const holdings = values.get(wallet);
      const entry = holdings
        ? composer.compose(holdings, registered, partSales.get(wallet.toLowerCase()))
        : failed(chainId, wallet, failures.get(wallet) ?? 'missing');
      entries.push(entry);
      addCounts(counts, entry);
      if (!isFailed(entry)) rows.push({ portfolio: entry, rows: rowsOfWallet(entry) });
    }
  }
  composer.logFailures();
  const computedAtMs = clock.now();
  const report = {
    chainId,
    blockNumber: block.number,
    asOfMs: asOfMs ?? computedAtMs,
    computedAtMs,
    entries,
    rows,
    counts,
  };
  await remembering(deps, async () => {
    const found: Drift[] = [];
    const sample = beginSample(report);
    for await (const entry of inTurns(entries)) {
      found.push(...driftOf(entry));
      sample.add(entry);
    }
    // A wallet that could not be read keeps its disagreements.
    const unread = entries.filter(isFailed).map(({ wallet }) => wallet);
    await recordDrift(deps, sightings, { chainId, found, wallets: { except: unread } });
    await deps.samples.record(sample.finish());
  });
  return report;
}

/** Create the composer of wallets. A wallet with a fault fails alone; faults are logged once per reading. */
function createComposer(context: PortfolioContext, logger: Logger) {
  let broken = 0;
  let first: unknown;
  return {
    compose(
      holdings: WalletHoldings,
      rows: readonly Registration[],
      soldInPart: ReadonlySet<number> | undefined,
    ): PortfolioEntry {
      if (!rows.every(isUsable)) return failed(holdings.chainId, holdings.wallet, 'malformed');
      try {
        return composePortfolio(context, holdings, rows, soldInPart);
      } catch (error) {
        broken += 1;
        first ??= error;
        return failed(holdings.chainId, holdings.wallet, 'internal');
      }
    },
    logFailures() {
      if (broken === 0) return;
      logger.error({ err: loggedError(first), wallets: broken }, 'portfolios cannot be composed');
    },
  };
}

function failed(chainId: ChainId, wallet: Address, reason: FailedPortfolio['failure']['reason']): FailedPortfolio {
  const message =
    reason === 'malformed'
      ? 'A position or a row of this wallet is not readable.'
      : `This wallet could not be read (${reason}).`;
  return { chainId, wallet, failure: { reason, message } };
}

/** Postgres has numeric values such as `NaN` that must not enter a sum. */
function isUsable(row: Registration): boolean {
  const numbers: readonly (Decimal | null)[] = [
    row.depositedUsd,
    row.addedUsd,
    row.removedUsd,
    row.returnedUsd,
    row.collateralApyPctAtOpen,
    row.borrowApyPctAtOpen,
    row.leverageApyPctAtOpen,
    row.desiredLtvPct,
    row.entryPrice,
    row.exitPrice,
  ];
  return numbers.every((value) => value === null || value.isFinite());
}

/** Run a side effect whose failure does not affect the answer. */
async function remembering({ logger }: PortfoliosDeps, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof UpstreamUnavailableError)) throw error;
    logger.warn({ details: error.details }, 'portfolio observations not stored');
  }
}

/** Store the result of a reading, unless neither it nor the one before has an entry. */
async function recordDrift(
  { drift }: PortfoliosDeps,
  { known, nowMs }: Sightings,
  reading: Omit<DriftReading, 'atMs'>,
): Promise<void> {
  const wasOpen = [...known.values()].some(({ firstSeenMs }) => firstSeenMs !== null);
  if (wasOpen || reading.found.length > 0) await drift.record({ ...reading, atMs: nowMs });
}

function messageOf(error: unknown): { readonly provider: string; readonly reason: string } {
  if (error instanceof UpstreamUnavailableError && error.details) return error.details;
  return { provider: 'service', reason: error instanceof AppError ? error.code : 'internal' };
}
