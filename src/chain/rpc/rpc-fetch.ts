import { HttpRequestError } from 'viem';
import type { Timers } from '../../shared/timers.ts';

export interface RpcFetchDeps {
  readonly fetch: typeof fetch;
  /** Timeout of the whole request, body included. */
  readonly timeoutMs: number;
  readonly timeouts: Timers;
  readonly maxResponseBytes: number;
}

/** A refusal by HTTP status, with its `Retry-After`. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly retryAfter: string | null;

  constructor(details: string, retryAfter: string | null) {
    super(details);
    this.retryAfter = retryAfter;
  }
}

export type RpcFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

interface RpcRequest {
  readonly id: number;
}

/**
 * Create the fetch of a viem transport, which adds three things. viem's timeout ends with the headers and does not apply with
 * a signal of the caller; here it always applies, body included. viem matches the answers of a batch by position; here they
 * are matched by id, and an error for the whole batch becomes the error of each call. A batch of one call is sent as a single
 * object, for nodes that refuse lists.
 */
export function createRpcFetch({ fetch: send, timeoutMs, timeouts, maxResponseBytes }: RpcFetchDeps): RpcFetch {
  return async (input, init = {}) => {
    const received = JSON.parse(String(init.body)) as RpcRequest | readonly RpcRequest[];
    const requests = [received].flat() as readonly RpcRequest[];
    const body = requests.length === 1 ? JSON.stringify(requests[0]) : (init.body ?? null);
    const late = new AbortController();
    const timer = timeouts.setTimeout(
      () => late.abort(new DOMException('The node did not answer.', 'TimeoutError')),
      timeoutMs,
    );
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
      const answered = parsed(await textOf(response, maxResponseBytes, refuse));
      const error = Array.isArray(answered) && answered.length === 1 ? answered[0] : answered;
      // An error page is not JSON, and providers use codes of their own for limits, so the status decides.
      if (response.status === TOO_MANY_REQUESTS || (!response.ok && !isRpcError(error)))
        throw refuse(response.statusText);
      const answers = isRpcError(error)
        ? requests.map(({ id }) => ({ ...error, id }))
        : inOrder([answered].flat(), requests, refuse);
      return Response.json(Array.isArray(received) ? answers : answers[0]);
    } finally {
      timeouts.clearTimeout(timer);
    }
  };
}

const TOO_MANY_REQUESTS = 429;

type Refuse = (details: string) => HttpRequestError;

async function textOf(response: Response, maxBytes: number, refuse: Refuse): Promise<string> {
  const reader = response.body?.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) return Buffer.concat(pieces).toString();
    size += value.byteLength;
    if (size > maxBytes) {
      await reader?.cancel();
      throw refuse(`The answer is larger than ${maxBytes} bytes.`);
    }
    pieces.push(value);
  }
}

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
