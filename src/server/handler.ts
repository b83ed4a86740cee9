import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorResponse } from '../rest/envelope.ts';
import type { RestRequest, RestResponse } from '../rest/types.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { loggedError } from '../shared/scrub.ts';
import { readFetchBody, readNodeBody } from './body.ts';
import type { createFastPath } from './fast-path.ts';
import { type CorsPolicy, corsHeaders, preflightHeaders, SECURITY_HEADERS } from './headers.ts';
import { type RequestInfo, requestInfoOf } from './request-info.ts';

/** The GraphQL server as seen from here: a node listener and a fetch function that take what is known of the request. */
export interface GraphQLEndpoint {
  /** @param common makes the headers that every answer carries */
  handleNode(req: IncomingMessage, res: ServerResponse, info: RequestInfo, common: () => Headers): Promise<void> | void;
  fetch(request: Request, info: RequestInfo): Promise<Response>;
}

export interface Exchange {
  readonly method: string;
  /** Bounded: a route template, `/graphql`, or `unmatched`. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly correlationId: string;
}

export interface HandlerDeps {
  readonly graphql: GraphQLEndpoint;
  /** Everything that is not GraphQL: status pages, documents and /v1. */
  readonly pages: (request: RestRequest) => Promise<RestResponse> | RestResponse;
  readonly routeName: (path: string) => string;
  readonly cors: CorsPolicy;
  readonly trustedProxies: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observe?: (exchange: Exchange) => void;
  /** The short way for what is ready as bytes; absent: everything goes the usual way. */
  readonly fast?: ReturnType<typeof createFastPath>;
}

export interface HttpHandler {
  node(req: IncomingMessage, res: ServerResponse): void;
  fetch(request: Request): Promise<Response>;
}

export const GRAPHQL_PATH = '/graphql';
const READY_PATH = '/ready';
/** What logs and metrics call a caller that left before the answer began; nobody gets this status. */
const CALLER_LEFT = 499;

/** Build the one entry for requests: common headers, preflight, correlation id and log line for every surface. */
export function createHandler(deps: HandlerDeps): HttpHandler {
  const { graphql, pages, cors, trustedProxies, clock, logger } = deps;

  const done = (method: string, route: string, status: number, startedMs: number, info: RequestInfo) => {
    const exchange: Exchange = {
      method: KNOWN_METHODS.has(method) ? method : 'OTHER',
      route,
      status,
      durationMs: clock.now() - startedMs,
      correlationId: info.correlationId,
    };
    deps.observe?.(exchange);
    // Whoever asks whether it is ready asks again and again: a no is no failure of the request.
    logger[status >= 500 && route !== READY_PATH ? 'warn' : 'debug']({ ...exchange }, 'request');
  };

  const answer = async (request: RestRequest): Promise<RestResponse> => {
    try {
      return await pages(request);
    } catch (error) {
      logger.error({ err: loggedError(error), correlationId: request.correlationId }, 'request failed unexpectedly');
      return errorResponse(
        {
          code: 'internal',
          status: 500,
          message: 'Something went wrong on our side. Quote the correlationId when you report it.',
        },
        request.correlationId,
      );
    }
  };

  return {
    node(req, res) {
      const startedMs = clock.now();
      const answered = deps.fast?.(req, res);
      if (answered) {
        const over = () => done(req.method ?? 'GET', answered.route, res.statusCode, startedMs, answered.info);
        // Mostly the kernel has taken everything by now; only for a reader that is slower is there an end to wait for.
        if (req.socket.writableLength === 0) over();
        else res.once('close', over);
        return;
      }
      const info = requestInfoOf(req.headers, req.socket.remoteAddress, trustedProxies);
      const method = req.method ?? 'GET';
      const { path, query } = splitTarget(req.url ?? '/');
      const origin = req.headers.origin;
      res.once('close', () => {
        const status = res.headersSent ? res.statusCode : CALLER_LEFT;
        done(method, deps.routeName(path), status, startedMs, info);
      });
      const common = () => ({
        ...SECURITY_HEADERS,
        'x-correlation-id': info.correlationId,
        ...corsHeaders(cors, origin),
      });
      if (method === 'OPTIONS') {
        res.writeHead(204, { ...common(), ...preflightHeaders(cors, origin) }).end();
        return;
      }
      if (path === GRAPHQL_PATH) {
        Promise.resolve(graphql.handleNode(req, res, info, common)).catch((error: unknown) => {
          logger.error({ err: loggedError(error), correlationId: info.correlationId }, 'request failed unexpectedly');
          res.destroy();
        });
        return;
      }
      void answer({
        method,
        path,
        query,
        headers: req.headers as Readonly<Record<string, string | undefined>>,
        body: (limit) => readNodeBody(req, limit),
        correlationId: info.correlationId,
        clientIp: info.clientIp,
      }).then((response) => writeNode(req, res, { ...response, headers: withCommon(common(), response.headers) }));
    },

    async fetch(request) {
      const startedMs = clock.now();
      const url = new URL(request.url);
      const headersIn = Object.fromEntries(request.headers);
      const info = requestInfoOf(headersIn, undefined, trustedProxies);
      const origin = request.headers.get('origin') ?? undefined;
      const common = { ...SECURITY_HEADERS, 'x-correlation-id': info.correlationId };
      if (request.method === 'OPTIONS') {
        return new Response(null, { status: 204, headers: { ...common, ...preflightHeaders(cors, origin) } });
      }
      const headersOut = { ...common, ...corsHeaders(cors, origin) };
      let response: Response;
      if (url.pathname === GRAPHQL_PATH) {
        const inner = await graphql.fetch(request, info);
        response = new Response(inner.body, {
          status: inner.status,
          headers: { ...Object.fromEntries(inner.headers), ...headersOut },
        });
      } else {
        const inner = await answer({
          method: request.method,
          path: url.pathname,
          query: url.search.slice(1),
          headers: headersIn,
          body: (limit) => readFetchBody(request, limit),
          correlationId: info.correlationId,
          clientIp: info.clientIp,
        });
        const bodyless = request.method === 'HEAD' || inner.status === 304;
        response = new Response(bodyless ? null : new Uint8Array(Buffer.from(inner.body)), {
          status: inner.status,
          headers: withCommon(headersOut, inner.headers),
        });
      }
      done(request.method, deps.routeName(url.pathname), response.status, startedMs, info);
      return response;
    },
  };
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

type Headers = Readonly<Record<string, string>>;

/** Add the headers of every answer to an answer's own; what an answer varies with adds up. */
function withCommon(common: Headers, own: Headers): Record<string, string> {
  const vary = common.vary !== undefined && own.vary !== undefined ? { vary: `${common.vary}, ${own.vary}` } : {};
  return { ...common, ...own, ...vary };
}

/** Write a whole answer to a socket. */
export function writeNode(req: IncomingMessage, res: ServerResponse, response: RestResponse): void {
  if (res.destroyed) return;
  const bodyless = req.method === 'GET' || req.method === 'HEAD';
  res.writeHead(response.status, {
    // What has no body says nothing of its length: a length of zero would speak for the whole answer.
    ...(response.status === 304 ? {} : { 'content-length': String(Buffer.byteLength(response.body)) }),
    ...response.headers,
    // An unread body would be taken for the next request on this connection.
    ...(req.complete || bodyless ? {} : { connection: 'close' }),
  });
  res.end(req.method === 'HEAD' || response.status === 304 ? undefined : response.body);
}

export function splitTarget(target: string): { path: string; query: string } {
  const at = target.indexOf('?');
  return at === -1 ? { path: target, query: '' } : { path: target.slice(0, at), query: target.slice(at + 1) };
}
