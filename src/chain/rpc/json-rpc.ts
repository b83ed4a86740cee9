import { HttpRequestError } from 'viem';
import { eachStep, letOthersRun, runInSlices, type Slicing } from '../../shared/slices.ts';
import type { Timers } from '../../shared/timers.ts';
import { createJsonElements } from './json-elements.ts';

export interface RpcCall {
  readonly method: string;
  readonly params?: unknown;
}

/** What the node said to one call. */
export type RpcAnswer =
  | { readonly result: unknown; readonly error?: never }
  | {
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
      readonly result?: never;
    };

export interface JsonRpcDeps {
  readonly url: string;
  readonly fetch: typeof fetch;
  /** After this a request ends, body included: a node that falls silent would hold a warmer for ever. */
  readonly timeoutMs: number;
  readonly timeouts: Timers;
  readonly maxResponseBytes: number;
  readonly slicing: Slicing;
}

/** Sends calls in one HTTP request and gives the answers in their order. @throws HttpRequestError, and the signal's reason */
export type SendRpc = (calls: readonly RpcCall[], signal?: AbortSignal) => Promise<readonly RpcAnswer[]>;

/** An answer comes in pieces of 64 kB, of which several objects are made. */
const PIECE_BYTES = 16_384;

/**
 * Create the door to one JSON-RPC node. A round of reads is megabytes in both directions: they are written, and read while
 * they arrive, call by call in slices of time, so that nothing else waits for them.
 */
export function createJsonRpc(deps: JsonRpcDeps): SendRpc {
  const { url: given, fetch: send, timeoutMs, timeouts, maxResponseBytes, slicing } = deps;
  const { url, headers } = addressOf(given);
  const failure = (response: Response, details: string) =>
    new HttpRequestError({ url, status: response.status, headers: response.headers, details });

  /** Read the elements of an answer as they come. */
  const elementsOf = async (response: Response): Promise<readonly unknown[]> => {
    const cutter = createJsonElements();
    const decoder = new TextDecoder();
    const elements: unknown[] = [];
    let size = 0;
    let sinceMs = slicing.now();
    const reader = response.body?.getReader();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done || value === undefined) break;
      size += value.byteLength;
      if (size > maxResponseBytes) {
        await reader?.cancel();
        throw failure(response, `The answer is larger than ${maxResponseBytes} bytes.`);
      }
      for (let from = 0; from < value.byteLength; from += PIECE_BYTES) {
        const piece = decoder.decode(value.subarray(from, from + PIECE_BYTES), { stream: true });
        for (const text of cutter.push(piece)) elements.push(JSON.parse(text));
        if (slicing.now() - sinceMs < slicing.sliceMs) continue;
        await letOthersRun(slicing);
        sinceMs = slicing.now();
      }
    }
    cutter.end();
    return elements;
  };

  return async (calls, signal) => {
    let response: Response | undefined;
    let timer: unknown;
    try {
      const body = await runInSlices(bodyOf(calls), slicing);
      const late = new AbortController();
      timer = timeouts.setTimeout(
        () => late.abort(new DOMException('The node did not answer.', 'TimeoutError')),
        timeoutMs,
      );
      const ended = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
      response = await send(url, { method: 'POST', headers, body, signal: ended });
      const elements = await elementsOf(response).catch((error: unknown) => {
        // An error page is not JSON; the status says what there is to say.
        if (error instanceof SyntaxError && response && !response.ok) return [];
        throw error;
      });
      const [only] = elements;
      if (calls.length !== 1 && elements.length === 1 && isAnswer(only) && only.error) return calls.map(() => only);
      if (!response.ok && !(isAnswer(only) && only.error)) throw failure(response, response.statusText);
      return inOrder(elements, calls.length, failure(response, 'Not every call was answered.'));
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof HttpRequestError) throw error;
      // A body that is not what it should be was answered; anything else is the connection.
      if (response && error instanceof SyntaxError) throw failure(response, 'The answer is not JSON-RPC.');
      throw new HttpRequestError({ url, ...(error instanceof Error ? { cause: error } : {}) });
    } finally {
      if (timer !== undefined) timeouts.clearTimeout(timer);
    }
  };
}

/**
 * Write the body call by call: one object for one call, a list for several. Ids count from 1. It stays text: bytes of our
 * own would live outside the heap beside those that are sent, and their amount is what makes the collector work at once.
 */
function* bodyOf(calls: readonly RpcCall[]): Generator<void, string, void> {
  const texts = yield* eachStep(calls, ({ method, params }, i) =>
    JSON.stringify({ jsonrpc: '2.0', id: i + 1, method, params }),
  );
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(',')}]`;
}

/** Put answers in the order of the calls: a node may answer in any. */
function inOrder(elements: readonly unknown[], count: number, missing: Error): readonly RpcAnswer[] {
  const byId = new Map<unknown, RpcAnswer>();
  for (const element of elements) if (isAnswer(element)) byId.set(element.id, element);
  return Array.from({ length: count }, (_, i) => {
    // The answer to a single call is its own, whatever id it carries: an error may have none.
    const answer = byId.get(i + 1) ?? (count === 1 && elements.length === 1 ? [...byId.values()][0] : undefined);
    if (answer === undefined) throw missing;
    return answer;
  });
}

function isAnswer(value: unknown): value is RpcAnswer & { readonly id?: unknown } {
  if (typeof value !== 'object' || value === null) return false;
  if ('error' in value && value.error !== null && value.error !== undefined) return isRpcError(value.error);
  return 'result' in value;
}

function isRpcError(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return 'code' in value && typeof value.code === 'number' && 'message' in value && typeof value.message === 'string';
}

/** Take a name and password out of a URL: they travel in a header. */
function addressOf(text: string): { readonly url: string; readonly headers: Record<string, string> } {
  const url = new URL(text);
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (url.username === '') return { url: text, headers };
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  [url.username, url.password] = ['', ''];
  return {
    url: url.href,
    headers: { ...headers, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
  };
}
