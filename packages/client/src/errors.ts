/** Base class of every error of this package. Decide on the class or on `code`; the wording of messages may change. */
export class ClientError extends Error {
  readonly code: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;

  constructor(code: string, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}

/** The input was refused before anything was sent. `code` is `invalid_input`. */
export class InputError extends ClientError {
  constructor(message: string) {
    super('invalid_input', message);
  }
}

export interface ServiceFailure {
  readonly code: string;
  readonly message: string;
  /** HTTP status. */
  readonly status: number;
  /** Correlation id: quote it when you ask about the request. */
  readonly requestId: string | undefined;
  /** Details of the code, as listed in `docs/errors.md` of the service. */
  readonly details?: unknown;
  /** Seconds after which a retry makes sense. */
  readonly retryAfter?: number | undefined;
  readonly retryable?: boolean | undefined;
}

/** The service refused a request. */
export class ServiceError extends ClientError {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly details: unknown;
  readonly retryAfter: number | undefined;

  constructor({ code, message, status, requestId, details, retryAfter, retryable }: ServiceFailure) {
    super(code, message, { retryable: retryable ?? RETRYABLE_STATUSES.includes(status) });
    this.status = status;
    this.requestId = requestId;
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

const RETRYABLE_STATUSES: readonly number[] = [429, 502, 503, 504];

/** The request is invalid or beyond a limit: change it. */
export class InvalidRequestError extends ServiceError {}
/** The key is missing, unknown, expired or of the wrong tier. */
export class UnauthorizedError extends ServiceError {}
/** The id, address or path is unknown. */
export class NotFoundError extends ServiceError {}
/** The request contradicts an earlier one, such as a registration under the same idempotency key: follow the message. */
export class ConflictError extends ServiceError {}
/** The budget is used up: wait for `retryAfter` seconds. */
export class RateLimitedError extends ServiceError {}
/** The service is not ready, a source failed or data is too old: try again. */
export class UnavailableError extends ServiceError {}
/** No venue has a route, or the lending protocol holds too little: try again, or ask for less. */
export class LiquidityError extends ServiceError {}
/** The transaction reverted in the service's simulation, or returned less than planned. */
export class SimulationError extends ServiceError {}
/** The service failed. */
export class InternalServiceError extends ServiceError {}

type ServiceErrorClass = new (failure: ServiceFailure) => ServiceError;

const BY_CODE: Readonly<Record<string, ServiceErrorClass>> = {
  bad_request: InvalidRequestError,
  query_too_complex: InvalidRequestError,
  method_not_allowed: InvalidRequestError,
  payload_too_large: InvalidRequestError,
  unsupported_media_type: InvalidRequestError,
  unauthorized: UnauthorizedError,
  not_found: NotFoundError,
  conflict: ConflictError,
  rate_limited: RateLimitedError,
  not_ready: UnavailableError,
  upstream_unavailable: UnavailableError,
  stale_data: UnavailableError,
  no_route: LiquidityError,
  insufficient_liquidity: LiquidityError,
  simulation_reverted: SimulationError,
  simulation_mismatch: SimulationError,
  internal: InternalServiceError,
};

const BY_STATUS: Readonly<Record<number, ServiceErrorClass>> = {
  401: UnauthorizedError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitedError,
  503: UnavailableError,
};

/** Create the error of a failure. A code of a later version gets the class of its status. */
export function serviceError(failure: ServiceFailure): ServiceError {
  const byCode = Object.hasOwn(BY_CODE, failure.code) ? BY_CODE[failure.code] : undefined;
  const fallback = failure.status >= 500 ? InternalServiceError : InvalidRequestError;
  return new (byCode ?? BY_STATUS[failure.status] ?? fallback)(failure);
}

export type InvalidAnswerReason = 'redirect' | 'content_type' | 'not_json' | 'shape' | 'too_large' | 'status';

/** The answer is not one of the service, or not of a version that this client knows. `code` is `invalid_answer`. */
export class InvalidAnswerError extends ClientError {
  readonly reason: InvalidAnswerReason;
  readonly status: number;

  constructor(reason: InvalidAnswerReason, status: number, message: string, cause?: unknown) {
    super('invalid_answer', message, { retryable: RETRYABLE_STATUSES.includes(status), cause });
    this.reason = reason;
    this.status = status;
  }
}

/** No answer, or only a part of one. `code` is `connection_failed`. */
export class ConnectionError extends ClientError {
  constructor(message: string, cause?: unknown) {
    super('connection_failed', message, { retryable: true, cause });
  }
}

/** The answer took longer than `timeoutMs`. `code` is `timed_out`. */
export class TimeoutError extends ClientError {
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super('timed_out', `No complete answer within ${timeoutMs} ms.`, { retryable: true });
    this.timeoutMs = timeoutMs;
  }
}
