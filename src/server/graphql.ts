import { type DocumentNode, type ExecutionResult, type GraphQLSchema, parse, validate } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { AppContext } from '../resolvers/context.ts';
import type { Logger } from '../shared/logger.ts';
import { toGraphQLError } from './errors.ts';
import { GRAPHQL_PATH, type GraphQLEndpoint } from './handler.ts';
import type { RequestInfo } from './request-info.ts';
import { currentCorrelationId, runInRequest } from './request-scope.ts';
import { usePersisted } from './use-persisted.ts';

/** GraphQL documents of the partner surface are small; this bounds what is parsed at all. */
export const MAX_GRAPHQL_BODY_BYTES = 256 * 1024;

/** What the initial context of every execution carries, whichever transport it came by. */
export interface ServerContext {
  readonly info: RequestInfo;
}

export interface GraphQLServerDeps {
  readonly schema: GraphQLSchema;
  /** Build the context of one request: who calls, when, and per-request loaders. */
  readonly createContext: (info: RequestInfo, request: Request | null) => Promise<AppContext> | AppContext;
  /** Text of the persisted operations by sha-256. */
  readonly persisted: ReadonlyMap<string, string>;
  readonly plugins: readonly Plugin[];
  readonly graphiql:
    | false
    | { readonly tabs: readonly { readonly query: string; readonly headers?: string; readonly variables?: string }[] };
  readonly anonymousMayRunAnyDocument: boolean;
  readonly logger: Logger;
}

export interface GraphQLServer extends GraphQLEndpoint {
  /** Run an operation known in advance, parsed and validated once, through the same plugins and context. */
  executePersisted(call: {
    readonly document: DocumentNode;
    readonly variables: Readonly<Record<string, unknown>>;
    readonly info: RequestInfo;
  }): Promise<ExecutionResult>;
  /** Parse and validate an operation against the schema. @throws Error naming what does not fit */
  prepare(text: string): DocumentNode;
}

/** Build the Yoga server and the in-process way into the same pipeline. */
export function createGraphQLServer(deps: GraphQLServerDeps): GraphQLServer {
  const { schema, createContext, persisted, plugins, graphiql, logger } = deps;
  const yoga: YogaServerInstance<ServerContext, AppContext> = createYoga<ServerContext, AppContext>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    landingPage: false,
    logging: false,
    cors: false,
    batching: { limit: 10 },
    multipart: false,
    parserAndValidationCache: true,
    context: (initial) => createContext(initial.info, initial.request ?? null),
    maskedErrors: {
      maskError: (error) => toGraphQLError(error, currentCorrelationId(), logger),
    },
    graphiql:
      graphiql === false
        ? false
        : { title: 'spiral-gateway', defaultTabs: graphiql.tabs.map((tab) => ({ ...tab })), credentials: 'omit' },
    // One inline page, imported only when somebody opens it: the default page would load from a CDN.
    renderGraphiQL: async (options) => (await import('@graphql-yoga/render-graphiql')).renderGraphiQL(options),
    plugins: [usePersisted({ operations: persisted, anyDocument: deps.anonymousMayRunAnyDocument }), ...plugins],
  });

  return {
    handleNode: (req, res, info) =>
      runInRequest(info, () => yoga.handle(req, res, { info }) as unknown as Promise<void>),
    fetch: async (request, info) => runInRequest(info, () => yoga.fetch(request, { info })),
    executePersisted: ({ document, variables, info }) =>
      runInRequest(info, async () => {
        const { contextFactory, execute } = yoga.getEnveloped({ info, params: {}, request: null });
        const contextValue = await contextFactory();
        return (await execute({ schema, document, variableValues: variables, contextValue })) as ExecutionResult;
      }),
    prepare(text) {
      const document = parse(text);
      const [error] = validate(schema, document);
      if (error) throw new Error(`Persisted operation does not fit the schema: ${error.message}`);
      return document;
    },
  };
}
