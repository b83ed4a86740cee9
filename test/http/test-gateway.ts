import { printSchema } from 'graphql';
import type { HttpMessage } from '../../devnet/http.ts';
import { createGateway, persistedOperations } from '../../src/app/gateway.ts';
import { wireMcp } from '../../src/app/mcp.ts';
import { curatedChains } from '../../src/catalog/index.ts';
import { createConfig } from '../../src/config/config.ts';
import { createCompiler } from '../../src/graphql/compiler.ts';
import { createGraphQLServer } from '../../src/graphql/yoga.ts';
import { createAnswerCache } from '../../src/http/answer-cache.ts';
import { createCachedRows } from '../../src/http/cached-rows.ts';
import { compress } from '../../src/http/compression.ts';
import { createEarlyRefusals } from '../../src/http/early-refusals.ts';
import { createHandler, GRAPHQL_PATH } from '../../src/http/handler.ts';
import { corsHeaders } from '../../src/http/headers.ts';
import { listen } from '../../src/http/listen.ts';
import { exampleTabs } from '../../src/http/pages/example-tabs.ts';
import { createFiles } from '../../src/http/pages/files.ts';
import { readGuides } from '../../src/http/pages/guides.ts';
import { createUnread } from '../../src/http/unread-answers.ts';
import { createFairQueue, type FairQueue } from '../../src/limits/fair-queue.ts';
import type { RequestContext } from '../../src/limits/request-context.ts';
import { UNREAD_LIMITS } from '../../src/limits/tier-limits.ts';
import { MCP_PATH } from '../../src/mcp/endpoint.ts';
import { unreadRefusal } from '../../src/mcp/json-rpc.ts';
import { createRedisConnections } from '../../src/redis/connections.ts';
import { createContext } from '../../src/resolvers/common/context.ts';
import { MAX_PAGE_SIZE } from '../../src/resolvers/common/page.ts';
import type { Services } from '../../src/resolvers/common/services.ts';
import { createRestAdapter } from '../../src/rest/adapter.ts';
import { createRoutes, documents } from '../../src/rest/routes/index.ts';
import type { Entry, ExecutePort, RestRequest } from '../../src/rest/types.ts';
import { sharedSchema } from '../../src/schema/index.ts';
import { NOW_MS } from '../domain/world.ts';
import { completeContext } from '../resolvers/world.ts';
import { type Answer, sendRequest } from '../support/http-client.ts';
import { captureLogs } from '../support/log-capture.ts';
import type { Faults } from './faults.ts';

export const PARTNER_KEY = { authorization: 'Bearer front-partner' };
export const OPS_KEY = { authorization: 'Bearer front-ops' };
const KEYS: Readonly<Record<string, { keyId: string; tier: 'partner' | 'ops'; label: string }>> = {
  [PARTNER_KEY.authorization]: { keyId: 'key-partner', tier: 'partner', label: 'partner' },
  [OPS_KEY.authorization]: { keyId: 'key-ops', tier: 'ops', label: 'ops' },
};

export interface FrontOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Replace services, e.g. by ones that throw. */
  readonly services?: Partial<Services>;
  /** Execution of the rows; default: the persisted operations. */
  readonly execute?: ExecutePort<Entry>;
  /** Makes calls of the front's dependencies throw. */
  readonly faults?: Faults;
  readonly connectionsPerAddress?: number;
  readonly headersTimeout?: number;
  readonly requestTimeout?: number;
  /** The queue in place of the one of a process. */
  readonly fairQueue?: FairQueue;
  readonly unread?: { readonly processBytes: number; readonly addressBytes: number };
  readonly verify?: (header: string | null | undefined) => Promise<(typeof KEYS)[string] | null>;
}

export interface Front {
  readonly url: string;
  readonly schema: ReturnType<typeof sharedSchema>;
  readonly routes: ReturnType<typeof createRoutes>;
  readonly clock: { now(): number; advance(ms: number): void };
  readonly logs: ReturnType<typeof captureLogs>;
  /** Routes of the answers that ended with an error after their headers were sent. */
  readonly brokenAnswers: readonly string[];
  /** Calls of tools: name and outcome. */
  readonly toolCalls: readonly (readonly [string, string])[];
  send(path: string, message?: HttpMessage): Promise<Answer>;
  graphql(query: string, init?: { variables?: object; headers?: Record<string, string> }): Promise<Answer>;
  /** Resolves when pending compressions of cached answers are done. */
  compressed(): Promise<void>;
  stop(): Promise<void>;
}

