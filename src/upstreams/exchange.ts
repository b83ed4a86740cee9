import { setMaxListeners } from 'node:events';
import { BodyTooLargeError, type ByteBudget, readBounded } from '../shared/calls/byte-budget.ts';
import type { Clock } from '../shared/clock.ts';
import { systemTimers, type Timers } from '../shared/timers.ts';
import type { Told } from './budget.ts';
import { readTold, resetSecOf } from './limit-headers.ts';

export interface ExchangeRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** Result of one attempt. Contains no text of the answer beside the parsed JSON itself. */
export type ExchangeOutcome =
  | {
      readonly kind: 'json';
      readonly status: number;
      readonly body: unknown;
      readonly told?: Told | undefined;
    }
  | {
      readonly kind: 'status';
      readonly status: number;
      /** Its JSON, of which only codes are read; absent for another form. */
      readonly body?: unknown;
      readonly retryAfterSec?: number | undefined;
      readonly told?: Told | undefined;
    }
  | {
      readonly kind: 'fault';
      readonly reason: 'unreachable' | 'timeout' | 'malformed' | 'throttled';
      readonly status?: number | undefined;
      /** System error code such as ECONNREFUSED. */
      readonly errno?: string | undefined;
    };

/** Error bodies hold a code and a message. */
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Send one request and read its whole answer within `timeoutMs`. Redirects are not followed, because they could send keys to
 * another host.
 * @throws the signal's reason when the caller aborts; nothing else.
 */
export async function exchange(
  deps: {
    readonly fetch: typeof fetch;
    readonly clock: Clock;
    readonly answerBytes: ByteBudget;
    readonly timeouts?: Timers | undefined;
  },
  request: ExchangeRequest,
): Promise<ExchangeOutcome> {
  const { signal } = request;
  const { timeouts = systemTimers } = deps;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const onAbort = () => controller.abort();
  if (signal !== undefined) {
    // One signal may abort many requests; Node warns of a leak from the eleventh listener on.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', onAbort, { once: true });
  }
  let timedOut = false;
  const timer = timeouts.setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, request.timeoutMs);
  let status: number | undefined;
  try {
    const response = await deps.fetch(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      redirect: 'manual',
      signal: controller.signal,
    });
    status = response.status;
    const told = readTold(response.headers, deps.clock.now());
    if (!response.ok) {
      const body = await readErrorBody(response, deps.answerBytes);
      signal?.throwIfAborted();
      const retryAfterSec = readRetryAfter(response.headers.get('retry-after'), deps.clock.now()) ?? resetSecOf(told);
      return { kind: 'status', status, body, retryAfterSec, told };
    }
    if (isMarkup(response)) {
      await discard(response);
      return { kind: 'fault', reason: 'malformed', status };
    }
    return parseJson(await readBounded(response, request.maxBodyBytes, deps.answerBytes), status, told);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof BodyTooLargeError) {
      return { kind: 'fault', reason: error.exceeded === 'answer' ? 'malformed' : 'throttled', status };
    }
    const errno = readErrno(error);
    return {
      kind: 'fault',
      reason: timedOut ? 'timeout' : 'unreachable',
      status,
      errno,
    };
  } finally {
    timeouts.clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Read `Retry-After` (seconds or an HTTP date) as whole seconds from now. `Date.parse` takes any number for a date. */
export function readRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}(\.\d+)?$/.test(header.trim())) return Math.ceil(Number(header));
  if (!/[a-z]/i.test(header)) return undefined;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}

/** Read the JSON of an error; `undefined` = it has another form, or ended early. Its status decides then. */
async function readErrorBody(response: Response, answerBytes: ByteBudget): Promise<unknown> {
  if (isMarkup(response)) {
    await discard(response);
    return undefined;
  }
  try {
    return JSON.parse(await readBounded(response, MAX_ERROR_BYTES, answerBytes)) as unknown;
  } catch {
    await discard(response);
    return undefined;
  }
}

function parseJson(text: string, status: number, told: Told | undefined): ExchangeOutcome {
  try {
    return { kind: 'json', status, body: JSON.parse(text) as unknown, told };
  } catch {
    return { kind: 'fault', reason: 'malformed', status };
  }
}

/** Whether the answer is an HTML page of a proxy or a challenge, for any status. */
function isMarkup(response: Response): boolean {
  return /html|xml/i.test(response.headers.get('content-type') ?? '');
}

/** Release the connection without reading the rest. */
async function discard(response: Response): Promise<void> {
  if (!response.bodyUsed) await response.body?.cancel().catch(() => {});
}

function readErrno(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause !== null && typeof cause === 'object' && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : undefined;
}
