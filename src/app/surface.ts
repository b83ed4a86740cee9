import { printSchema } from 'graphql';
import { createCompiler } from '../graphql/compiler.ts';
import { createGraphQLServer, type GraphQLServerDeps } from '../graphql/yoga.ts';
import { createAnswerCache } from '../http/answer-cache.ts';
import { createCachedRows } from '../http/cached-rows.ts';
import { compress } from '../http/compression.ts';
import { createEarlyRefusals, type EarlyRefusalDeps } from '../http/early-refusals.ts';
import { createHandler, GRAPHQL_PATH, type HttpHandler } from '../http/handler.ts';
import { exampleTabs } from '../http/pages/example-tabs.ts';
import { createFiles } from '../http/pages/files.ts';
import { readGuides } from '../http/pages/guides.ts';
import { createRedirects } from '../http/redirects.ts';
import { createUnread } from '../http/unread-answers.ts';
import { type CountedClient, countedClient } from '../limits/clients.ts';
import { createFairQueue } from '../limits/fair-queue.ts';
import type { RequestContext } from '../limits/request-context.ts';
import { UNREAD_LIMITS } from '../limits/tier-limits.ts';
import { MCP_PATH } from '../mcp/endpoint.ts';
import { unreadRefusal } from '../mcp/json-rpc.ts';
import { type ClientPort, createContext } from '../resolvers/common/context.ts';
import { MAX_PAGE_SIZE } from '../resolvers/common/page.ts';
import { createRestAdapter } from '../rest/adapter.ts';
import { createRoutes, documents } from '../rest/routes/index.ts';
import type { RestRequest } from '../rest/types.ts';
import { buildSchema, sharedSchema } from '../schema/index.ts';
import { equityChainIds } from '../transactions/equity/index.ts';
import type { Core } from './core.ts';
import type { AppDeps } from './deps.ts';
import { createGateway, type Gateway, persistedOperations } from './gateway.ts';
import { wireMcp } from './mcp.ts';
import { createStatusPages } from './pages.ts';
import { closedGraphQL, notServedHere } from './warmer-only.ts';

export interface Surface {
  readonly handler: HttpHandler;
  /** Route name of a path for metrics, logs and spans, from a bounded set. */
  readonly routeName: (path: string) => string;
  readonly unreadBytes: number;
  /** The client of a key that was accepted before, by its header. */
  readonly keyOf: (authorization: string) => CountedClient | undefined;
  close(): Promise<void>;
}

/** Paths beside the rows that are often sent with a trailing slash. */
const PAGES = ['/docs', '/ops', '/openapi.json', '/health', '/ready', GRAPHQL_PATH, MCP_PATH];

/** Wire the HTTP surfaces: the gateway, GraphQL, the /v1 rows on the same execution, and the pages. */
export function createSurface(deps: AppDeps, core: Core, stopping: () => boolean): Surface {
  const { config, logger, clock } = deps;
  const { env } = config;
  const { catalog, services, stores } = core;
  const { metrics } = core.telemetry;

  const fairQueue = queueOf(deps);
  const onError = metrics === undefined ? {} : { onError: metrics.refused };
  const gateway = createGateway({
    config,
    keys: stores.keys,
    usage: stores.usage,
    clock,
    fairQueue,
    redisConnections: core.redisConnections,
    logger,
    ...onError,
    onInsured: metrics?.insuredCharge,
  });
  // Tracing changes the fields of its schema.
  const schema = deps.tracing?.schema(buildSchema()) ?? sharedSchema();
  const routes = createRoutes({ schema, chainIds: catalog.chainIds, equityChainIds: equityChainIds(catalog.chains) });
  const answers = createAnswerCache({ clock, compress, maxBytes: env.ANSWER_CACHE_MB * 2 ** 20 });
  metrics?.cacheFill('answers', answers.fill);
  const guides = readGuides();
  const files = createFiles({ routes, guides, charge: gateway.chargeFile, ...pagesOf(config) });
  const graphql = createGraphQLServer({
    schema,
    createContext: contextOf(services, clock, gateway.admission),
    persisted: persistedOperations(documents, routes),
    answers,
    onLookup: (hit) => metrics?.cacheLookup('graphql', hit),
    compiler: createCompiler({ now: () => clock.now(), later: setImmediate }),
    fairQueue,
    introspection: env.INTROSPECTION,
    admission: gateway.admission,
    limits: gateway.limits,
    page: env.GRAPHIQL ? (request) => files.page(request) : undefined,
    anonymousMayRunAnyDocument: !env.PERSISTED_ONLY_FOR_ANONYMOUS,
    ...onError,
    logger,
  });
  const rest = createRestAdapter({
    routes,
    clock,
    logger,
    admit: gateway.admitRest,
    execute: ({ entry: { requestContext }, ...call }) => graphql.executePersisted({ ...call, requestContext }),
    cachedRows: createCachedRows({ cache: answers, clock, onLookup: (hit) => metrics?.cacheLookup('rest', hit) }),
  });
  const mcp = wireMcp({
    routes,
    chainIds: catalog.chainIds,
    guides,
    origins: config.mcpOrigins,
    logger,
    rest,
    gateway,
    onCall: metrics?.toolCall,
  });
  const status = statusPages(deps, core, stopping);
  const isRow = (path: string) => rest.routeOf(path) !== undefined;
  const redirects = createRedirects({
    pages: [...PAGES, ...files.paths.filter((path) => path.startsWith('/docs/'))],
    folders: files.folders,
    isRow,
  });
  const named = new Set([...status.paths, ...files.paths, GRAPHQL_PATH, MCP_PATH]);
  const routeName = (path: string) => (named.has(path) ? path : (rest.routeOf(path) ?? 'unmatched'));
  const isPublic = env.ROLE !== 'warmer';
  const resource = (request: RestRequest) => files.missing(request, isRow) ?? rest.answer(request);
  const unread = createUnread(UNREAD_LIMITS);
  const handler = createHandler({
    graphql: isPublic ? graphql : closedGraphQL,
    pages: (request) =>
      status.answer(request) ??
      (isPublic
        ? (files.answer(request) ?? mcp.answer(request) ?? redirects.answer(request) ?? resource(request))
        : notServedHere(request.correlationId)),
    routeName,
    cors: { origins: config.corsOrigins },
    trustedProxies: env.TRUSTED_PROXIES,
    unread,
    clientOf: gateway.clientOf,
    early: isPublic ? earlyRefusals(deps, gateway, status.paths, onError) : undefined,
    clock,
    logger,
    onBrokenAnswer: metrics?.brokenAnswer,
    observe: observersOf(deps, core),
  });
  return {
    handler,
    routeName,
    keyOf: gateway.keyOf,
    get unreadBytes() {
      return unread.bytes;
    },
    close: () => gateway.close(),
  };
}

