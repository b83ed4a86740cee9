import type { GraphQLError } from 'graphql';
import { z } from 'zod';
import type { Clock } from '../shared/clock.ts';
import { ANSWER_MAX_AGE_SEC } from '../shared/contract/answer-max-age.ts';
import { AppError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { loggedError } from '../shared/scrub.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import { csvOf } from './csv.ts';
import { type ErrorContent, errorResponse, isErrorCode } from './envelope.ts';
import {
  countParameters,
  ignoredParameters,
  type KnownNames,
  locateField,
  MAX_BODY_BYTES,
  namesIn,
  parseInput,
  parseJsonBody,
  parseQuery,
  queryNames,
  valuesOf,
  withoutAbsent,
} from './input.ts';
import { type BodyPage, jsonInPages } from './pages.ts';
import { createRouter, type Match, MethodNotAllowedError, type Router } from './router.ts';
import { rowDeprecationHeaders } from './row-deprecation.ts';
import type {
  AdmitPort,
  AnyRoute,
  Entry,
  ExecutePort,
  MadeResponse,
  RestRequest,
  RestResponse,
  RoutePages,
  RowCache,
  StreamResponse,
} from './types.ts';

export interface RestDeps<E extends Entry> {
  readonly routes: readonly AnyRoute[];
  readonly admit: AdmitPort<E>;
  readonly execute: ExecutePort<E>;
  /** Cache of public rows; absent: every answer is made anew. */
  readonly cachedRows?: RowCache | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface RestAdapter {
  answer(request: RestRequest): Promise<RestResponse | StreamResponse>;
  /** Answer with the brief of the row, where it has one. */
  answerBriefly(request: RestRequest): Promise<RestResponse | StreamResponse>;
  /** The path template of a path, for metrics and logs: a bounded set, also for unknown paths. */
  routeOf(path: string): string | undefined;
}

/**
 * Create the adapter that answers /v1 requests: find the row, pass the gateway, parse the input, run the row's persisted
 * operation and project the data. Every failure becomes the error envelope; only unexpected errors are logged here.
 */
export function createRestAdapter<E extends Entry>(deps: RestDeps<E>): RestAdapter {
  const { routes, admit, execute, cachedRows, clock, logger } = deps;
  const router = createRouter(routes);
  const briefRows = routes.map((route) => ({ ...route, ...route.tool?.brief }));
  const briefRouter = createRouter(briefRows);
  const deprecations = new Map([...routes, ...briefRows].map((route) => [route, rowDeprecationHeaders(route)]));

  /**
   * Execute the operation of a row.
   * @throws AppError for invalid input
   */
  const begin = async (request: RestRequest, match: Match, entry: E, left?: () => AbortSignal): Promise<StartedRow> => {
    const { route, pathParams } = match;
    const notBegun = async (error: unknown): Promise<never> => {
      await entry.giveBack();
      throw error;
    };
    const input = await readInput(request, match, entry).catch(notBegun);
    const { operation } = route;
    const call = { operation, variables: route.variables(input), entry, left };
    const { result, validity, again } = await execute(call).catch(notBegun);
    const [error] = result.errors ?? [];
    if (error) {
      const failure = fromGraphQLError(error, (details) => {
        const field = locateField(details.field, { ...route, pathParams });
        return { ...details, field, ...route.sentAs?.(input)[field] };
      });
      return { ok: false, response: errorResponse(failure, request.correlationId) };
    }
    const project = (data: unknown) => withMeta(route.project(data, input), result.extensions);
    return { ok: true, input, data: result.data, project, validity, again };
  };

  const run = async (request: RestRequest, match: Match, entry: E, left?: () => AbortSignal): Promise<MadeResponse> => {
    const begun = await begin(request, match, entry, left);
    if (!begun.ok) return begun;
    const body = begun.project(begun.data);
    const file = csvOf(request, match.route, body, begun.input);
    if (file) return { response: file };
    const headers = headersOf(match.route, entry);
    return { response: { status: 200, headers, body: JSON.stringify(body) }, validity: begun.validity };
  };

  const stream = async (
    request: RestRequest,
    match: Match,
    entry: E,
    pages: RoutePages<unknown>,
  ): Promise<RestResponse | StreamResponse> => {
    const begun = await begin(request, match, entry);
    if (!begun.ok) return begun.response;
    const { data, project, again } = begun;
    const readPage = async (variables: Readonly<Record<string, unknown>>): Promise<BodyPage> => {
      const { data: following, errors } = await again(variables);
      if (errors?.[0]) throw errors[0];
      return { data: following, body: project(following) };
    };
    const body = jsonInPages({ data, body: project(data) }, pages, readPage, clock);
    return { status: 200, headers: headersOf(match.route, entry), stream: body };
  };

  const answerFrom = async ({ match: find }: Router, request: RestRequest): Promise<RestResponse | StreamResponse> => {
    const match = attempt(() => find(request.method, request.path));
    const entry = await admit(request, match.ok ? match.value.route : null);
    let response: RestResponse | StreamResponse;
    let ignored: string | undefined;
    try {
      if (entry.refusal !== null) throw entry.refusal;
      if (!match.ok) throw match.error;
      const { value } = match;
      const { route } = value;
      countQuery(request, value);
      if (route.pages) {
        response = await stream(request, value, entry, route.pages);
      } else {
        const isFresh = asksFresh(request.query, value);
        const made =
          cachedRows && route.method === 'GET' && route.surface === 'Public' && !isFresh
            ? await cachedRows.answer(cacheable(request, value, entry), (left) => run(request, value, entry, left))
            : (await run(request, value, entry)).response;
        response = (entry.keyed && !route.csv) || isFresh ? unshared(made) : made;
        if (request.query !== '') ignored = ignoredIn(request, value);
      }
    } catch (error) {
      response = errorResponse(toFailure(error, request, logger), request.correlationId);
    }
    // A refused key gets no budget headers.
    if (response.status === 401) return response;
    const deprecation = match.ok ? deprecations.get(match.value.route) : undefined;
    const ignoring = ignored === undefined ? undefined : { 'ignored-parameters': ignored };
    const headers = deprecation || ignoring ? { ...response.headers, ...deprecation, ...ignoring } : response.headers;
    const route = match.ok ? match.value.route.path : undefined;
    return withHeaders(response, headers, entry.headers(), route);
  };
  return {
    answer: (request) => answerFrom(router, request),
    answerBriefly: (request) => answerFrom(briefRouter, request),
    routeOf: router.templateOf,
  };
}

/** Bound the names of a query string before it is read. @throws BadRequestError */
function countQuery({ query }: RestRequest, { route, pathParams }: Match): void {
  const names = queryNames(route.params, pathParams);
  countParameters(query, (name) => names.includes(name));
}

/** Parse the input of a row. @throws AppError naming the place */
async function readInput(request: RestRequest, { route, pathParams }: Match, entry: Entry) {
  const unknown = route.surface === 'Public' ? 'ignore' : 'refuse';
  const names = queryNames(route.params, pathParams);
  const query = parseQuery(request.query, names, unknown, route.refusedParams, valuesOf(route.params));
  const params: unknown = parseInput(route.params, { ...query, ...pathParams }, (name) =>
    name !== undefined && Object.hasOwn(pathParams, name) ? 'path' : 'query',
  );
  const headers = route.headers === undefined ? {} : parseInput(route.headers, request.headers, () => 'headers');
  if (route.body === undefined) return { params, headers, body: undefined };
  const given = await parseJsonBody(request, MAX_BODY_BYTES, entry.turn, bodyNames(route.body));
  return { params, headers, body: parseInput(route.body, withoutAbsent(route.body, given), () => 'body') };
}

const namesOfBodies = new WeakMap<z.ZodType, KnownNames>();

/** The names that a body takes, listed once. */
function bodyNames(schema: z.ZodType): KnownNames {
  let known = namesOfBodies.get(schema);
  if (known === undefined) {
    const names = new Set(namesIn(schema));
    known = () => (name) => names.has(name);
    namesOfBodies.set(schema, known);
  }
  return known;
}

function ignoredIn({ query }: RestRequest, { route, pathParams }: Match): string | undefined {
  return ignoredParameters(query, queryNames(route.params, pathParams));
}

/** Parameters whose answers are made for one request. */
const FRESH_PARAMETERS = ['afterTx', 'minBlock', 'maxAge'] as const;

/** Whether a request asks for an answer that is fresher than the cached one. */
function asksFresh(query: string, { route, pathParams }: Match): boolean {
  if (query === '') return false;
  const names = queryNames(route.params, pathParams);
  const sent = new URLSearchParams(query);
  return FRESH_PARAMETERS.some((name) => names.includes(name) && sent.has(name));
}

/** Add how fresh the only field of an operation is, where that was asked. */
function withMeta(body: unknown, extensions: Readonly<Record<string, unknown>> | undefined): unknown {
  const [receipt] = (extensions?.reads ?? []) as readonly { readonly field: string }[];
  if (receipt === undefined) return body;
  const { field: _field, ...meta } = receipt;
  return { ...(body as object), meta };
}

/** The response with these headers, and those of the budget. */
function withHeaders(
  response: RestResponse | StreamResponse,
  headers: Readonly<Record<string, string>>,
  budget: Readonly<Record<string, string>>,
  route: string | undefined,
): RestResponse | StreamResponse {
  const { status } = response;
  return 'stream' in response
    ? { status, headers, budget, route, stream: response.stream }
    : { status, headers, budget, route, body: response.body };
}

/** The executed operation of a row, or the answer to its error. */
type StartedRow =
  | { readonly ok: false; readonly response: RestResponse }
  | {
      readonly ok: true;
      readonly input: { readonly params: unknown };
      readonly data: unknown;
      readonly project: (data: unknown) => unknown;
      readonly validity: MadeResponse['validity'];
      readonly again: Awaited<ReturnType<ExecutePort<Entry>>>['again'];
    };

function headersOf({ surface, csv }: AnyRoute, { keyed }: Entry): Readonly<Record<string, string>> {
  return withoutUndefined({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': surface === 'Public' && !keyed ? `public, max-age=${ANSWER_MAX_AGE_SEC}` : 'no-store',
    // With a key the same row is private.
    vary: surface === 'Public' ? 'authorization' : csv ? 'accept, authorization' : undefined,
  });
}

/** The request for the cache. An answer to a key has no entity tag, so its validators do not count. */
function cacheable(request: RestRequest, match: Match, { keyed }: Entry): RestRequest {
  const query = knownQuery(request.query, match);
  const { operation, tool } = match.route;
  // A brief has the path of its row.
  const path = operation === tool?.brief?.operation ? `${operation}:${request.path}` : request.path;
  if (!keyed && query === request.query && path === request.path) return request;
  const headers = keyed ? { ...request.headers, 'if-none-match': undefined } : request.headers;
  return { ...request, headers, path, query };
}

/** The answer to a key has the same bytes, but must not be cached by others. */
function unshared({ status, headers: { age: _age, etag: _etag, ...headers }, body }: RestResponse): RestResponse {
  return { status, headers: { ...headers, 'cache-control': 'no-store' }, body };
}

/**
 * Reduce a query to the row's parameters, in the row's order, so that unknown parameters make no cache entries.
 * @throws BadRequestError for a malformed query
 */
function knownQuery(query: string, { route, pathParams }: Match): string {
  if (query === '' || !(route.params instanceof z.ZodObject)) return query;
  const names = queryNames(route.params, pathParams);
  const given = parseQuery(query, names, 'ignore', {}, valuesOf(route.params));
  const known = names.flatMap((name) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    return value === undefined ? [] : [[name, value]];
  });
  return new URLSearchParams(known).toString();
}

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

function attempt<T>(run: () => T): Attempt<T> {
  try {
    return { ok: true, value: run() };
  } catch (error) {
    return { ok: false, error };
  }
}

/** The pipeline has masked and classified the error: `extensions` has code, status, details. */
function fromGraphQLError(error: GraphQLError, locate: LocateDetails): ErrorContent {
  const { code, status, details, retryAfterSec } = error.extensions;
  if (!isErrorCode(code)) return INTERNAL;
  return {
    code,
    message: error.message,
    status: typeof status === 'number' ? status : 500,
    details: details === undefined ? undefined : locatedDetails(details, locate),
    retryAfterSec: typeof retryAfterSec === 'number' ? retryAfterSec : undefined,
  };
}

type LocateDetails = (details: { readonly field: string }) => object;

/** Replace the names of inputs in the pipeline by their location in the request. */
function locatedDetails(details: unknown, locate: LocateDetails): unknown {
  if (typeof details !== 'object' || details === null) return details;
  const { field } = details as { readonly field?: unknown };
  return typeof field === 'string' ? locate({ ...details, field }) : details;
}

const INTERNAL: ErrorContent = {
  code: 'internal',
  status: 500,
  message: 'The service failed unexpectedly. Quote the correlationId in a report.',
};

function toFailure(error: unknown, request: RestRequest, logger: Logger): ErrorContent {
  if (!(error instanceof AppError)) {
    logger.error({ err: loggedError(error), correlationId: request.correlationId }, 'request failed unexpectedly');
    return INTERNAL;
  }
  return {
    code: error.code,
    message: error.message,
    status: error.status,
    details: error.details,
    retryAfterSec: error.retryAfterSec,
    allow: error instanceof MethodNotAllowedError && error.details ? error.details.allow : undefined,
  };
}
