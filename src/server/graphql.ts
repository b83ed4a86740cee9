import type { IncomingMessage } from 'node:http';
import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  parse,
  validate,
} from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { AppContext } from '../resolvers/context.ts';
import type { RestRequest, RestResponse } from '../rest/types.ts';
import { UnauthorizedError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { Admission } from './admission.ts';
import { readAsked } from './asked.ts';
import { readFetchBody, readNodeBody } from './body.ts';
import { createDirect, type Taken } from './direct.ts';
import { toGraphQLError } from './errors.ts';
import { readGraphQL } from './graphql-door.ts';
import { GRAPHQL_PATH, type GraphQLEndpoint, splitTarget, writeNode } from './handler.ts';
import type { Limits } from './limits.ts';
import { createQueries } from './queries.ts';
import { graphqlRefusal } from './refusal.ts';
import type { RequestInfo } from './request-info.ts';
import type { ServerContext } from './server-context.ts';
import { type createTextSender, responseOf } from './text-answer.ts';
import { createFieldLimits } from './use-field-limits.ts';
import { useFrontDoor } from './use-front-door.ts';
import { usePersisted } from './use-persisted.ts';
import { useQueryLimits } from './use-query-limits.ts';
import type { RenderedOperations } from './use-rendered.ts';
import { useStreamKeys } from './use-stream-keys.ts';
import { useStreamLimits } from './use-stream-limits.ts';
import { openVisit, type Visit } from './visit.ts';

export interface PersistedOperation {
  readonly sha256: string;
  readonly document: string;
  /** What one call costs, in points of the budget. */
  readonly points: number;
}

export interface GraphQLServerDeps {
  readonly schema: GraphQLSchema;
  /** Build the context of one operation; `trusted` = it is one of the persisted ones. */
  readonly createContext: (visit: Visit, trusted: boolean) => AppContext;
  /** The persisted operations by name. */
  readonly persisted: ReadonlyMap<string, PersistedOperation>;
  /** Answers of repeated operations; absent: every operation is executed. */
  readonly rendered?: RenderedOperations;
  readonly graphiql:
    | false
    | { readonly tabs: readonly { readonly query: string; readonly headers?: string; readonly variables?: string }[] };
  readonly introspection: boolean;
  readonly anonymousMayRunAnyDocument: boolean;
  /** Sends answers that are text with ready heads; absent: with headers like any other. */
  readonly sendText?: ReturnType<typeof createTextSender>;
  readonly admission: Admission;
  readonly limits: Limits;
  readonly logger: Logger;
  /** Told of every error before it is made presentable, for metrics. */
  readonly onError?: (error: unknown) => void;
}

export interface GraphQLServer extends GraphQLEndpoint {
  /** Run a persisted operation, parsed and validated once, through the same plugins and context. */
  executePersisted(call: {
    readonly operation: string;
    readonly variables: Readonly<Record<string, unknown>>;
    readonly visit: Visit;
  }): Promise<ExecutionResult>;
}

/** Build the Yoga server behind the front door, and the in-process way into the same pipeline. */
export function createGraphQLServer(deps: GraphQLServerDeps): GraphQLServer {
  const { schema, persisted, graphiql, admission, limits, logger } = deps;
  const presentable = new WeakSet<GraphQLError>();
  /** Make an error presentable, count it and log it; once, however often it comes by. */
  const formatError = (error: unknown, correlationId: string) => {
    if (error instanceof GraphQLError && presentable.has(error)) return error;
    deps.onError?.(error);
    const formatted = toGraphQLError(error, correlationId, logger, { hideSuggestions: !deps.introspection });
    presentable.add(formatted);
    return formatted;
  };
  const operations = [...persisted.values()];
  const textsByHash = new Map(operations.map(({ sha256, document }) => [sha256, document]));
  const pointsByText = new Map(operations.map(({ document, points }) => [document, points]));
  const documents = new Map([...persisted].map(([name, { document }]) => [name, prepare(schema, document)]));

  const queries = createQueries({ limits, persistedPoints: (text) => pointsByText.get(text) });
  const fieldLimits = createFieldLimits({ schema, limits });

  const yoga: YogaServerInstance<ServerContext, AppContext> = createYoga<ServerContext, AppContext>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    landingPage: false,
    logging: false,
    cors: false,
    // The front door has bounded bodies and batches already, per tier.
    batching: { limit: Math.max(...Object.values(limits).map(({ batch }) => batch)) },
    maxRequestBodySize: false,
    multipart: false,
    // Documents are cached by the query limits: Yoga's cache would hand one tier's document to another unchecked.
    parserAndValidationCache: false,
    extraParamNames: ['documentId'],
    context: (initial) => deps.createContext(initial.info, pointsByText.has(initial.params?.query ?? '')),
    // Errors are made presentable where their request is known: by the front door, which every answer passes.
    maskedErrors: { maskError: (error) => (error instanceof Error ? error : new Error(String(error))) },
    graphiql:
      graphiql === false
        ? false
        : { title: 'spiral-gateway', defaultTabs: graphiql.tabs.map((tab) => ({ ...tab })), credentials: 'omit' },
    // One inline page, imported only when somebody opens it: the default page would load from a CDN.
    renderGraphiQL: async (options) => (await import('@graphql-yoga/render-graphiql')).renderGraphiQL(options),
    plugins: [
      useFrontDoor({ formatError }),
      usePersisted({ operations: textsByHash, anyDocument: deps.anonymousMayRunAnyDocument }),
      useQueryLimits({ queries, admission }),
      // Before the limits of single fields: no field with such a limit has an answer that is kept.
      ...(deps.rendered === undefined ? [] : [deps.rendered.plugin]),
      fieldLimits.plugin,
      ...(deps.introspection ? [] : [useNoIntrospection()]),
      useStreamKeys({ admission, formatError }),
      useStreamLimits({ limits }),
    ],
  });

  /** Let a request in and read it, or refuse it. */
  const enter = async (request: RestRequest, visit: Visit): Promise<{ params?: unknown } | RestResponse> => {
    try {
      await admission.admit(visit, 'GraphQL');
      const wantsPage = graphiql !== false && request.method === 'GET' && request.headers.accept?.includes('text/html');
      return wantsPage ? {} : { params: await readGraphQL(request, visit, limits) };
    } catch (error) {
      // A key that is refused here and one that is refused at a field shall look the same, the connection included.
      if (error instanceof UnauthorizedError) await request.body(limits.anonymous.bodyBytes).catch(() => undefined);
      return graphqlRefusal(formatError(error, visit.correlationId), request.headers.accept, visit);
    }
  };

  const direct =
    deps.rendered === undefined || !deps.anonymousMayRunAnyDocument
      ? undefined
      : createDirect({
          schema,
          queries,
          rendered: deps.rendered,
          admission,
          asksLimited: fieldLimits.asksLimited,
          createContext: deps.createContext,
        });
  /** Answer what is asked without a key and in plain form the short way. */
  const tryDirect = async (
    params: unknown,
    visit: Visit,
    accept: string | undefined,
  ): Promise<Taken & { refusal?: RestResponse }> => {
    const asked =
      direct === undefined || visit.authorization !== undefined
        ? undefined
        : readAsked(params, (id) => textsByHash.get(id.replace(/^sha256:/, '')));
    if (direct === undefined || asked === undefined) return {};
    try {
      return await direct(asked, visit, accept);
    } catch (error) {
      return { refusal: graphqlRefusal(formatError(error, visit.correlationId), accept, visit) };
    }
  };

  return {
    async handleNode(req, res, info, common) {
      const visit = openVisit(info);
      const entered = await enter(fromNode(req, info), visit);
      const write = (response: RestResponse) =>
        writeNode(req, res, { ...response, headers: { ...common(), ...response.headers } });
      if ('status' in entered) {
        write(entered);
        return;
      }
      const { answer, refusal, charged } = await tryDirect(entered.params, visit, req.headers.accept);
      if (answer) {
        if (!deps.sendText?.(req, res, answer, info)) write(responseOf(answer));
      } else if (refusal) write(refusal);
      else {
        for (const [name, value] of Object.entries(common())) res.setHeader(name, value);
        const context = { ...entered, ...(charged === undefined ? {} : { charged }) };
        await yoga.handle(req, res, { ...context, info: visit, transport: 'graphql' });
      }
    },
    async fetch(request, info) {
      const visit = openVisit(info);
      const entered = await enter(fromFetch(request, info), visit);
      if (!('status' in entered)) return yoga.fetch(request, { ...entered, info: visit, transport: 'graphql' });
      const { status, headers, body } = entered;
      return new Response(body as string, { status, headers: { ...headers } });
    },
    async executePersisted({ operation, variables, visit }) {
      const text = persisted.get(operation)?.document;
      const document = documents.get(operation);
      if (!document) throw new Error(`no persisted operation is named ${operation}`);
      const formatted = (errors: readonly unknown[]) => errors.map((error) => formatError(error, visit.correlationId));
      try {
        const { contextFactory, execute } = yoga.getEnveloped({
          info: visit,
          transport: 'rest',
          params: { query: text },
          request: null,
        });
        const contextValue = await contextFactory();
        const args = { schema, document, variableValues: variables, contextValue };
        const result = (await execute(args)) as ExecutionResult;
        return result.errors === undefined ? result : { ...result, errors: formatted(result.errors) };
      } catch (error) {
        return { errors: formatted([error]) };
      }
    },
  };
}

/** Parse and validate an operation of ours. @throws Error naming what does not fit */
function prepare(schema: GraphQLSchema, text: string) {
  const document = parse(text);
  const [error] = validate(schema, document);
  if (error) throw new Error(`Persisted operation does not fit the schema: ${error.message}`);
  return document;
}

function useNoIntrospection(): Plugin {
  return {
    onValidate({ addValidationRule }) {
      addValidationRule(NoSchemaIntrospectionCustomRule);
    },
  };
}

function fromNode(req: IncomingMessage, info: RequestInfo): RestRequest {
  return {
    method: req.method ?? 'GET',
    ...splitTarget(req.url ?? '/'),
    headers: req.headers as Readonly<Record<string, string | undefined>>,
    body: (limit) => readNodeBody(req, limit),
    correlationId: info.correlationId,
    clientIp: info.clientIp,
  };
}

function fromFetch(request: Request, info: RequestInfo): RestRequest {
  const url = new URL(request.url);
  return {
    method: request.method,
    path: url.pathname,
    query: url.search.slice(1),
    headers: Object.fromEntries(request.headers),
    body: (limit) => readFetchBody(request, limit),
    correlationId: info.correlationId,
    clientIp: info.clientIp,
  };
}
