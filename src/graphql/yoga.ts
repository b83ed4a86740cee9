import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { GraphQLError, type GraphQLSchema, NoSchemaIntrospectionCustomRule } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { AnswerCache } from '../http/answer-cache.ts';
import { compressedAnswer } from '../http/compressed-answer.ts';
import { toGraphQLError } from '../http/errors.ts';
import { graphqlAnswer, graphqlRefusal } from '../http/graphql-refusal.ts';
import { GRAPHQL_PATH, type GraphQLEndpoint, type NodeExchange } from '../http/handler.ts';
import type { Admission } from '../limits/admission.ts';
import { countedClient } from '../limits/clients.ts';
import type { FairQueue } from '../limits/fair-queue.ts';
import { ADMISSION_POINTS } from '../limits/points.ts';
import { openRequestContext, type RequestContext } from '../limits/request-context.ts';
import type { Limits } from '../limits/tier-limits.ts';
import type { AppContext } from '../resolvers/common/context.ts';
import type { RestRequest, RestResponse, StreamResponse } from '../rest/types.ts';
import type { Logger } from '../shared/logger.ts';
import { createCachedAnswers } from './cached-answers.ts';
import type { Compiler } from './compiler.ts';
import type { ServerContext } from './context.ts';
import { createDeprecations, withDeprecations } from './deprecation-headers.ts';
import { createPersistedExecution } from './execute-persisted.ts';
import { createExecute, executed, type FormatError } from './execution.ts';
import { textIn } from './graphql-request.ts';
import { createIntrospection } from './introspection.ts';
import { jsonTypeFor } from './media-type.ts';
import { useAnswerCache } from './plugins/use-answer-cache.ts';
import { useChangedSelection } from './plugins/use-changed-selection.ts';
import { useEngine } from './plugins/use-engine.ts';
import { useEventIds } from './plugins/use-event-ids.ts';
import { useFieldLimits } from './plugins/use-field-limits.ts';
import { useGateway } from './plugins/use-gateway.ts';
import { createRegisteredDocuments, usePersisted } from './plugins/use-persisted.ts';
import { useQueryLimits } from './plugins/use-query-limits.ts';
import { useReceipts } from './plugins/use-receipts.ts';
import { useRefusedKeys } from './plugins/use-refused-keys.ts';
import { useRunnableOperation } from './plugins/use-runnable-operation.ts';
import { useStreamKeys } from './plugins/use-stream-keys.ts';
import { useStreamLimits } from './plugins/use-stream-limits.ts';
import { createQueries } from './queries.ts';
import { createKnownNames, type GraphQLParams, readGraphQL } from './request-parameters.ts';

export interface PersistedOperation {
  readonly sha256: string;
  readonly document: string;
  /** Cost of one call in points. */
  readonly points: number;
}

export interface GraphQLServerDeps {
  readonly schema: GraphQLSchema;
  /** Create the context of one operation; `trusted` = it is a persisted one, `transport` is `rest` for the rows of /v1. */
  readonly createContext: (
    requestContext: RequestContext,
    by: { readonly trusted: boolean; readonly transport: ServerContext['transport'] },
  ) => AppContext;
  readonly persisted: ReadonlyMap<string, PersistedOperation>;
  /** Cached answers; absent: every operation is executed. */
  readonly answers?: AnswerCache | undefined;
  /** Called with each look-up in the cache, for metrics. */
  readonly onLookup?: ((hit: boolean) => void) | undefined;
  readonly compiler: Compiler;
  /** The page for browsers that open the endpoint; absent: they get the same answer as others. */
  readonly page?: ((request: RestRequest) => Promise<RestResponse>) | undefined;
  readonly introspection: boolean;
  readonly anonymousMayRunAnyDocument: boolean;
  readonly fairQueue: FairQueue;
  readonly admission: Admission;
  readonly limits: Limits;
  readonly logger: Logger;
  /** Called with every error before it is converted, for metrics. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface GraphQLServer extends GraphQLEndpoint {
  /** Run a persisted operation through the same plugins and context. Enums in its variables and its data have their internal values. */
  readonly executePersisted: ReturnType<typeof createPersistedExecution>;
}

