import type { CONFLICTS } from './contract/error-details.ts';
import { type Names, REST_NAMES, spell } from './names.ts';

/**
 * The stable error codes of the product, each with its HTTP status. All mappings (REST envelope, GraphQL extensions, log
 * level) read this table; a test compares `docs/errors.md` with it.
 */
export const ERROR_CODES = {
  bad_request: { status: 400, retryable: false, logLevel: 'debug' },
  unauthorized: { status: 401, retryable: false, logLevel: 'debug' },
  not_found: { status: 404, retryable: false, logLevel: 'debug' },
  method_not_allowed: { status: 405, retryable: false, logLevel: 'debug' },
  conflict: { status: 409, retryable: false, logLevel: 'debug' },
  payload_too_large: { status: 413, retryable: false, logLevel: 'debug' },
  unsupported_media_type: { status: 415, retryable: false, logLevel: 'debug' },
  query_too_complex: { status: 400, retryable: false, logLevel: 'debug' },
  rate_limited: { status: 429, retryable: true, logLevel: 'debug' },
  not_ready: { status: 503, retryable: true, logLevel: 'info' },
  upstream_unavailable: { status: 503, retryable: true, logLevel: 'warn' },
  stale_data: { status: 503, retryable: true, logLevel: 'warn' },
  no_route: { status: 503, retryable: true, logLevel: 'info' },
  insufficient_liquidity: { status: 503, retryable: true, logLevel: 'info' },
  simulation_reverted: { status: 400, retryable: false, logLevel: 'info' },
  simulation_mismatch: { status: 503, retryable: true, logLevel: 'warn' },
  internal: { status: 500, retryable: false, logLevel: 'error' },
} as const satisfies Record<
  string,
  { status: number; retryable: boolean; logLevel: 'debug' | 'info' | 'warn' | 'error' }
>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface AppErrorOptions<Details> {
  readonly details?: Details | undefined;
  /** Overrides the table where a code can be either (a reverted simulation that a fresh quote may resolve). */
  readonly retryable?: boolean | undefined;
  readonly status?: number | undefined;
  /** Seconds after which a retry makes sense; becomes `Retry-After`, at most `MAX_RETRY_AFTER_SEC`. */
  readonly retryAfterSec?: number | undefined;
  readonly cause?: unknown;
}

/** Upper bound for clients, however long a provider asks us to wait: it may recover, or a fallback may answer, long before. */
const MAX_RETRY_AFTER_SEC = 300;

function boundedRetryAfter(sec: number): number {
  return Math.min(Math.max(Math.ceil(sec), 0), MAX_RETRY_AFTER_SEC);
}

/**
 * An expected failure that is safe to show: the message is an instruction (the value, the limit, the next step) without
 * upstream text and secrets. Any other error is masked as `internal`.
 */
export class AppError<Details = unknown> extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly details: Details | undefined;
  readonly retryAfterSec: number | undefined;
  /** With references to names that differ between surfaces; `message` and `details` have those of REST. */
  declare readonly written: { readonly message: string; readonly details: Details | undefined };

  constructor(code: ErrorCode, message: string, options: AppErrorOptions<Details> = {}) {
    super(spell(message, REST_NAMES), options.cause === undefined ? undefined : { cause: options.cause });
    Object.defineProperty(this, 'written', { value: { message, details: options.details } });
    this.name = new.target.name;
    this.code = code;
    this.status = options.status ?? ERROR_CODES[code].status;
    this.retryable = options.retryable ?? ERROR_CODES[code].retryable;
    this.details = spell(options.details, REST_NAMES);
    this.retryAfterSec = options.retryAfterSec === undefined ? undefined : boundedRetryAfter(options.retryAfterSec);
  }

  /** A copy with the names of a surface: several callers may wait for the same error. */
  spelled(names: Names): this {
    const { message, details } = spell(this.written, names);
    return copyWith(this, { message, details });
  }
}

/** Copy an error with other values of some properties. */
export function copyWith<E extends AppError>(error: E, values: Partial<Pick<E, 'message' | 'details'>>): E {
  const copy = Object.create(Object.getPrototypeOf(error) as object, Object.getOwnPropertyDescriptors(error)) as E;
  return Object.assign(copy, values);
}

/** Value of a limit; the interface document lists the same types. */
export type LimitValue = string | number | boolean | readonly (string | number)[];

export interface BadRequestDetails {
  /** Location of the value, e.g. `query.chainId` or `body.leverage`. */
  readonly field: string;
  /** The offending value as received, shortened; absent when none was given. */
  readonly value?: string | undefined;
  /** The limit that was broken, e.g. `{ "max": "10.5" }` or `{ "oneOf": [1, 4663] }`. */
  readonly limit?: Readonly<Record<string, LimitValue>> | undefined;
  /** All issues, when there is more than one. */
  readonly issues?: readonly { readonly field: string; readonly message: string }[] | undefined;
}

/** The process cannot start or continue with its arguments or settings. The message names the change to make, and is printed without a stack. */
export class StartupError extends Error {}

export class BadRequestError extends AppError<BadRequestDetails> {
  constructor(message: string, details: BadRequestDetails, options: { readonly status?: number | undefined } = {}) {
    super('bad_request', message, { ...options, details });
  }
}

export class UnauthorizedError extends AppError<undefined> {
  constructor() {
    super('unauthorized', 'Send a valid API key for this surface in the header "Authorization: Bearer <API_KEY>".');
  }
}

export class NotFoundError extends AppError<{ readonly resource: string; readonly id: string }> {
  constructor(message: string, details: { readonly resource: string; readonly id: string }) {
    super('not_found', message, { details });
  }
}

export interface ConflictDetails {
  /** Location of the value, e.g. `headers.idempotency-key`. */
  readonly field: string;
  /** The value, shortened. */
  readonly value: string;
  readonly resource: string;
  /** Id of the resource that the request conflicts with. */
  readonly id: string;
  readonly reason: (typeof CONFLICTS)[number];
}

/** The request contradicts an earlier one. */
export class ConflictError extends AppError<ConflictDetails> {
  constructor(message: string, details: ConflictDetails) {
    super('conflict', message, { details });
  }
}

export class NotReadyError extends AppError<{ readonly waitingFor: readonly string[] }> {
  constructor(message: string, waitingFor: readonly string[], retryAfterSec = 2) {
    super('not_ready', message, { details: { waitingFor }, retryAfterSec });
  }
}

/** A provider did not give a usable answer. Carries the provider's public name and a reason, never its text. */
export class UpstreamUnavailableError extends AppError<{ readonly provider: string; readonly reason: string }> {
  /** Seconds that the provider asked us to wait, without an upper bound; for our own retries. */
  readonly requestedWaitSec: number | undefined;

  constructor(provider: string, reason: string, options: { retryAfterSec?: number | undefined; cause?: unknown } = {}) {
    super('upstream_unavailable', `The ${provider} upstream gave no usable answer (${reason}). Try again shortly.`, {
      details: { provider, reason },
      ...options,
    });
    this.requestedWaitSec = options.retryAfterSec;
  }
}

/** The reason of a failure in one word, without any text of a provider. */
export function failureWord(error: unknown): string {
  if (error instanceof UpstreamUnavailableError) return error.details?.reason ?? error.code;
  return error instanceof AppError ? error.code : 'internal';
}
