import { type Catalog, createCatalog, curatedChains, withSecondAggregator } from '../catalog/index.ts';
import { createGasPrices } from '../chain/gas-price.ts';
import type { AlertJobsRecord } from '../domain/alerts/jobs.ts';
import { createRedisConnections, type RedisConnections } from '../redis/connections.ts';
import { createSharedTexts } from '../redis/shared-texts.ts';
import type { Services } from '../resolvers/common/services.ts';
import { createChanges } from '../services/changes.ts';
import { createCandles, createCharts } from '../services/charts.ts';
import { type Composition, createComposition } from '../services/composition.ts';
import { createHistories } from '../services/histories.ts';
import type { IndexerRecords } from '../services/indexer-records.ts';
import type { LatestReading } from '../services/latest-reading.ts';
import { createMarketRecords } from '../services/market-records.ts';
import { createReadiness } from '../services/readiness.ts';
import { createRecordedRates } from '../services/recorded-rates.ts';
import { createRewards } from '../services/rewards.ts';
import { createTvl } from '../services/tvl.ts';
import { Decimal } from '../shared/decimal.ts';
import type { ChainId } from '../shared/ids.ts';
import { systemTimers } from '../shared/timers.ts';
import { createPartnerServices, createVenueStatistics } from '../transactions/index.ts';
import { createUpstreams, type Upstreams } from '../upstreams/index.ts';
import type { GasPriceOf } from '../upstreams/openocean/client.ts';
import { createAlertWiring } from './alerts/wiring.ts';
import { forRequests } from './database-waits.ts';
import type { AppDeps } from './deps.ts';
import { createPositionHistoryWiring } from './history/position-history.ts';
import { createNodesByChain, forReaders, type NodesOf } from './nodes.ts';
import { createPositionServices } from './positions.ts';
import { createFreshReads, type FreshReads } from './reads/fresh-reads.ts';
import { budgetsOf, cadencesOf, providersOf } from './settings.ts';
import { createSnapshotWiring, type SnapshotWiring } from './snapshot.ts';
import { StartError } from './start.ts';
import { createStores, type Stores } from './stores.ts';
import { createTelemetry, type Telemetry } from './telemetry.ts';
import { createWalletReading } from './wallet-reading.ts';

/** Everything behind the HTTP surfaces: sources of facts, warmers, and the services of resolvers. */
export interface Core {
  readonly catalog: Catalog;
  readonly stores: Stores;
  readonly telemetry: Telemetry;
  /** `undefined` without REDIS_URL. */
  readonly redisConnections: RedisConnections | undefined;
  readonly snapshotWiring: SnapshotWiring;
  readonly changes: ReturnType<typeof createChanges>;
  readonly services: Services;
  readonly nodes: NodesOf;
  readonly freshReads: FreshReads;
  /** State of each provider in this process, and the use of its budget by all of them. */
  readonly upstreams: Pick<Upstreams, 'states' | 'quotas'>;
  /** Close the connection by which processes share these budgets. */
  readonly closeBudgets: () => void;
  /** How far the logs of positions are read. */
  readonly indexers: IndexerRecords;
  /** The jobs of alerts and their undelivered events. */
  readonly alertJobs: LatestReading<AlertJobsRecord>;
}