/** The whole HTTP side of the service with complete facts and without a world or warmers. */
export async function startTestGateway(options: FrontOptions = {}): Promise<Front> {
  const env = { NODE_ENV: 'test', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', ...options.env };
  const config = createConfig(env);
  let nowMs = NOW_MS;
  const faulty: Faults['wrap'] = options.faults?.wrap ?? ((_name, thing) => thing);
  const clock = {
    now: () => nowMs,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
  const logs = captureLogs();
  const verify = options.verify ?? (async (header) => KEYS[header ?? ''] ?? null);
  const { MAX_QUEUED_REQUESTS: maxWaiting } = config.env;
  const fairQueue =
    options.fairQueue ?? createFairQueue({ now: () => performance.now(), later: setImmediate, maxWaiting });
  const door = createGateway({
    config,
    keys: faulty('keys', { verify, accepted: (header: string) => KEYS[header] ?? null }),
    clock: faulty('clock', clock),
    fairQueue: faulty('fairQueue', fairQueue),
    redisConnections: config.redis === undefined ? undefined : createRedisConnections(config.redis, logs.logger),
    logger: logs.logger,
  });
  const schema = sharedSchema();
  const routes = createRoutes({
    schema: sharedSchema(),
    chainIds: curatedChains.map(({ chainId }) => chainId),
    equityChainIds: [4663],
  });
  const complete = completeContext();
  const services = faulty('services', { ...complete.live(), ...options.services });
  const cors = { origins: config.corsOrigins };
  const answers = createAnswerCache({ clock, compress, maxBytes: 8 * 1024 * 1024 });
  const guides = readGuides();
  const files = createFiles({
    guides,
    sampleKeys: [],
    routes,
    tabs: config.env.GRAPHIQL ? exampleTabs(new Map()) : null,
    sdl: config.env.INTROSPECTION ? () => `${printSchema(sharedSchema())}\n` : undefined,
    charge: door.chargeFile,
  });
  const graphql = createGraphQLServer({
    schema,
    createContext: faulty(
      'createContext',
      (requestContext: RequestContext, { trusted, transport }: { trusted: boolean; transport: 'rest' | 'graphql' }) =>
        createContext(services, {
          nowMs: complete.nowMs,
          caller: requestContext.caller,
          correlationId: requestContext.correlationId,
          maxPageSize: trusted ? Number.POSITIVE_INFINITY : MAX_PAGE_SIZE,
          contract: transport === 'rest' ? 'v1' : 'graphql',
        }),
    ),
    persisted: persistedOperations(documents, routes),
    answers: faulty('answers', answers),
    compiler: faulty('compiler', createCompiler({ now: () => clock.now(), later: setImmediate })),
    fairQueue: faulty('fairQueue', fairQueue),
    page: config.env.GRAPHIQL ? (request) => files.page(request) : undefined,
    introspection: config.env.INTROSPECTION,
    anonymousMayRunAnyDocument: !config.env.PERSISTED_ONLY_FOR_ANONYMOUS,
    admission: faulty('admission', door.admission),
    limits: door.limits,
    logger: logs.logger,
  });
  const rest = createRestAdapter({
    routes,
    clock,
    logger: logs.logger,
    admit: faulty('admitRest', door.admitRest),
    cachedRows:
      options.faults === undefined ? undefined : createCachedRows({ cache: faulty('answers', answers), clock }),
    execute:
      options.execute ??
      (({ entry: { requestContext }, ...call }) => graphql.executePersisted({ ...call, requestContext })),
  });
  const toolCalls: (readonly [string, string])[] = [];
  const mcp = wireMcp({
    routes,
    chainIds: curatedChains.map(({ chainId }) => chainId),
    guides,
    logger: logs.logger,
    origins: config.mcpOrigins,
    rest,
    gateway: door,
    onCall: (...call) => toolCalls.push(call),
  });
  const brokenAnswers: string[] = [];
  const unread = createUnread(options.unread ?? UNREAD_LIMITS);
  const early = createEarlyRefusals({
    exhausted: door.exhausted,
    uncharged: [],
    graphqlPath: GRAPHQL_PATH,
    keyedPaths: { [MCP_PATH]: unreadRefusal },
    clock,
    logger: logs.logger,
  });
  const handler = createHandler({
    graphql: faulty('graphql', graphql),
    pages: faulty(
      'pages',
      (request: RestRequest) =>
        files.answer(request) ??
        mcp.answer(request) ??
        files.missing(request, (path) => rest.routeOf(path) !== undefined) ??
        rest.answer(request),
    ),
    routeName: faulty('routeName', (path: string) =>
      path === GRAPHQL_PATH ? path : (rest.routeOf(path) ?? 'unmatched'),
    ),
    cors,
    trustedProxies: config.env.TRUSTED_PROXIES,
    unread: faulty('unread', unread),
    clientOf: door.clientOf,
    observe: options.faults === undefined ? undefined : faulty('observe', () => {}),
    onBrokenAnswer: (route) => brokenAnswers.push(route),
    early: faulty('early', early),
    clock: faulty('clock', clock),
    logger: logs.logger,
  });
  const listening = await listen(handler.node, {
    host: '127.0.0.1',
    port: 0,
    connectionsPerAddress: options.connectionsPerAddress,
    headersTimeout: options.headersTimeout,
    requestTimeout: options.requestTimeout,
    headersFor: (origin) => corsHeaders(cors, origin),
  });
  const send = (path: string, message?: HttpMessage) =>
    sendRequest(`${listening.url}${path}`, { ...message, isAlone: options.faults !== undefined });
  return {
    url: listening.url,
    schema,
    routes,
    clock,
    logs,
    brokenAnswers,
    toolCalls,
    send,
    graphql: (query, { variables, headers } = {}) =>
      send('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
      }),
    compressed: () => answers.settled(),
    async stop() {
      await listening.close(1_000);
      await door.close();
    },
  };
}

/** Settings that leave room for tests that ask a lot. */
export const UNLIMITED = { RATE_LIMIT_ANONYMOUS: '0', RATE_LIMIT_PARTNER: '0', RATE_LIMIT_OPS: '0' };
