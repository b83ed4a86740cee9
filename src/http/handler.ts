import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CountedClient } from '../limits/clients.ts';
import { errorResponse } from '../rest/envelope.ts';
import type { RestRequest, RestResponse, StreamResponse } from '../rest/types.ts';
import type { Clock } from '../shared/clock.ts';
import { AppError, BadRequestError } from '../shared/errors.ts';
import type { Headers } from '../shared/headers.ts';
import type { Logger } from '../shared/logger.ts';
import { type RequestInfo, requestInfoOf } from '../shared/request-info.ts';
import { loggedError } from '../shared/scrub.ts';
import { readNodeBody } from './body.ts';
import { compressedAnswer } from './compressed-answer.ts';
import { requiresKey } from './connections.ts';
import type { createEarlyRefusals } from './early-refusals.ts';
import { type CorsPolicy, corsHeaders, preflightHeaders, SECURITY_HEADERS } from './headers.ts';
import { type UnreadAnswers, UnreadAnswersError } from './unread-answers.ts';
import { bytesOf, writeStream, writeWhole } from './write.ts';

/** A request with its socket, for streams that last as long as the connection. */
export interface NodeExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** The GraphQL server as the handler uses it. */
export interface GraphQLEndpoint {
  answer(request: RestRequest, info: RequestInfo, node: NodeExchange): Promise<RestResponse | StreamResponse>;
  /** Convert an error of a whole request to the form of GraphQL. */
  refuse(error: unknown, request: Pick<RestRequest, 'headers' | 'correlationId'>): RestResponse;
}

export type HttpExchange = {
  readonly method: string;
  /** From a bounded set: a route template, `/graphql`, or `unmatched`. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly correlationId: string;
};

export interface HandlerDeps {
  readonly graphql: GraphQLEndpoint;
  /** Everything except GraphQL: status pages, documents and /v1. */
  readonly pages: (request: RestRequest) => Promise<RestResponse | StreamResponse> | RestResponse;
  readonly routeName: (path: string) => string;
  readonly cors: CorsPolicy;
  readonly trustedProxies: number;
  readonly unread: UnreadAnswers;
  /** The client of a request, by its key if that is known. */
  readonly clientOf: (info: RequestInfo) => CountedClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observe?: ((exchange: HttpExchange) => void) | undefined;
  /** Called on every answer that ended with an error after its headers were sent, for metrics. */
  readonly onBrokenAnswer?: ((route: string) => void) | undefined;
  /** The refusal of clients whose budget is used up, before any other check. */
  readonly early?: ReturnType<typeof createEarlyRefusals> | undefined;
}

export interface HttpHandler {
  node(req: IncomingMessage, res: ServerResponse): void;
}

export const GRAPHQL_PATH = '/graphql';
const READY_PATH = '/ready';
/** Status in logs and metrics for a caller that disconnected before the answer began. It is never sent. */
const CALLER_LEFT = 499;

const INTERNAL = {
  code: 'internal',
  status: 500,
  message: 'The service failed unexpectedly. Quote the correlationId in a report.',
} as const;

/**
 * Create the handler of all requests: common headers, preflight, correlation id and log line for every surface. Any failure on
 * the way to an answer is answered with the error envelope of its surface.
 */
export function createHandler(deps: HandlerDeps): HttpHandler {
  const { graphql, pages, cors, trustedProxies, unread, clock, logger } = deps;

  const record = createExchangeLog(deps);

  const answer = async (req: IncomingMessage, res: ServerResponse, state: State): Promise<void> => {
    const startedMs = clock.now();
    const { path, query } = splitTarget(req.url ?? '/');
    state.path = path;
    const left = signalOf(res);
    const own = requestInfoOf(req.headers, req.socket.remoteAddress, trustedProxies);
    const info = { ...own, left, needsKey: requiresKey(req) };
    state.correlationId = info.correlationId;
    const method = req.method ?? 'GET';
    const finish = () => record(state, method, startedMs, res);
    const refused = deps.early?.(req, info, path);
    if (refused) {
      writeWhole(req, res, refused, bytesOf(refused.body), ...commonOf(req, state));
      finish();
      return;
    }
    res.once('close', finish);
    if (method === 'OPTIONS') {
      const asked = req.headers['access-control-request-headers'];
      const headers = preflightHeaders(cors, req.headers.origin, Array.isArray(asked) ? asked.join(',') : asked);
      writeWhole(req, res, { status: 204, headers, body: '' }, 0, SECURITY_HEADERS, idHeader(state));
      return;
    }
    checkHeaders(req);
    const request: RestRequest = {
      method,
      path,
      query,
      headers: req.headers as Readonly<Record<string, string | undefined>>,
      body: (limit) => readNodeBody(req, limit),
      correlationId: info.correlationId,
      clientIp: info.clientIp,
      left,
      needsKey: info.needsKey,
    };
    const response = path === GRAPHQL_PATH ? await graphql.answer(request, info, { req, res }) : await pages(request);
    if ('stream' in response) {
      await writeStream(req, res, response, ...commonOf(req, state));
      return;
    }
    state.route = response.route;
    const encoded = isChosen(response) ? response : await compressedAnswer(response, request.headers);
    const client = deps.clientOf(info);
    const bytes = bytesOf(encoded.body);
    if (unread.refuses(client, bytes)) throw new UnreadAnswersError();
    writeWhole(req, res, encoded, bytes, ...commonOf(req, state));
    unread.note(res, client);
  };

  const commonOf = (req: IncomingMessage, state: State): readonly Headers[] => [
    SECURITY_HEADERS,
    idHeader(state),
    corsHeaders(cors, req.headers.origin),
  ];

  const refusalOf = (error: unknown, req: IncomingMessage, { path, correlationId }: State): RestResponse => {
    if (!(error instanceof AppError)) {
      logger.error({ err: loggedError(error), correlationId }, 'request failed unexpectedly');
    }
    const headers = req.headers as Readonly<Record<string, string | undefined>>;
    if (path === GRAPHQL_PATH) return graphql.refuse(error, { headers, correlationId });
    return errorResponse(error instanceof AppError ? failureOf(error) : INTERNAL, correlationId);
  };

  /** Answer with an error. `true` = done. */
  const fail = (error: unknown, req: IncomingMessage, res: ServerResponse, state: State): true => {
    // The request failed before its correlation id was read.
    if (state.correlationId === '') state.correlationId = randomUUID();
    // An answer that has begun cannot be replaced, and is cut off so that it does not look complete.
    if (res.headersSent) {
      logger.error({ err: loggedError(error), correlationId: state.correlationId }, 'answer broke off');
      res.destroy();
      deps.onBrokenAnswer?.(deps.routeName(state.path));
      return true;
    }
    const response = attempt(() => refusalOf(error, req, state)) ?? errorResponse(INTERNAL, state.correlationId);
    writeWhole(req, res, response, bytesOf(response.body), ...commonOf(req, state));
    return true;
  };

  return {
    node(req, res) {
      req.url = originForm(req.url ?? '/');
      const state: State = { correlationId: '', path: '', route: undefined };
      answer(req, res, state).catch((error: unknown) => {
        if (!attempt(() => fail(error, req, res, state))) res.destroy();
      });
    },
  };
}