/** Wire sources, warmers and services. No connection, read or schedule starts before the app starts. */
export function createCore(deps: AppDeps): Core {
  const { config, logger, clock } = deps;
  const { env } = config;
  const catalog = readCatalog(config);
  const budgets = budgetsOf(config);

  const telemetry = createTelemetry({
    ...deps,
    catalog,
    budgets,
    facts: (chainId) => snapshot.facts(chainId),
    ready: (chainId) => services.health.readiness(chainId, clock.now()).ready,
    warnings: (chainId) => services.composed(chainId).markets.map(({ warnings }) => warnings.map(({ code }) => code)),
    persisted: () => snapshot.place().ok,
    nodes: (chainId) => nodes.get(chainId)?.status() ?? [],
    clockSkewMs: () => snapshot.place().clockSkewMs,
    replicaUsed: () => stores.databaseStatus().replica && stores.databaseStatus().replica?.problem === null,
    redisFailing: () => redisConnections?.failing() ?? [],
    jobs: () => (env.ROLE === 'api' ? { held: [], standby: [] } : snapshotWiring.runner.jobs()),
  });
  const { metrics } = telemetry;

  const current = {
    composed: (chainId: ChainId) => services.composed(chainId),
    facts: (chainId: ChainId) => snapshot.facts(chainId),
  };
  const redisConnections = config.redis === undefined ? undefined : createRedisConnections(config.redis, logger);
  const stores = createStores(deps, metrics?.query, metrics?.keyCheck);
  const nodes = createNodesByChain(deps, telemetry);
  const readerNodes = forReaders(nodes);
  const gasPriceOf = createGasPrices(readerNodes);
  const { upstreams, closeBudgets } = createAdapters(deps, telemetry, gasPriceOf, redisConnections);
  const venueStatistics = createVenueStatistics(metrics?.swapQuote);
  const positions = createPositionServices({
    ...deps,
    catalog,
    nodes,
    readerNodes,
    db: stores.db,
    samples: stores.portfolioSamples,
    drift: stores.drift,
    waits: deps.timeouts ?? systemTimers,
    ...current,
    portfoliosStaleAfterSec: budgets.opsPortfolios,
  });
  const history = createPositionHistoryWiring({ ...deps, catalog, nodes, db: stores.db, onRun: metrics?.historyRun });
  const alerts = createAlertWiring({
    ...deps,
    catalog,
    stores,
    budgets,
    positions: positions.positions,
    metrics,
    ...current,
    onEvents: () => changes.wake('alertEvents'),
  });
  const snapshotWiring = createSnapshotWiring({
    ...deps,
    catalog,
    redisConnections,
    nodes,
    upstreams,
    samples: stores.samples,
    marketSamples: stores.marketSamples,
    recordedRates: stores.recordedRates,
    tvlSamples: stores.tvlSamples,
    prune: async () => (await stores.prune()) + (await history.marks.prune()),
    otherJobs: [...history.warmers, ...alerts.jobs],
    cadences: cadencesOf(config),
    readPositions: positions.readPositions,
    onRun: metrics?.warmerRun,
  });
  const { snapshot } = snapshotWiring;
  if (metrics) snapshot.subscribe(({ chainId }, group) => metrics.publish(chainId, group));

  const freshReads = createFreshReads({ ...deps, readerNodes, snapshotWiring, redisConnections, metrics });
  const composed = composeChains({ deps, catalog, budgets, telemetry, snapshot });
  const changes = watchChanges(deps, composed, telemetry);
  const building = { catalog, budgets, telemetry, readerNodes, upstreams, venueStatistics, gasPriceOf };
  const services: Services = {
    ...createReadServices({ deps, catalog, budgets, telemetry, snapshot, stores, upstreams, composed, changes }),
    ...freshReads.services,
    positions: positions.positions,
    ops: positions.ops,
    alerts: alerts.port,
    positionHistory: history.positionHistory,
    ...createBuilders(deps, { ...building, positions: positions.positions, ...current }),
  };
  const parts = { catalog, stores, telemetry, redisConnections, snapshotWiring, changes, services, nodes, freshReads };
  return {
    ...parts,
    upstreams,
    closeBudgets,
    indexers: history.indexers,
    alertJobs: alerts.records,
  };
}

interface BuildersInput extends Pick<Services, 'catalog' | 'budgets' | 'positions' | 'composed' | 'facts'> {
  readonly telemetry: Telemetry;
  readonly readerNodes: NodesOf;
  readonly upstreams: Upstreams;
  readonly venueStatistics: ReturnType<typeof createVenueStatistics>;
  readonly gasPriceOf: GasPriceOf;
}

/** Create the services that preview and build transactions. */
function createBuilders({ config, clock, timers }: AppDeps, input: BuildersInput) {
  const { catalog, telemetry, positions, composed } = input;
  return telemetry.countBuilds(
    createPartnerServices({
      ...input,
      nodes: input.readerNodes,
      quotes: input.upstreams.quotes,
      onSimulated: telemetry.metrics?.simulation,
      timers,
      clock,
      feeReceiver: config.feeReceiver,
      appUrl: config.env.APP_URL,
      ...createWalletReading({ catalog, positions, composed }),
    }),
  );
}

function watchChanges(
  { config, clock, timers }: AppDeps,
  snapshot: Pick<Composition, 'subscribe'>,
  { metrics }: Telemetry,
) {
  const { MAX_SUBSCRIPTIONS: maxOpen } = config.env;
  return createChanges({ snapshot, clock, timers, maxOpen, onChange: metrics?.subscription });
}

