/**
 * The stable error codes of the product, each with its one HTTP status. Every adapter (REST envelope, GraphQL extensions,
 * log level) reads this table; `docs/errors.md` is held equal to it by a test.
 */
export const ERROR_CODES = {
  bad_request: { status: 400, retryable: false, logLevel: 'debug' },
  unauthorized: { status: 401, retryable: false, logLevel: 'debug' },
  not_found: { status: 404, retryable: false, logLevel: 'debug' },
  method_not_allowed: { status: 405, retryable: false, logLevel: 'debug' },
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
  readonly details?: Details;
  /** Overrides the table where one code can be either (a reverted simulation that a fresh quote may cure). */
  readonly retryable?: boolean;
  readonly status?: number;
  /** Seconds after which a retry makes sense; becomes `Retry-After`, of at most `MAX_RETRY_AFTER_SEC`. */
  readonly retryAfterSec?: number;
  readonly cause?: unknown;
}

/** No client is sent away for longer, whatever a provider asked of us: it may be well, or another may stand in, long before. */
export const MAX_RETRY_AFTER_SEC = 300;

function boundedRetryAfter(sec: number): number {
  return Math.min(Math.max(Math.ceil(sec), 0), MAX_RETRY_AFTER_SEC);
}

/**
 * An expected failure, safe to show: the message is an instruction (the value, the limit, the next step) and carries no
 * upstream text and no secret. Anything that is not an `AppError` is masked as `internal`.
 */
export class AppError<Details = unknown> extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly details: Details | undefined;
  readonly retryAfterSec: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions<Details> = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.status = options.status ?? ERROR_CODES[code].status;
    this.retryable = options.retryable ?? ERROR_CODES[code].retryable;
    this.details = options.details;
    this.retryAfterSec = options.retryAfterSec === undefined ? undefined : boundedRetryAfter(options.retryAfterSec);
  }
}

/** What a limit can be; the interface document lists the same. */
export type LimitValue = string | number | boolean | readonly (string | number)[];

export interface BadRequestDetails {
  /** Where the value stood, e.g. `query.chainId` or `body.leverage`. */
  readonly field: string;
  /** The offending value as received, shortened; absent when nothing was given. */
  readonly value?: string;
  /** The limit that was broken, e.g. `{ "max": "10.5" }` or `{ "oneOf": [1, 4663] }`. */
  readonly limit?: Readonly<Record<string, LimitValue>>;
  /** All issues, when there is more than one. */
  readonly issues?: readonly { readonly field: string; readonly message: string }[];
}

export class BadRequestError extends AppError<BadRequestDetails> {
  constructor(message: string, details: BadRequestDetails) {
    super('bad_request', message, { details });
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

export class NotReadyError extends AppError<{ readonly waitingFor: readonly string[] }> {
  constructor(message: string, waitingFor: readonly string[], retryAfterSec = 2) {
    super('not_ready', message, { details: { waitingFor }, retryAfterSec });
  }
}

/** A provider did not give a usable answer. Carries the provider's public name and a reason word, never its text. */
export class UpstreamUnavailableError extends AppError<{ readonly provider: string; readonly reason: string }> {
  /** Seconds that the provider asked us to wait, however many; for whoever asks it again on its own. */
  readonly askedSec: number | undefined;

  constructor(provider: string, reason: string, options: { retryAfterSec?: number; cause?: unknown } = {}) {
    super(
      'upstream_unavailable',
      `The ${provider} upstream did not give a usable answer (${reason}). Try again shortly.`,
      {
        details: { provider, reason },
        ...options,
      },
    );
    this.askedSec = options.retryAfterSec;
  }
}