/** Log each answered request and report it. After the answer a failure is logged only. */
function createExchangeLog({ routeName, observe, clock, logger }: HandlerDeps) {
  return ({ path, route, correlationId }: State, method: string, startedMs: number, res: ServerResponse): void => {
    try {
      const exchange: HttpExchange = {
        method: KNOWN_METHODS.has(method) ? method : 'OTHER',
        route: route ?? routeName(path),
        status: res.headersSent ? res.statusCode : CALLER_LEFT,
        durationMs: clock.now() - startedMs,
        correlationId,
      };
      observe?.(exchange);
      // A probe polls this path, so its 503 is not logged as a failure.
      const level = exchange.status >= 500 && exchange.route !== READY_PATH ? 'warn' : 'debug';
      logger[level](exchange, 'request');
    } catch (error) {
      logger.error({ err: loggedError(error), correlationId }, 'request was answered and not recorded');
    }
  };
}

/** Whether the encoding was chosen before: for answers of a cache, for files and for GraphQL. */
function isChosen({ headers, encoded }: RestResponse): boolean {
  return encoded !== undefined || headers.vary?.includes('accept-encoding') === true;
}

/** Make, once, the signal that is aborted when the client of an exchange disconnects before its answer is sent. */
function signalOf(res: ServerResponse): () => AbortSignal {
  let signal: AbortSignal | undefined;
  return () => {
    if (signal !== undefined) return signal;
    const controller = new AbortController();
    if (res.destroyed) controller.abort(CLIENT_LEFT);
    else
      res.once('close', () => {
        if (!res.writableFinished) controller.abort(CLIENT_LEFT);
      });
    signal = controller.signal;
    return signal;
  };
}

/** Without a reason of ours each abort makes an exception with a stack trace. */
const CLIENT_LEFT = 'the client has left';

function idHeader({ correlationId }: State): Headers {
  return { 'x-correlation-id': correlationId };
}

/** State of a request for error handling. */
interface State {
  correlationId: string;
  path: string;
  route: string | undefined;
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** @throws BadRequestError for headers that are ambiguous in HTTP */
function checkHeaders(req: IncomingMessage): void {
  // Only one of them would be used, and a proxy may have used the other one.
  if (req.headers.authorization !== undefined && (req.headersDistinct.authorization?.length ?? 0) > 1) {
    throw new BadRequestError('The header "Authorization" is repeated. Send it once.', {
      field: 'headers.authorization',
    });
  }
  const { host } = req.headers;
  const wrong =
    host === undefined
      ? req.httpVersion === '1.1' && 'is missing. HTTP/1.1 requires it'
      : (hostsOf(req) > 1 && 'is repeated. Send it once') || (!isHost(host) && 'is not a valid host');
  if (wrong) throw new BadRequestError(`The header "Host" ${wrong}.`, { field: 'headers.host' });
}

/** Count the Host headers: Node keeps only the first one. */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** The last valid host: nearly all requests have the same one. */
let lastHost = '';

/** Whether URLs can be made with this host. An empty one is allowed by HTTP and means none. */
function isHost(host: string): boolean {
  if (host === '' || host === lastHost) return true;
  const isValid = !/[\s/?#@\\]/.test(host) && URL.canParse(`http://${host}`);
  if (isValid) lastHost = host;
  return isValid;
}

const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

/** Convert a request target to origin form. HTTP also allows the absolute form, as for proxies. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(ABSOLUTE, '');
  return rest === '' || rest.startsWith('?') ? `/${rest}` : rest;
}

function failureOf(error: AppError) {
  const { code, message, status, details, retryAfterSec } = error;
  return {
    code,
    message,
    status,
    details,
    retryAfterSec,
  };
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function splitTarget(target: string): { path: string; query: string } {
  const at = target.indexOf('?');
  return at === -1 ? { path: target, query: '' } : { path: target.slice(0, at), query: target.slice(at + 1) };
}
