import type { z } from 'zod';
import type { FailureReason } from '../domain/facts.ts';
import { canBeFact, reasonOfStatus } from '../domain/outside-answer.ts';
import { type ByteBudget, createByteBudget } from '../shared/calls/byte-budget.ts';
import { createCircuitBreaker } from '../shared/calls/circuit-breaker.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import type { Told, Traffic } from './budget.ts';
import { type Budget, createBudget } from './budgets.ts';
import type { ProviderConfig } from './config.ts';
import { UpstreamError } from './errors.ts';
import { type ExchangeOutcome, type ExchangeRequest, exchange } from './exchange.ts';
import { createNotes } from './notes.ts';
import type { ProviderStates } from './provider-states.ts';
import { type Sleep, systemSleep } from './sleep.ts';

/** One finished attempt, for metrics. */
export interface UpstreamCall {
  readonly provider: string;
  readonly outcome: 'ok' | 'absent' | 'refused' | 'aborted' | FailureReason;
  readonly ms: number;
}

/** Dependencies of every adapter; the same for all providers. */
export interface AdapterDeps {
  readonly config: ProviderConfig;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: (() => number) | undefined;
  readonly sleep?: Sleep | undefined;
  /** Timers of request timeouts; absent: the system's. */
  readonly timeouts?: Timers | undefined;
  readonly onCall?: ((call: UpstreamCall) => void) | undefined;
  /** Records the state of every provider of the process. */
  readonly states?: ProviderStates | undefined;
  /** Shared by all clients of the provider, and by all processes; absent: of this adapter alone. */
  readonly budget?: Budget | undefined;
  /** Memory for answers that are being received, of all providers; absent: of this client alone. */
  readonly answerBytes?: ByteBudget | undefined;
}

