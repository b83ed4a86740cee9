import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { appErrorBehind, variableOf } from '../schema/common/input-errors.ts';
import { AppError, ERROR_CODES, type ErrorCode } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { loggedError } from '../shared/scrub.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';

export interface ErrorExtensions {
  readonly code: ErrorCode;
  /** HTTP status of the code, independent of the transport's own. */
  readonly status: number;
  readonly retryable: boolean;
  readonly correlationId?: string | undefined;
  readonly details?: unknown;
  readonly retryAfterSec?: number | undefined;
}

export interface ErrorOptions {
  /**
   * Whether to remove names that are in the schema but not in the query, because they would allow introspection by guessing.
   */
  readonly hideNames?: boolean | undefined;
}

const SUGGESTION = / ?Did you mean .+\?$/s;
const QUOTED = /"([^"]+)"/g;

/** Remove from a message the names that are not in the query. */
function withoutNames(message: string, source: string): string {
  return message
    .replace(SUGGESTION, '')
    .replaceAll(QUOTED, (quoted, name: string) => (source.includes(name) ? quoted : '(hidden)'));
}

/** Codes that refuse the request as a whole: the GraphQL answer has their HTTP status as well. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'unauthorized',
  'query_too_complex',
  'payload_too_large',
  'method_not_allowed',
  'unsupported_media_type',
]);

/**
 * Convert any thrown value to a GraphQL error for clients. Expected errors keep message, code and details; errors of GraphQL
 * itself (syntax, validation, variables) become `bad_request`; any other error is logged under the correlation id and masked.
 */
export function toGraphQLError(
  error: unknown,
  correlationId: string | undefined,
  logger: Logger,
  options: ErrorOptions = {},
): GraphQLError {
  const original = rootCause(error);
  const expected = error instanceof GraphQLError ? appErrorBehind(error) : error;
  if (expected instanceof AppError) return formatAppError(expected, error, correlationId, logger);
  if (error instanceof GraphQLError && original instanceof GraphQLError)
    return protocolError(error, correlationId, options);
  logger.error({ err: loggedError(original), correlationId }, 'resolver failed unexpectedly');
  return build('The service failed unexpectedly. Quote the correlationId in a report.', error, {
    code: 'internal',
    status: 500,
    retryable: false,
    correlationId,
  });
}

/** The original error: the engine wraps errors to add their location. */
function rootCause(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? rootCause(error.originalError) : error;
}

function formatAppError(
  cause: AppError,
  error: unknown,
  correlationId: string | undefined,
  logger: Logger,
): GraphQLError {
  logger[ERROR_CODES[cause.code].logLevel]({ code: cause.code, correlationId }, 'request refused');
  return build(cause.message, error, {
    code: cause.code,
    status: cause.status,
    retryable: cause.retryable,
    correlationId,
    details: cause.details,
    retryAfterSec: cause.retryAfterSec,
  });
}

/** A classified error keeps its code; an error of the library describes a fault of the document. */
function protocolError(
  error: GraphQLError,
  correlationId: string | undefined,
  { hideNames }: ErrorOptions,
): GraphQLError {
  const { http, details, ...extensions } = error.extensions;
  const code = codeOf(error);
  const { status, retryable } = ERROR_CODES[code];
  const formattedDetails = details ?? detailsOf(error, code);
  const source = error.source?.body;
  return new GraphQLError(hideNames && source !== undefined ? withoutNames(error.message, source) : error.message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: {
      ...extensions,
      code,
      status,
      retryable,
      details: formattedDetails,
      correlationId,
      ...withoutUndefined({ http }),
    },
  });
}

function codeOf({ extensions }: GraphQLError): ErrorCode {
  const { code, http } = extensions;
  if (typeof code === 'string' && Object.hasOwn(ERROR_CODES, code)) return code as ErrorCode;
  // The engine refuses mutations by GET with a status only.
  const isMethod = (http as { readonly status?: unknown } | undefined)?.status === METHOD_NOT_ALLOWED;
  return isMethod ? 'method_not_allowed' : 'bad_request';
}

function detailsOf(error: GraphQLError, code: ErrorCode): object | undefined {
  if (code === 'method_not_allowed') return { allow: ['POST'] };
  return code === 'bad_request' ? { field: variableOf(error) ?? 'query' } : undefined;
}

const METHOD_NOT_ALLOWED = ERROR_CODES.method_not_allowed.status;

function build(message: string, error: unknown, extensions: ErrorExtensions): GraphQLError {
  const located = error instanceof GraphQLError ? error : undefined;
  const http = httpOf(extensions, located);
  return new GraphQLError(message, {
    nodes: located?.nodes ?? null,
    path: located?.path ?? null,
    extensions: {
      ...extensions,
      // Yoga checks for the key itself, so without a status it has to be absent.
      ...withoutUndefined({ http }),
    },
  });
}

/** Whether an error is one of a field below a root field, beside which the other fields are answered. */
function isBelowRoot(located: GraphQLError | undefined): boolean {
  return (located?.path?.length ?? 0) > 1;
}

/** Status and headers of the HTTP answer, in the form that Yoga reads. */
function httpOf(
  { code, status, retryAfterSec }: ErrorExtensions,
  located: GraphQLError | undefined,
): GraphQLErrorExtensions['http'] | undefined {
  const isPartial = code === 'rate_limited' && isBelowRoot(located);
  if (REFUSALS.has(code) && !isPartial) {
    return { status, headers: retryAfterSec === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSec)) } };
  }
  // The request is refused before execution: with GraphQL's own media type the HTTP status is an error too.
  const isRequestError = located?.nodes !== undefined && located.path === undefined;
  return isRequestError ? { status, spec: true } : (located?.extensions.http as GraphQLErrorExtensions['http']);
}
