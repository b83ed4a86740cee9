import { ConnectionError, InvalidAnswerError, TimeoutError } from '../errors.ts';
import { runAfter } from '../wait.ts';

/** `fetch`, or a function of its form. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TransportOptions {
  readonly fetch: FetchFunction;
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Options of `fetch` for a request. No cookies; redirects are shown and not followed, so that a key stays with its host. */
export function initOf({ method, headers, body }: HttpRequest, signal: AbortSignal): RequestInit {
  const init: RequestInit = { method, headers: { ...headers }, redirect: 'manual', credentials: 'omit', signal };
  return body === undefined ? init : { ...init, body };
}

/**
 * Send a request and read its answer, at most `maxAnswerBytes` of it.
 *
 * @throws ConnectionError | TimeoutError | InvalidAnswerError, or the reason of the request's signal
 */
export async function sendHttp(request: HttpRequest, options: TransportOptions): Promise<HttpAnswer> {
  const { signal } = request;
  signal?.throwIfAborted();
  const abort = new AbortController();
  const stop = () => abort.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  let timedOut = false;
  const cancel = runAfter(options.timeoutMs, () => {
    timedOut = true;
    abort.abort();
  });
  try {
    const response = await options.fetch(request.url, initOf(request, abort.signal));
    refuseRedirect(response);
    return {
      status: response.status,
      headers: response.headers,
      text: await readText(response, options.maxAnswerBytes),
    };
  } catch (error) {
    if (error instanceof InvalidAnswerError) throw error;
    if (signal?.aborted) throw signal.reason;
    if (timedOut) throw new TimeoutError(options.timeoutMs);
    throw new ConnectionError(`The connection to ${new URL(request.url).origin} failed or broke off.`, error);
  } finally {
    cancel();
    signal?.removeEventListener('abort', stop);
    // The rest of an answer that was refused is not received.
    abort.abort();
  }
}

/** @throws InvalidAnswerError for an answer that points elsewhere */
export function refuseRedirect({ status, type, headers }: Response): void {
  if (type !== 'opaqueredirect' && !(status >= 300 && status < 400 && status !== 304)) return;
  const to = headers.get('location');
  throw new InvalidAnswerError(
    'redirect',
    status,
    `The service redirects${to === null ? '' : ` to ${to}`}: set baseUrl to the final address.`,
  );
}

/** Read an answer as text. @throws InvalidAnswerError when it has more than `maxBytes` */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      // Nothing waits for the end of the cancelled rest.
      reader.cancel().catch(() => {});
      throw new InvalidAnswerError('too_large', response.status, `The answer has more than ${maxBytes} bytes.`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