/** Create the Yoga server behind the gateway, and the function that executes persisted operations in the same pipeline. */
export function createGraphQLServer(deps: GraphQLServerDeps): GraphQLServer {
  const { schema, persisted, admission, limits, fairQueue } = deps;
  const formatError = createErrorFormat(deps);
  const operations = [...persisted.values()];
  const textsByHash = new Map(operations.map(({ sha256, document }) => [sha256, document]));
  const registered = createRegisteredDocuments();
  const pointsByText = new Map(operations.map(({ document, points }) => [document, points]));
  const queries = createQueries({ limits, persistedPoints: (text) => pointsByText.get(text) });

  const yoga: YogaServerInstance<ServerContext, AppContext> = createYoga<ServerContext, AppContext>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    landingPage: false,
    logging: false,
    cors: false,
    // The gateway limits bodies and batches per tier.
    batching: { limit: Math.max(...Object.values(limits).map(({ batch }) => batch)) },
    maxRequestBodySize: false,
    multipart: false,
    // The query limits cache documents. Yoga's cache would return one tier's document to another without a check.
    parserAndValidationCache: false,
    extraParamNames: ['documentId'],
    context: ({ info, params, transport }) =>
      deps.createContext(info, { trusted: pointsByText.has(params?.query ?? ''), transport }),
    // The gateway plugin converts errors, because it knows their request.
    maskedErrors: { maskError: (error) => (error instanceof Error ? error : new Error(String(error))) },
    graphiql: false,
    plugins: [
      useEngine({ compiler: deps.compiler, admission, fairQueue, formatError }),
      useChangedSelection(),
      useGateway({ formatError }),
      usePersisted({ operations: textsByHash, registered, anyDocument: deps.anonymousMayRunAnyDocument }),
      useRefusedKeys({ schema }),
      useQueryLimits({ queries, admission, fairQueue, suggestions: deps.introspection }),
      useRunnableOperation(),
      ...cachePlugins(deps),
      useReceipts(),
      useFieldLimits({ schema, limits }),
      ...(deps.introspection ? [] : [useNoIntrospection()]),
      ...streamPlugins(deps, formatError),
    ],
  });

  const textOf = (id: string) => textsByHash.get(id.replace(/^sha256:/, ''));
  const anyTextOf = (id: string) => textOf(id) ?? registered.get(id.replace(/^sha256:/, ''));
  const knownNames = createKnownNames(schema, operations);
  const cachedAnswer = createCachedAnswers({
    cache: deps.answers,
    introspection: deps.introspection ? createIntrospection(schema) : undefined,
    admission,
    limits,
    textOf,
    anyDocument: deps.anonymousMayRunAnyDocument,
    onHit: () => deps.onLookup?.(true),
  });
  const deprecations = createDeprecations(schema, anyTextOf);
  const execute = createExecute(yoga, formatError);
  return {
    refuse: (error, { headers, correlationId }) =>
      graphqlRefusal(formatError(error, correlationId), headers.accept, null),
    async answer(request, info, { req, res }) {
      const requestContext = openRequestContext(info);
      const { accept } = request.headers;
      let params: GraphQLParams | readonly GraphQLParams[];
      try {
        await admission.admit(requestContext, 'GraphQL');
        if (deps.page && request.method === 'GET' && accept?.includes('text/html')) return await deps.page(request);
        let refusal: Error | null = null;
        const turn = async () => {
          refusal = await fairQueue.enterOrRefusal(countedClient(requestContext), requestContext.left);
        };
        params = await readGraphQL(request, requestContext, limits, knownNames, turn);
        // The admission has charged the first operation; the others are charged before parsing.
        if (Array.isArray(params)) await admission.charge(requestContext, (params.length - 1) * ADMISSION_POINTS);
        const cached = await cachedAnswer(params, requestContext, request.headers);
        if (cached) return await compressedAnswer(withDeprecations(cached, deprecations(params)), request.headers);
        if (refusal !== null) throw refusal;
      } catch (error) {
        return graphqlRefusal(formatError(error, requestContext.correlationId), accept, requestContext);
      }
      const isRead = request.method === 'GET';
      const context: ServerContext = { info: requestContext, transport: 'graphql', params, isRead };
      const contentType = mayStream(params, anyTextOf) ? undefined : jsonTypeFor(accept);
      const made =
        contentType === undefined
          ? await listened(yoga, context, request, { req, res })
          : graphqlAnswer(await executed(context, execute, formatError), contentType, requestContext);
      const response = withDeprecations(made, deprecations(params));
      return 'stream' in response ? response : compressedAnswer(response, request.headers);
    },
    executePersisted: createPersistedExecution({
      schema,
      persisted,
      documentOf: (text) => queries.read(text, 'ops'),
      execute,
      fairQueue,
      formatError,
    }),
  };
}

function cachePlugins({ answers: cache, onLookup }: GraphQLServerDeps) {
  return cache === undefined ? [] : [useAnswerCache({ cache, onMiss: () => onLookup?.(false) })];
}

/** They come last, in this order. */
function streamPlugins({ admission, limits }: GraphQLServerDeps, formatError: FormatError) {
  return [useStreamKeys({ admission, formatError }), useEventIds(), useStreamLimits({ limits })];
}