/** Create the adapters of all providers. */
function createAdapters(
  deps: AppDeps,
  telemetry: Telemetry,
  gasPriceOf: GasPriceOf,
  connections: RedisConnections | undefined,
) {
  const redis = connections?.connect('budgets');
  const upstreams = createUpstreams({
    config: providersOf(deps.config),
    fetch: telemetry.fetch,
    clock: deps.clock,
    logger: deps.logger,
    random: deps.random,
    gasPriceOf,
    onCall: telemetry.metrics?.upstreamCall,
    texts: redis && connections && createSharedTexts(redis, connections.prefix, deps.clock),
    sleep: deps.sleep,
    timeouts: deps.timeouts,
  });
  telemetry.metrics?.watchQuotas(upstreams.seenQuotas);
  return { upstreams, closeBudgets: () => redis?.disconnect() };
}

interface CompositionInput {
  readonly deps: AppDeps;
  readonly catalog: Catalog;
  readonly budgets: ReturnType<typeof budgetsOf>;
  readonly telemetry: Telemetry;
  readonly snapshot: SnapshotWiring['snapshot'];
}

function composeChains({ deps, catalog, budgets, telemetry: { metrics }, snapshot }: CompositionInput): Composition {
  const { clock, logger, config } = deps;
  const { env } = config;
  return createComposition({
    catalog,
    snapshot,
    clock,
    logger,
    onLookup: metrics === undefined ? undefined : (hit) => metrics.cacheLookup('composition', hit),
    params: {
      budgets,
      listing: {
        minDaysToMaturity: env.LISTING_MIN_DAYS_TO_MATURITY,
        minLiquidityUsd: new Decimal(env.LISTING_MIN_LIQUIDITY_USD),
      },
      appUrl: env.APP_URL,
    },
  });
}

interface ReadServicesInput extends CompositionInput {
  readonly composed: Composition;
  readonly stores: Pick<Stores, 'samples' | 'marketSamples' | 'tvlSamples' | 'usage'>;
  readonly upstreams: Upstreams;
  readonly changes: ReturnType<typeof createChanges>;
}

/** Create the services that read the snapshot, recorded rates and relayed charts. */
function createReadServices({
  deps,
  catalog,
  budgets,
  telemetry,
  snapshot,
  stores,
  upstreams,
  composed,
  changes,
}: ReadServicesInput) {
  const { clock, logger } = deps;
  const { env } = deps.config;
  const { metrics } = telemetry;
  const { timeouts = systemTimers } = deps;
  const ourCoins = new Set(catalog.chains.flatMap(({ tokens }) => tokens.map(({ coingeckoId }) => coingeckoId)));
  return {
    catalog,
    budgets,
    composed,
    caughtUp: composed.caughtUp,
    facts: (chainId: ChainId) => snapshot.facts(chainId),
    histories: createHistories({
      catalog,
      snapshot,
      recorded: createRecordedRates({
        samples: stores.samples,
        clock,
        timers: deps.timers,
        logger,
        onRemembered: metrics?.rememberedHistory,
      }),
      samples: stores.samples,
      marketSamples: stores.marketSamples,
      budgets,
    }),
    marketRecords: createMarketRecords({
      samples: stores.marketSamples,
      clock,
      timers: timeouts,
      logger,
      onLookup: metrics && ((hit) => metrics.cacheLookup('market_records', hit)),
      onRemembered: metrics?.rememberedHistory,
    }),
    charts: createCharts({ upstream: upstreams.charts, isOurs: (coinId) => ourCoins.has(coinId), clock, timeouts }),
    ohlcv: createCandles({ upstream: upstreams.ohlcv, chain: (chainId) => catalog.chain(chainId), clock, timeouts }),
    health: createReadiness({ catalog, snapshot, budgets, ceilingSec: env.READY_CEILING_SEC, startedMs: clock.now() }),
    changes,
    tvl: createTvl({ catalog, snapshot }),
    keyUsage: stores.usage,
    rewards: env.MERKL_POSITION_REWARDS ? createRewards({ upstream: upstreams.rewards, clock, timeouts }) : undefined,
    tvlSamples: { since: forRequests(deps.timers, stores.tvlSamples.since) },
  };
}

/** @throws StartError naming the overlay's setting, CatalogError */
function readCatalog({ catalogOverlay, env }: AppDeps['config']): Catalog {
  try {
    return createCatalog(withSecondAggregator(curatedChains, env.OPENOCEAN_CHAIN_4663), catalogOverlay as never);
  } catch (cause) {
    if (env.CATALOG_OVERLAY === undefined || !(cause instanceof Error)) throw cause;
    const why = cause.message.replace(/^Catalog overlay: /, '');
    throw new StartError(
      `CATALOG_OVERLAY: "${env.CATALOG_OVERLAY}" is invalid: ${why}. Correct the file, or leave the setting out.`,
      { cause },
    );
  }
}
