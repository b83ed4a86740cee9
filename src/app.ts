import type { GraphQLSchema } from 'graphql';
import { createDocsPages } from './app/docs.ts';
import { exampleTabs } from './app/example-tabs.ts';
import { createFrontDoor, persistedOperations } from './app/front-door.ts';
import { createNearMisses } from './app/near-misses.ts';
import { createOpsPage } from './app/ops-page.ts';
import { createStatusPages } from './app/pages.ts';
import { createHourlyReports } from './app/portfolio-samples.ts';
import { createPositionServices } from './app/positions.ts';
import { createRendered } from './app/rendered.ts';
import { budgetsOf, cadencesOf, providersOf } from './app/settings.ts';
import { openDatabase } from './app/start.ts';
import { bounded } from './app/stop.ts';
import { createTelemetry } from './app/telemetry.ts';
import type { Tracing } from './app/tracing.ts';
import { createWalletReading } from './app/wallet-reading.ts';
import { closedGraphQL, notServedHere } from './app/warmer-only.ts';
import { createWarmth } from './app/warmth.ts';
import { type Catalog, createCatalog, curatedChains } from './catalog/index.ts';
import { createChainClients } from './chain/client.ts';
import type { Config } from './config/config.ts';
import { createDatabase } from './database/client.ts';
import { createSampleRepository } from './database/samples.ts';
import { createKeyService } from './keys/service.ts';
import { createLoaders } from './loaders/index.ts';
import type { AppContext } from './resolvers/context.ts';
import { MAX_PAGE_SIZE } from './resolvers/page.ts';
import type { Services } from './resolvers/services.ts';
import { createRestAdapter } from './rest/adapter.ts';
import manifest from './rest/generated/manifest.json' with { type: 'json' };
import { createRoutes } from './rest/routes/index.ts';
import { buildSchema } from './schema/index.ts';
import { createFastPath } from './server/fast-path.ts';
import { createGraphQLServer } from './server/graphql.ts';
import { createHandler, type Exchange, GRAPHQL_PATH } from './server/handler.ts';
import { type Listening, listen } from './server/listen.ts';
import type { Visit } from './server/visit.ts';
import { createChanges } from './services/changes.ts';
import { createCandles, createCharts } from './services/charts.ts';
import { createComposition } from './services/composition.ts';
import { createHistories } from './services/histories.ts';
import { createReadiness } from './services/readiness.ts';
import { createTvl } from './services/tvl.ts';
import type { Clock } from './shared/clock.ts';
import { Decimal } from './shared/decimal.ts';
import type { Logger } from './shared/logger.ts';
import type { Timers } from './shared/timers.ts';
import { equityChainIds } from './transactions/equity/index.ts';
import { createPartnerServices } from './transactions/index.ts';
import { createUpstreams } from './upstreams/index.ts';
import type { Sleep } from './upstreams/sleep.ts';
import type { WarmerRunner } from './warmers/runner.ts';

export interface AppDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Uniform in [0, 1); jitter only. */
  readonly random: () => number;
  readonly fetch: typeof globalThis.fetch;
  /** How to wait between tries of an upstream and for its budget; absent: really. */
  readonly sleep?: Sleep;
  readonly observe?: (exchange: Exchange) => void;
  /** Spans of everything; off when absent. */
  readonly tracing?: Tracing;
}

export interface App {
  /** Answer a request without a socket. */
  fetch(request: Request): Promise<Response>;
  /** Migrate, restore the last snapshot, listen, and start warming. Resolves when requests are answered. */
  start(): Promise<void>;
  /** Stop accepting, finish what runs, release leases and connections. */
  stop(): Promise<void>;
  /** Where it listens. @throws Error before `start` */
  readonly url: string;
  /** Where `/metrics` is served; `null` without METRICS_PORT. */
  readonly metricsUrl: string | null;
  readonly warmers: WarmerRunner;
  /** Resolves when the first round of warmers is over; at once in a process that does not warm. */
  readonly warmed: Promise<void>;
}

/** Somebody waits for a build: a node that is silent for so long, twice, is told as 503. */
const BUILD_RPC_TIMEOUT_MS = 4_000;
/** How long running requests may take to finish after a stop was asked for. */
const DRAIN_MS = 8_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** How long the connections may take to close after that. */
const CLOSE_MS = 1_000;

