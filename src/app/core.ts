import { features } from '#features';
import { type Catalog, createCatalog, curatedChains, withSecondAggregator } from '../catalog/index.ts';
import { createGasPrices } from '../chain/gas-price.ts';
import { budgetsOf } from '../config/freshness-budgets.ts';
import { createRedisConnections, type RedisConnections } from '../redis/connections.ts';
import { createSharedTexts } from '../redis/shared-texts.ts';
import type { Services } from '../resolvers/common/services.ts';
import { createChanges } from '../services/changes.ts';
import { createCandles, createCharts } from '../services/charts.ts';
import { type Composition, createComposition } from '../services/composition.ts';
import { createHistories } from '../services/histories.ts';
import type { IndexerRecords } from '../services/indexer-records.ts';
import { createReadiness } from '../services/readiness.ts';
import { createRecordedRates } from '../services/recorded-rates.ts';
import { createRewards } from '../services/rewards.ts';
import { createTvl } from '../services/tvl.ts';
import { Decimal } from '../shared/decimal.ts';
import type { ChainId } from '../shared/ids.ts';
import { systemTimers } from '../shared/timers.ts';
import type { SnapshotStore } from '../snapshot/types.ts';
import type { FactsMetricsDeps } from '../telemetry/metrics-facts.ts';
import { createPartnerServices, createVenueStatistics } from '../transactions/index.ts';
import { createUpstreams, type Upstreams } from '../upstreams/index.ts';
import type { GasPriceOf } from '../upstreams/openocean/client.ts';
import { cadencesOf } from './cadences.ts';
import { forRequests } from './database-waits.ts';
import type { AppDeps } from './deps.ts';
import type { FeatureCore, FeatureHealth, FeatureParts } from './feature.ts';
import { createFreshReads, type FreshReads } from './fresh-reads.ts';
import { createPositionHistoryWiring } from './indexers.ts';
import { createNodesByChain, forReaders, type NodesOf } from './nodes.ts';
import { StartError } from './open-database.ts';
import { createPositionServices } from './positions.ts';
import { providersOf } from './provider-settings.ts';
import { createStores, type Stores } from './stores.ts';
import { createTelemetry, type Telemetry } from './telemetry.ts';
import { createWalletReading } from './wallet-reading.ts';
import { createSnapshot, createWarming, type Warming } from './warming.ts';

/** Everything behind the HTTP surfaces: sources of facts, warmers, and the services of resolvers. */
export interface Core {
  readonly catalog: Catalog;
  readonly stores: Stores;
  readonly telemetry: Telemetry;
  /** `undefined` without REDIS_URL. */
  readonly redisConnections: RedisConnections | undefined;
  readonly snapshot: SnapshotStore;
  readonly warming: Warming;
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
  /** What features show of themselves on the health page. */
  readonly featureHealth: (nowMs: number) => Promise<readonly FeatureHealth[]>;
}

/**
 * Make the parts, each from those before it. No connection, read or schedule starts before the app starts.
 *
 * 1. the catalog, telemetry, and the connections: databases, nodes, providers
 * 2. facts: the snapshot, its composition, and the feed of its changes
 * 3. readers of positions and of their logs, and the features
 * 4. the jobs that fill the snapshot and the tables
 * 5. the services of resolvers
 */