/** Tell each exchange to the metrics, and to the observer of the application. */
function observersOf({ observe }: AppDeps, { telemetry: { metrics } }: Core): NonNullable<AppDeps['observe']> {
  return (exchange) => {
    metrics?.request(exchange);
    observe?.(exchange);
  };
}

/** Refuse what needs no body before it is read. */
function earlyRefusals(
  { clock, logger }: AppDeps,
  gateway: Gateway,
  uncharged: readonly string[],
  onError: Pick<EarlyRefusalDeps, 'onError'>,
) {
  return createEarlyRefusals({
    exhausted: gateway.exhausted,
    uncharged,
    clock,
    logger,
    ...onError,
    graphqlPath: GRAPHQL_PATH,
    keyedPaths: { [MCP_PATH]: unreadRefusal },
  });
}

/** Select the parts of the configuration that the pages show. */
function pagesOf({ env, sampleKeys, exampleApp }: AppDeps['config']) {
  return {
    tabs: env.GRAPHIQL ? exampleTabs(sampleKeys) : null,
    sdl: env.INTROSPECTION ? () => `${printSchema(sharedSchema())}\n` : undefined,
    sampleKeys: [...sampleKeys.keys()],
    exampleApp,
  };
}

function queueOf({ config, logger }: AppDeps) {
  return createFairQueue({
    now: () => performance.now(),
    later: setImmediate,
    maxWaiting: config.env.MAX_QUEUED_REQUESTS,
    maxTurnWaitMs: config.env.MAX_TURN_WAIT_MS,
    onOverload: (isOverloaded) => {
      if (isOverloaded) logger.warn({}, 'more requests than can be answered in time: new ones are refused');
      else logger.info({}, 'requests are answered in time again');
    },
  });
}

/** Create the contexts of operations. */
function contextOf(
  services: Core['services'],
  clock: AppDeps['clock'],
  admission: Gateway['admission'],
): GraphQLServerDeps['createContext'] {
  return (requestContext, { trusted, transport }) =>
    createContext(services, {
      client: clientOf(requestContext, admission),
      nowMs: clock.now(),
      caller: requestContext.caller,
      correlationId: requestContext.correlationId,
      maxPageSize: trusted ? Number.POSITIVE_INFINITY : MAX_PAGE_SIZE,
      contract: transport === 'rest' ? 'v1' : 'graphql',
    });
}

/** The client of a request, as the fields that wait or measure charge it. */
function clientOf(requestContext: RequestContext, admission: Gateway['admission']): ClientPort {
  const { identity, network } = countedClient(requestContext);
  return {
    identity,
    network,
    charge: async (points) => void (await admission.charge(requestContext, points)),
    refund: async (points) => admission.refund(requestContext, points),
    left: () => requestContext.left?.(),
  };
}

function statusPages(
  { config, clock }: AppDeps,
  {
    catalog,
    services,
    stores: { keys, databaseStatus },
    nodes,
    upstreams,
    redisConnections,
    snapshot,
    warming,
    indexers,
    featureHealth,
  }: Core,
  stopping: () => boolean,
) {
  return createStatusPages({
    catalog,
    services,
    clock,
    role: config.env.ROLE,
    jobs: warming.runner.jobs,
    keyChecks: keys.checks,
    indexers: indexers.latest,
    features: featureHealth,
    databaseStatus,
    nodes,
    upstreams,
    place: snapshot.place,
    redisConnections,
    stopping,
  });
}