export interface HttpDeps extends AdapterDeps {
  readonly provider: string;
  /** Name in errors and answers, as in the public interface. */
  readonly publicName: string;
  /** Purpose of the requests, where a provider has several clients with the same name. */
  readonly part?: string | undefined;
  /** Whether a caller waits for the answers: shorter timeouts. */
  readonly isWaitedFor?: boolean | undefined;
  /** Retries of a request that the provider refuses as overloaded. Default: as for other failures. */
  readonly overloadRetries?: number | undefined;
  /** Keys, sent with every request and never logged. */
  readonly secrets?:
    | {
        readonly headers?: Readonly<Record<string, string>> | undefined;
        readonly query?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
}

export interface HttpRequest {
  /** Path template such as `/chart/:pool`, logged in place of the URL. */
  readonly path: string;
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON by POST. */
  readonly post?: unknown;
  /** What it costs in the provider's unit. Default 1. */
  readonly cost?: number | undefined;
  /** Whether it is for a name that is not in the catalog: those have a smaller share of the budget. */
  readonly isUnlisted?: boolean | undefined;
  /**
   * The codes that the provider documents for this request: a fact (`ABSENT`, `REFUSED`) or a failure. It is asked about every
   * JSON answer and error; `undefined` = the status decides.
   */
  readonly documented?: Documented | undefined;
  /** Part of the provider that can fail alone, such as a chain. A failure of it is over when it answers, not another part. */
  readonly scope?: string | undefined;
  /** Time that the caller grants one attempt, ms, where one waits. Default 4 s. */
  readonly patienceMs?: number | undefined;
  /** Maximum size of the answer, bytes. Default 1 MB. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An answer, for the provider's own codes. */
export interface ProviderAnswer {
  readonly status: number;
  /** Parsed JSON; `undefined` for another form. */
  readonly body: unknown;
}

export type Documented = (answer: ProviderAnswer) => FailureReason | typeof ABSENT | typeof REFUSED | undefined;

/** The provider answered that the requested object does not exist. */
export const ABSENT: unique symbol = Symbol('absent');

/** The provider understood the request and does not support it. */
export const REFUSED: unique symbol = Symbol('refused');

export interface Http {
  /**
   * Send a request and return the parsed JSON, not yet validated, or `ABSENT` or `REFUSED`. Every request only reads, POST
   * included, so each may be repeated.
   * @throws UpstreamError; the signal's reason when the caller aborts.
   */
  request(request: HttpRequest): Promise<unknown>;
  /**
   * Validate the shape.
   * @throws UpstreamError `malformed`
   */
  parse<T>(schema: z.ZodType<T>, body: unknown): T;
  error(reason: FailureReason, retryAfterSec?: number): UpstreamError;
  /** Count rows that are left out of an otherwise used answer, so that the loss is visible in metrics and logs. */
  reportDropped(what: string, dropped: number): void;
}

/** Two retries bridge a short failure; during an outage the warmer's own backoff applies. */
const RETRIES = 2;
/**
 * For swap quotes: an overloaded venue refuses most requests and often accepts the same one a second later. The caller's
 * deadline may end the retries earlier.
 */
export const QUOTE_OVERLOAD_RETRIES = 8;
const BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 500;
/** A longer `Retry-After` is returned to the caller instead of waiting. */
const MAX_RETRY_AFTER_SEC = 5;
/** A caller waits 5 s in total, so one attempt has to end before, unless its request says otherwise. */
const WAITED_TIMEOUT_MS = 4_000;
/** Many times a regular quote, price or page. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Maximum answer of a list or a history, with one row per market or day. */
export const LIST_BYTES = 4 * 1024 * 1024;
/** Maximum answer of the list of all markets of a provider; regular ones are about 2 MB. */
export const CATALOG_BYTES = 16 * 1024 * 1024;
/** Memory for all answers of providers that are being received at once. */
export const ANSWER_BYTES = 64 * 1024 * 1024;
const BREAKER = { failures: 8, coolDownMs: 10_000 };
/** Failures of the provider itself. A refusal or a malformed row does not predict the next request. */
const BREAKING: ReadonlySet<FailureReason> = new Set(['unreachable', 'timeout', 'server_error', 'overloaded']);

/**
 * Create the HTTP client of a provider: budget, breaker, timeout over the whole exchange, bounded retry with jitter.
 *
 * Retry and timeout are implemented here, because cockatiel's waits can neither be aborted nor use injected timers, and its
 * timeout cannot be distinguished from the caller's abort.
 */
export function createHttp(deps: HttpDeps): Http {
  const { config, clock, provider, overloadRetries = RETRIES } = deps;
  const sleep = deps.sleep ?? systemSleep;
  const random = deps.random ?? Math.random;
  const logger = deps.logger.child({ provider });
  const budget = deps.budget ?? createProviderBudget(deps);
  const answerBytes = deps.answerBytes ?? createByteBudget(ANSWER_BYTES);
  const breaker = createProviderBreaker(deps, logger);
  const error = (reason: FailureReason, retryAfterSec?: number) =>
    new UpstreamError(deps.publicName, reason, retryAfterSec);

  const { noteChange, noteFailure, noteAnswer, noteShape, noteThrottle } = createNotes(deps, logger);

  async function attempt(request: HttpRequest, url: string): Promise<ExchangeOutcome> {
    const spending = { cost: request.cost ?? 1, traffic: trafficOf(deps, request) };
    const refused = await budget.take(spending, request.signal);
    if (refused !== null) {
      noteThrottle(refused.refusedForMs);
      deps.onCall?.({ provider, outcome: 'throttled', ms: 0 });
      throw error('throttled', Math.ceil(refused.refusedForMs / 1000));
    }
    const startedMs = clock.now();
    const finish = (outcome: UpstreamCall['outcome'], fields: Record<string, unknown> = {}) => {
      const ms = clock.now() - startedMs;
      deps.onCall?.({ provider, outcome, ms });
      logger.debug({ path: request.path, outcome, ms, ...fields }, 'upstream call');
    };
    try {
      const outcome = await exchange({ ...deps, answerBytes }, sentOf(deps, request, url));
      const { status, errno } = { errno: undefined, ...outcome };
      finish(verdict(outcome, request), { status, errno });
      const told = toldBy(outcome);
      if (told) await budget.told(spending, told);
      return outcome;
    } catch (thrown) {
      finish('aborted');
      throw thrown;
    }
  }

  async function run(request: HttpRequest): Promise<unknown> {
    const url = buildUrl(config.baseUrl, request, deps.secrets?.query);
    let last: { readonly failure: UpstreamError; readonly outcome: ExchangeOutcome } | undefined;
    for (let tries = 0; ; tries += 1) {
      const outcome = await attempt(request, url).catch((thrown: unknown) => {
        if (last === undefined || !(thrown instanceof UpstreamError)) throw thrown;
        // Our own budget has no request left for another try: the failure is that of the provider.
        noteFailure(request, last.failure.reason, last.outcome);
        throw last.failure;
      });
      const reason = verdict(outcome, request);
      if (reason === 'ok' || reason === 'absent' || reason === 'refused') noteAnswer(request);
      if (reason === 'refused') return REFUSED;
      if (reason === 'absent') return ABSENT;
      if (reason === 'ok') return outcome.kind === 'json' ? outcome.body : ABSENT;
      const retryAfterSec = outcome.kind === 'status' ? outcome.retryAfterSec : undefined;
      const retries = reason === 'overloaded' ? overloadRetries : RETRIES;
      if (tries >= retries || !isWorthRetrying(reason, retryAfterSec)) {
        noteFailure(request, reason, outcome);
        throw error(reason, retryAfterSec);
      }
      last = { failure: error(reason, retryAfterSec), outcome };
      const backoffMs = Math.min(BACKOFF_MS * 2 ** tries, MAX_BACKOFF_MS) * (0.5 + random() / 2);
      await sleep(Math.max(backoffMs, (retryAfterSec ?? 0) * 1000), request.signal);
    }
  }

  return {
    async request(request) {
      request.signal?.throwIfAborted();
      return breaker.execute(() => run(request), error);
    },
    parse(schema, body) {
      const result = schema.safeParse(body);
      noteShape(result.success);
      if (result.success) return result.data;
      // Issue codes and depth only, because paths and messages can quote the answer.
      const issues = result.error.issues.slice(0, 5).map(({ code, path }) => `${code}@${path.length}`);
      noteChange('shape', issues.join(' '), () => logger.warn({ issues }, 'upstream answer has another shape'));
      throw error('malformed');
    },
    error,
    reportDropped(what, dropped) {
      noteChange(`dropped ${what}`, String(dropped), () => {
        if (dropped > 0) logger.warn({ what, dropped }, 'upstream rows dropped');
      });
    },
  };
}

function trafficOf({ isWaitedFor }: HttpDeps, { isUnlisted }: HttpRequest): Traffic {
  return isUnlisted ? 'unlisted' : isWaitedFor ? 'waiting' : 'background';
}

/** The request as it is sent. */
function sentOf(deps: HttpDeps, request: HttpRequest, url: string): ExchangeRequest {
  const { post, patienceMs = WAITED_TIMEOUT_MS, maxBytes = MAX_BODY_BYTES, signal } = request;
  const { timeoutMs } = deps.config;
  return {
    url,
    method: post === undefined ? 'GET' : 'POST',
    headers: headersOf(deps, request),
    body: post === undefined ? undefined : JSON.stringify(post),
    timeoutMs: deps.isWaitedFor ? Math.min(timeoutMs, patienceMs) : timeoutMs,
    maxBodyBytes: maxBytes,
    signal,
  };
}

function headersOf({ secrets }: HttpDeps, { post }: HttpRequest): Readonly<Record<string, string>> {
  const json = 'application/json';
  return {
    accept: json,
    ...withoutUndefined({ 'content-type': post === undefined ? undefined : json }),
    ...secrets?.headers,
  };
}

function createProviderBreaker({ config, clock }: HttpDeps, logger: Logger) {
  const limits = config.breaker ?? BREAKER;
  return createCircuitBreaker<FailureReason>({
    limits,
    clock,
    reasonOf: (thrown) => (thrown instanceof UpstreamError && BREAKING.has(thrown.reason) ? thrown.reason : undefined),
    onOpen: (reason) => logger.warn({ reason, coolDownMs: limits.coolDownMs }, 'upstream resting'),
  });
}

/** The budget of a provider whose clients share it with nobody else. */
export function createProviderBudget({ config, clock, sleep }: AdapterDeps): Budget {
  return createBudget({ name: 'own', rules: config.rules, clock, sleep });
}

/** What an answer says about the budget, a refusal by its status included. */
function toldBy(outcome: ExchangeOutcome): Told | undefined {
  if (outcome.kind === 'fault') return undefined;
  const { told } = outcome;
  const refusedForSec = outcome.kind === 'status' && outcome.status === 429 ? outcome.retryAfterSec : undefined;
  return refusedForSec === undefined ? told : { windows: [], ...told, refusedForMs: refusedForSec * 1_000 };
}

/** The one classification of an answer: the provider's documented codes first, then its status. */
function verdict(outcome: ExchangeOutcome, request: HttpRequest): 'ok' | 'absent' | 'refused' | FailureReason {
  if (outcome.kind === 'fault') return outcome.reason;
  const documented = request.documented?.({ status: outcome.status, body: outcome.body });
  if (documented === ABSENT || documented === REFUSED) {
    if (!canBeFact(outcome.status)) return reasonOfStatus(outcome.status);
    return documented === ABSENT ? 'absent' : 'refused';
  }
  return documented ?? (outcome.kind === 'json' ? 'ok' : reasonOfStatus(outcome.status));
}

/** A timeout is not retried, because it has already made the caller wait once. */
function isWorthRetrying(reason: FailureReason, retryAfterSec: number | undefined): boolean {
  if (retryAfterSec !== undefined && retryAfterSec > MAX_RETRY_AFTER_SEC) return false;
  if (reason === 'rate_limited') return retryAfterSec !== undefined;
  return reason === 'unreachable' || reason === 'server_error' || reason === 'overloaded';
}

function buildUrl(baseUrl: string, request: HttpRequest, secretQuery: Readonly<Record<string, string>> = {}): string {
  const path = request.path.replace(/:([A-Za-z]+)/g, (_, name: string) => {
    const value = request.params?.[name];
    if (value === undefined) throw new TypeError(`No value for :${name} of ${request.path}`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams({ ...request.query, ...secretQuery }).toString();
  return `${baseUrl.replace(/\/+$/, '')}${path}${query === '' ? '' : `?${query}`}`;
}