export function createCore(deps: AppDeps): Core {
  const { config, logger } = deps;
  const catalog = readCatalog(config);
  const budgets = budgetsOf(config);
  const telemetry = createTelemetry(deps);
  const { metrics } = telemetry;
  const redisConnections = config.redis && createRedisConnections(config.redis, logger);
  const stores = createStores(deps, metrics?.query, metrics?.keyCheck);
  const { db, drift } = stores;
  const nodes = createNodesByChain(deps, telemetry);
  const readerNodes = forReaders(nodes);
  const gasPriceOf = createGasPrices(readerNodes);
  const { upstreams, closeBudgets } = createAdapters(deps, telemetry, gasPriceOf, redisConnections);

  const snapshot = createSnapshot({ ...deps, catalog, redisConnections });
  if (metrics) snapshot.subscribe(({ chainId }, group) => metrics.publish(chainId, group));
  const composed = composeChains({ deps, catalog, budgets, telemetry, snapshot });
  const changes = watchChanges(deps, composed, telemetry);

  const facts = (chainId: ChainId) => snapshot.facts(chainId);
  const { readPositions, ...wallets } = createPositionServices({
    ...deps,
    catalog,
    nodes,
    readerNodes,
    db,
    samples: stores.portfolioSamples,
    drift,
    waits: deps.timeouts ?? systemTimers,
    composed,
    facts,
    portfoliosStaleAfterSec: budgets.opsPortfolios,
  });
  const { positions } = wallets;
  const history = createPositionHistoryWiring({ ...deps, catalog, nodes, db, onRun: metrics?.historyRun });
  const parts = partsOf({ ...deps, catalog, budgets, db, positions, metrics, composed, facts, wake: changes.wake });

  const warming = createWarming({
    ...deps,
    ...stores,
    catalog,
    redisConnections,
    snapshot,
    nodes,
    upstreams,
    prunes: [stores.prune, history.marks.prune, ...parts.flatMap(({ prune }) => prune ?? [])],
    otherJobs: [...history.warmers, ...parts.flatMap(({ jobs }) => jobs ?? [])],
    cadences: cadencesOf(config),
    readPositions,
    onRun: metrics?.warmerRun,
  });

  const { runner } = warming;
  const freshReads = createFreshReads({ ...deps, readerNodes, snapshot, runner, redisConnections, metrics });
  const building = { catalog, budgets, telemetry, readerNodes, upstreams, gasPriceOf, positions, composed, facts };
  const services: Services = {
    ...createReadServices({ deps, catalog, budgets, telemetry, snapshot, stores, upstreams, composed, changes }),
    ...freshReads.services,
    ...wallets,
    positionHistory: history.positionHistory,
    features: new Map(parts.flatMap((part) => [...(part.services ?? [])])),
    ...createBuilders(deps, building),
  };
  const core: Core = {
    catalog,
    stores,
    telemetry,
    redisConnections,
    snapshot,
    warming,
    changes,
    services,
    nodes,
    freshReads,
    upstreams,
    closeBudgets,
    indexers: history.indexers,
    featureHealth: (nowMs) => Promise.all(parts.flatMap(({ health }) => health?.(nowMs) ?? [])),
  };
  metrics?.watchFacts(gaugesOf(deps, core));
  return core;
}

/** What the gauges read at scrape time. */
function gaugesOf({ config, clock }: AppDeps, core: Core): FactsMetricsDeps {
  const { catalog, services, snapshot, stores, nodes, warming, redisConnections } = core;
  return {
    catalog,
    budgets: services.budgets,
    facts: services.facts,
    ready: (chainId) => services.health.readiness(chainId, clock.now()).ready,
    warnings: (chainId) => services.composed(chainId).markets.map(({ warnings }) => warnings.map(({ code }) => code)),
    persisted: () => snapshot.place().ok,
    nodes: (chainId) => nodes.get(chainId)?.status() ?? [],
    clockSkewMs: () => snapshot.place().clockSkewMs,
    replicaUsed: () => stores.databaseStatus().replica && stores.databaseStatus().replica?.problem === null,
    redisFailing: () => redisConnections?.failing() ?? [],
    jobs: () => (config.env.ROLE === 'api' ? { held: [], standby: [] } : warming.runner.jobs()),
    now: () => clock.now(),
  };
}

/** Create the services, jobs and metrics of all features. */
function partsOf(core: FeatureCore): readonly FeatureParts[] {
  return features.flatMap((feature) => feature.parts?.(core) ?? []);
}

interface BuildersInput extends Pick<Services, 'catalog' | 'budgets' | 'positions' | 'composed' | 'facts'> {
  readonly telemetry: Telemetry;
  readonly readerNodes: NodesOf;
  readonly upstreams: Upstreams;
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
      venueStatistics: createVenueStatistics(telemetry.metrics?.swapQuote),
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
  readonly snapshot: SnapshotStore;
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
