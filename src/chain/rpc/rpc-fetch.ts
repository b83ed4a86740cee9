import { HttpRequestError } from 'viem';
import type { FailureReason } from '../../domain/facts.ts';
import { BodyTooLargeError, type ByteBudget, readBounded } from '../../shared/calls/byte-budget.ts';
import type { CircuitBreaker } from '../../shared/calls/circuit-breaker.ts';
import type { Timers } from '../../shared/timers.ts';
import { maxAnswerBytes } from './answer-size.ts';
import type { RpcCall } from './capabilities.ts';
import { RefusedError, reasonOfAnswer, UnansweredError } from './unanswered.ts';

export interface RpcFetchDeps {
  readonly fetch: typeof fetch;
  /** Timeout of the whole request, body included. */
  readonly timeoutMs: number;
  readonly timeouts: Timers;
  /** Of the node. */
  readonly breaker: CircuitBreaker<FailureReason>;
  readonly answerBytes: ByteBudget;
}

export type RpcFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

interface RpcRequest extends RpcCall {
  readonly id: number;
}

/** Timeout of the request that decides whether a node works again. */
const TRIAL_TIMEOUT_MS = 2_000;
/** `Retry-After` of an answer that had no room in memory. */
const NO_ROOM_RETRY_SEC = 2;

/**
 * Create the fetch of a viem transport, which adds five things. viem's timeout ends with the headers and does not apply with
 * a signal of the caller; here it always applies, body included, and a request that exceeds it is not repeated. While the node
 * is known to be down, requests fail at once. An answer larger than the requests permit is not received. viem matches the
 * answers of a batch by position; here they are matched by id, and an error for the whole batch becomes the error of each call.
 * A batch of one call is sent as a single object, for nodes that refuse lists.
 */
export function createRpcFetch(deps: RpcFetchDeps): RpcFetch {
  const { fetch: send, timeoutMs, timeouts, breaker, answerBytes } = deps;

  const receive = async (
    input: string | URL | Request,
    init: RequestInit,
    requests: readonly RpcRequest[],
    waitMs: number,
  ): Promise<readonly object[]> => {
    const body = requests.length === 1 ? JSON.stringify(requests[0]) : (init.body ?? null);
    const late = new AbortController();
    const timer = timeouts.setTimeout(() => late.abort(new UnansweredError('timeout')), waitMs);
    try {
      const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
      const response = await send(input, { ...init, body, signal });
      // Without the headers, because viem would wait for the whole Retry-After before its next try, even an hour.
      const refuse = (details: string) =>
        new HttpRequestError({
          url: String(input),
          status: response.status,
          details,
          cause: new RefusedError(details, response.headers.get('retry-after')),
        });
      const answered = parsed(await readBounded(response, maxAnswerBytes(requests), answerBytes));
      const error = Array.isArray(answered) && answered.length === 1 ? answered[0] : answered;
      // An error page is not JSON, and providers use codes of their own for limits, so the status decides.
      if (response.status === TOO_MANY_REQUESTS || (!response.ok && !isRpcError(error)))
        throw refuse(response.statusText);
      return isRpcError(error)
        ? requests.map(({ id }) => ({ ...error, id }))
        : inOrder([answered].flat(), requests, refuse);
    } catch (error) {
      if (init.signal?.aborted) throw error;
      if (late.signal.aborted) throw late.signal.reason;
      if (!(error instanceof BodyTooLargeError)) throw error;
      throw error.exceeded === 'answer'
        ? new UnansweredError('malformed')
        : new UnansweredError('throttled', NO_ROOM_RETRY_SEC);
    } finally {
      timeouts.clearTimeout(timer);
    }
  };

  return async (input, init = {}) => {
    const received = JSON.parse(String(init.body)) as RpcRequest | readonly RpcRequest[];
    const requests = [received].flat() as readonly RpcRequest[];
    const answers = await breaker.execute(
      (isTrial) => receive(input, init, requests, isTrial ? Math.min(timeoutMs, TRIAL_TIMEOUT_MS) : timeoutMs),
      (reason, retryAfterSec) => new UnansweredError(reason, retryAfterSec),
    );
    return Response.json(Array.isArray(received) ? answers : answers[0]);
  };
}

/** Reasons for which the next request is likely to fail as well. */
const BREAKING: readonly FailureReason[] = ['unreachable', 'timeout', 'server_error', 'malformed'];

/** Reason of a failed request that counts against the node; `undefined` = it does not count. */
export function nodeFailureOf(error: unknown): FailureReason | undefined {
  const reason = failureOf(error);
  return reason !== undefined && BREAKING.includes(reason) ? reason : undefined;
}

function failureOf(error: unknown): FailureReason | undefined {
  if (error instanceof UnansweredError) return error.reason;
  if (error instanceof HttpRequestError) return reasonOfAnswer(error.status);
  // Errors of the connection; an abort of the caller is of another class.
  return error instanceof TypeError ? 'unreachable' : undefined;
}

const TOO_MANY_REQUESTS = 429;

type Refuse = (details: string) => HttpRequestError;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Put answers in the order of the requests.
 * @throws HttpRequestError when one is not answered
 */
function inOrder(answers: readonly unknown[], requests: readonly RpcRequest[], refuse: Refuse): readonly object[] {
  const byId = new Map<unknown, object>();
  for (const answer of answers) if (isResult(answer) || isRpcError(answer)) byId.set(answer.id, answer);
  return requests.map(({ id }) => {
    // The answer to a single call is accepted with any id, because an error may have none.
    const answer = byId.get(id) ?? (requests.length === 1 && answers.length === 1 ? [...byId.values()][0] : undefined);
    if (answer === undefined) throw refuse('The node left out the answer of a call.');
    return answer;
  });
}

function isResult(value: unknown): value is { readonly id?: unknown; readonly result: unknown } {
  if (typeof value !== 'object' || value === null || !('result' in value)) return false;
  return !('error' in value) || value.error === null || value.error === undefined;
}

function isRpcError(value: unknown): value is { readonly id?: unknown; readonly error: object } {
  if (typeof value !== 'object' || value === null || !('error' in value)) return false;
  const { error } = value;
  if (typeof error !== 'object' || error === null) return false;
  return 'code' in error && typeof error.code === 'number' && 'message' in error && typeof error.message === 'string';
}