/** Compose the service from its parts: the only place that knows everybody. */
export function createApp(deps: AppDeps): App {
  const { config, logger, clock } = deps;
  const { env } = config;
  const catalog: Catalog = createCatalog(curatedChains, config.catalogOverlay as never);
  const budgets = budgetsOf(config);

  const telemetry = createTelemetry({
    ...deps,
    catalog,
    budgets,
    facts: (chainId) => snapshot.facts(chainId),
    ready: (chainId) => services.health.readiness(chainId, clock.now()).ready,
    persisted: () => snapshot.place().ok,
  });
  const { metrics } = telemetry;

  const db = createDatabase(
    { url: env.DATABASE_URL ?? '', poolSize: env.DATABASE_POOL_SIZE, statementTimeoutMs: STATEMENT_TIMEOUT_MS },
    { logger, ...(metrics === undefined ? {} : { onQuery: metrics.query }) },
  );
  const samples = createSampleRepository(db);
  const keys = createKeyService({
    db,
    clock,
    logger,
    sampleKeys: config.sampleKeys,
    ...(env.KEY_PEPPER === undefined ? {} : { pepper: env.KEY_PEPPER }),
  });
  const clientsOf = (timeoutMs: number) =>
    createChainClients(
      [...config.rpcUrls].map(([chainId, rpcUrl]) => ({ chainId, rpcUrl, timeoutMs })),
      { fetchOf: telemetry.rpcFetch },
    );
  const chains = clientsOf(env.RPC_TIMEOUT_MS);
  const upstreams = createUpstreams({
    config: providersOf(config),
    fetch: telemetry.fetch,
    clock,
    logger,
    random: deps.random,
    ...(metrics === undefined ? {} : { onCall: metrics.upstreamCall }),
    ...(deps.sleep === undefined ? {} : { sleep: deps.sleep }),
  });
  const positions = createPositionServices({
    catalog,
    chains,
    db,
    composed: (chainId) => services.composed(chainId),
    facts: (chainId) => snapshot.facts(chainId),
    clock,
    timers: deps.timers,
    logger,
    portfoliosStaleAfterSec: budgets.opsPortfolios,
  });
  const warmth = createWarmth({
    ...deps,
    catalog,
    chains,
    upstreams,
    samples,
    cadences: cadencesOf(config),
    readPositions: positions.readPositions,
    ...(metrics === undefined ? {} : { onRun: metrics.warmerRun }),
  });
  const { snapshot } = warmth;
  if (metrics) snapshot.subscribe(({ chainId }, group) => metrics.publish(chainId, group));

  const changes = createChanges({
    snapshot,
    clock,
    timers: deps.timers,
    maxOpen: env.MAX_SUBSCRIPTIONS,
    ...(metrics === undefined ? {} : { onChange: metrics.subscription }),
  });
  const services: Services = {
    catalog,
    budgets,
    composed: createComposition({
      catalog,
      snapshot,
      clock,
      ...(metrics === undefined ? {} : { onLookup: (hit) => metrics.cacheLookup('composition', hit) }),
      params: {
        budgets,
        listing: {
          minDaysToMaturity: env.LISTING_MIN_DAYS_TO_MATURITY,
          minLiquidityUsd: new Decimal(env.LISTING_MIN_LIQUIDITY_USD),
        },
        ...(env.APP_URL === undefined ? {} : { appUrl: env.APP_URL }),
      },
    }),
    facts: (chainId) => snapshot.facts(chainId),
    histories: createHistories({ catalog, snapshot, samples, budgets }),
    charts: createCharts({ upstream: upstreams.charts, clock }),
    ohlcv: createCandles({ upstream: upstreams.ohlcv, chain: (chainId) => catalog.chain(chainId), clock }),
    health: createReadiness({ catalog, snapshot, budgets, ceilingSec: env.READY_CEILING_SEC }),
    changes,
    tvl: createTvl({ catalog, snapshot }),
    positions: positions.positions,
    ops: positions.ops,
    ...telemetry.countBuilds(
      createPartnerServices({
        catalog,
        clients: clientsOf(Math.min(env.RPC_TIMEOUT_MS, BUILD_RPC_TIMEOUT_MS)),
        quotes: upstreams.quotes,
        timers: deps.timers,
        clock,
        budgets,
        facts: (chainId) => snapshot.facts(chainId),
        composed: (chainId) => services.composed(chainId),
        feeReceiver: config.feeReceiver,
        appUrl: env.APP_URL,
        ...createWalletReading({
          catalog,
          positions: positions.positions,
          composed: (chainId) => services.composed(chainId),
        }),
      }),
    ),
  };

  const createContext = (visit: Visit, request: Request | null, trusted: boolean): AppContext => ({
    request,
    nowMs: clock.now(),
    caller: visit.caller,
    correlationId: visit.correlationId,
    logger: logger.child({ correlationId: visit.correlationId }),
    maxPageSize: trusted ? Number.POSITIVE_INFINITY : MAX_PAGE_SIZE,
    services,
    loaders: createLoaders(services),
  });

  const onError = metrics === undefined ? {} : { onError: metrics.refused };
  const door = createFrontDoor({ config, keys, clock, logger, ...onError });
  const routes = createRoutes({ chainIds: catalog.chainIds, equityChainIds: equityChainIds(catalog.chains) });
  const built: GraphQLSchema = buildSchema();
  const schema = deps.tracing?.schema(built) ?? built;
  const rendered = createRendered({ clock, ...(metrics === undefined ? {} : { onLookup: metrics.cacheLookup }) });
  const graphql = createGraphQLServer({
    schema,
    createContext,
    persisted: persistedOperations(manifest, routes),
    rendered: rendered.operations,
    plugins: [],
    introspection: env.INTROSPECTION,
    admission: door.admission,
    limits: door.limits,
    graphiql: env.GRAPHIQL ? { tabs: exampleTabs(config.sampleKeys) } : false,
    anonymousMayRunAnyDocument: !env.PERSISTED_ONLY_FOR_ANONYMOUS,
    ...onError,
    logger,
  });
  const rest = createRestAdapter({
    routes,
    logger,
    admit: door.admitRest,
    execute: ({ operation, variables, entry }) =>
      graphql.executePersisted({ operation, variables, visit: entry.visit }),
    rendered: rendered.rows,
    holdsOf: ({ visit }) => rendered.operations.holdsOf(visit),
  });
  const status = createStatusPages({
    catalog,
    services,
    clock,
    place: snapshot.place,
    stopping: () => stopped !== undefined,
  });
  const docs = createDocsPages({ routes });
  const opsPage = createOpsPage();
  const nearMisses = createNearMisses({ pages: ['/docs', '/ops', '/openapi.json', '/health', '/ready', GRAPHQL_PATH] });
  const routeNames = new Set([...status.paths, ...docs.paths, ...opsPage.paths, GRAPHQL_PATH]);
  const routeName = (path: string) => (routeNames.has(path) ? path : (rest.routeOf(path) ?? 'unmatched'));
  const isPublic = env.ROLE !== 'warmer';
  const fast = createFastPath({
    hit: rendered.rows.hit,
    charge: door.chargeAddress,
    cors: { origins: config.corsOrigins },
    trustedProxies: env.TRUSTED_PROXIES,
  });
  const handler = createHandler({
    graphql: isPublic ? graphql : closedGraphQL,
    pages: (request) =>
      status.answer(request) ??
      (isPublic
        ? (docs.answer(request) ?? opsPage.answer(request) ?? nearMisses.answer(request) ?? rest.answer(request))
        : notServedHere(request.correlationId)),
    routeName,
    cors: { origins: config.corsOrigins },
    trustedProxies: env.TRUSTED_PROXIES,
    ...(isPublic ? { fast } : {}),
    clock,
    logger,
    observe: (exchange) => {
      metrics?.request(exchange);
      deps.observe?.(exchange);
    },
  });

  const hourly = createHourlyReports({ ops: services.ops, chainIds: catalog.chainIds, timers: deps.timers });
  let listening: Listening | undefined;
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    const delayMs = listening === undefined ? 0 : env.STOP_DELAY_SEC * 1_000;
    const drainMs = DRAIN_MS - delayMs;
    hourly.stop();
    // Leases go back while requests still run: another warmer takes over at once.
    const cooled = bounded('warmers', warmth.stop(), DRAIN_MS, deps);
    await new Promise<void>((resolve) => (delayMs === 0 ? resolve() : deps.timers.setTimeout(resolve, delayMs)));
    changes.close();
    await bounded('requests', listening?.close(drainMs) ?? Promise.resolve(), drainMs + CLOSE_MS, deps);
    await cooled;
    const closing = [keys.close(), door.close(), db.destroy(), telemetry.stop()];
    await bounded('connections', Promise.all(closing), CLOSE_MS, deps);
  };
  return {
    fetch: handler.fetch,
    get url() {
      if (!listening) throw new Error('the service is not started');
      return listening.url;
    },
    get metricsUrl() {
      return telemetry.url;
    },
    warmers: warmth.runner,
    get warmed() {
      return warmth.warmed;
    },
    async start() {
      const { timers, tracing } = deps;
      try {
        await openDatabase(env.DATABASE_URL ?? '', { logger, timers, waitMs: env.START_WAIT_SEC * 1_000 });
        await snapshot.restore();
        await telemetry.start();
        const listener = tracing?.node(handler.node, routeName) ?? handler.node;
        listening = await listen(listener, {
          host: env.HOST,
          port: env.PORT,
          ...(metrics === undefined ? {} : { onSlowReader: metrics.slowReader }),
        });
        warmth.start(env.ROLE !== 'api');
        if (env.ROLE !== 'api') hourly.start();
      } catch (error) {
        await this.stop();
        throw error;
      }
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}