/** Whether one of the operations of a request may be a subscription. */
function mayStream(params: GraphQLParams | readonly GraphQLParams[], textOf: (id: string) => string | undefined) {
  const operations: readonly GraphQLParams[] = Array.isArray(params) ? params : [params];
  return operations.some((one) => textIn(one, textOf)?.includes('subscription') ?? false);
}

/** Execute by Yoga's listener, which writes streams. */
async function listened(
  yoga: YogaServerInstance<ServerContext, AppContext>,
  context: ServerContext,
  { headers }: RestRequest,
  { req, res }: NodeExchange,
): Promise<RestResponse | StreamResponse> {
  const eventIds: (string | null)[] = [];
  const own = { ...context, lastEventId: headers['last-event-id'], eventIds, readerLeft: leftSignal(res) };
  return responseOf(await yoga.handleNodeRequestAndResponse(req, res, own), eventIds);
}

/** A signal that is aborted when the connection of an answer has ended. */
function leftSignal(res: ServerResponse): AbortSignal {
  const left = new AbortController();
  res.once('close', () => left.abort());
  return left.signal;
}

/** Convert an error, count it and log it, once per error object. */
function createErrorFormat({ onError, logger, introspection }: GraphQLServerDeps) {
  const presentable = new WeakSet<GraphQLError>();
  return (error: unknown, correlationId: string): GraphQLError => {
    if (error instanceof GraphQLError && presentable.has(error)) return error;
    onError?.(error);
    const formatted = toGraphQLError(error, correlationId, logger, { hideNames: !introspection });
    presentable.add(formatted);
    return formatted;
  };
}

function useNoIntrospection(): Plugin {
  return {
    onValidate({ addValidationRule }) {
      addValidationRule(NoSchemaIntrospectionCustomRule);
    },
  };
}

/** Convert an answer of Yoga: as a whole, unless it is a stream of events. */
async function responseOf(response: Response, eventIds: (string | null)[]): Promise<RestResponse | StreamResponse> {
  // Plugins may set header names in any case.
  const headers = Object.fromEntries([...response.headers].map(([name, value]) => [name.toLowerCase(), value]));
  // The length is that of the bytes that are written.
  delete headers['content-length'];
  const { status } = response;
  // Reading the property makes a stream of a text.
  const events = STREAMED.test(headers['content-type'] ?? '') ? response.body : null;
  if (events) {
    const hasIds = headers['content-type']?.startsWith('text/event-stream') === true;
    // Yoga marks streams with the encoding `none`, which is not registered, so that nothing compresses them.
    const { 'content-encoding': _none, ...own } = headers;
    const stream = readableOf(events, eventIds, hasIds);
    return { status, headers: { ...own, ...UNBUFFERED }, stream, isEvents: true };
  }
  return { status, headers, body: await response.text() };
}

/**
 * Convert the body of a fetch response to a stream of Node, and write the id of each event before it where
 * the form of the stream has ids. Destroying the stream
 * ends the source, even while it waits.
 */
function readableOf(body: ReadableStream<Uint8Array>, eventIds: (string | null)[], hasIds: boolean): Readable {
  const reader = body.getReader();
  return new Readable({
    highWaterMark: 1,
    read() {
      reader.read().then(
        ({ done, value }) => {
          if (done) return void this.push(null);
          this.push(hasIds ? withIds(value, eventIds) : value);
          // Without ids in the stream no other code empties the list, and it would grow with the stream.
          if (!hasIds) eventIds.length = 0;
        },
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, callback) {
      // The reader of Yoga's own streams ends with the next chunk only, which may be a ping in 12 s. Streams of the platform
      // are locked by their reader.
      void body
        .cancel()
        .catch(() => reader.cancel())
        .catch(() => {});
      callback(error);
    },
  });
}

/** Begin of an event with a result, as Yoga writes it. Data has no line breaks, so that it cannot contain this line. */
const EVENT_NAME = Buffer.from('event: next\n');

/** Write the ids of the events that begin in a chunk; results come in the order of their ids. */
function withIds(chunk: Uint8Array, eventIds: (string | null)[]): Uint8Array {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at = bytes.indexOf(EVENT_NAME); at !== -1; at = bytes.indexOf(EVENT_NAME, at + EVENT_NAME.length)) {
    const id = eventIds.shift() ?? null;
    if (id !== null) parts.push(bytes.subarray(from, at), Buffer.from(`id: ${id}\n`));
    if (id !== null) from = at;
  }
  return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)]);
}

/** Proxies pass on each event at once: nginx reads the first header, proxies and middleware that compress the second one. */
const UNBUFFERED = { 'x-accel-buffering': 'no', 'cache-control': 'no-store, no-transform' };

const STREAMED = /^(?:text\/event-stream|multipart\/mixed)\b/;
