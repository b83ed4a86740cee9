import { ClientError, ConnectionError, InvalidAnswerError, TimeoutError } from '../errors.ts';
import { errorOf } from '../http/answer.ts';
import { type FetchFunction, type HttpRequest, initOf, readText, refuseRedirect } from '../http/transport.ts';
import { runAfter } from '../wait.ts';

/** One server-sent event. */
export interface ServerEvent {
  /** `message` when the server names none. */
  readonly type: string;
  readonly data: string;
  readonly id: string | undefined;
}

export interface EventOptions {
  readonly fetch: FetchFunction;
  /** Longest silence, ms. The service sends a heartbeat every few seconds. */
  readonly silenceMs: number;
  /** Longest event, characters. */
  readonly maxEventLength: number;
}

/**
 * Open a stream of server-sent events and yield each one; the end of the loop closes it.
 *
 * @throws ServiceError | InvalidAnswerError for an answer that is no stream; ConnectionError | TimeoutError when it breaks
 */
export async function* readEvents(request: HttpRequest, options: EventOptions): AsyncGenerator<ServerEvent> {
  const { signal } = request;
  signal?.throwIfAborted();
  const abort = new AbortController();
  const stop = () => abort.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  let isSilent = false;
  let cancel = () => {};
  const listen = () => {
    cancel();
    cancel = runAfter(options.silenceMs, () => {
      isSilent = true;
      abort.abort();
    });
  };
  try {
    listen();
    const response = await options.fetch(request.url, initOf(request, abort.signal));
    refuseRedirect(response);
    const { body, status, headers } = response;
    if (!/^text\/event-stream\b/i.test(headers.get('content-type') ?? '') || body === null) {
      throw errorOf({ status, headers, text: await readText(response, options.maxEventLength) });
    }
    const reader = body.getReader();
    const parse = createParser(options.maxEventLength, status);
    const decoder = new TextDecoder();
    for (;;) {
      listen();
      const { done, value } = await reader.read();
      if (done) return;
      // While the consumer works, nothing is awaited from the server.
      cancel();
      yield* parse(decoder.decode(value, { stream: true }));
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (isSilent) throw new TimeoutError(options.silenceMs);
    if (error instanceof ClientError) throw error;
    throw new ConnectionError('The stream of changes broke off.', error);
  } finally {
    cancel();
    signal?.removeEventListener('abort', stop);
    abort.abort();
  }
}

/**
 * Collect chunks of text into events. Comments, such as heartbeats, are left out. Each character is read once, however small
 * the chunks are.
 */
export function createParser(maxLength: number, status = 200): (chunk: string) => ServerEvent[] {
  let id: string | undefined;
  let type: string | undefined;
  let data: string[] = [];
  let pieces: string[] = [];
  /** Characters of the unfinished event. */
  let length = 0;
  let endedWithReturn = false;
  const take = (line: string): ServerEvent[] => {
    if (line === '') {
      const events =
        data.length === 0 && type === undefined ? [] : [{ type: type ?? 'message', data: data.join('\n'), id }];
      [type, data, length] = [undefined, [], 0];
      return events;
    }
    const colon = line.indexOf(':');
    const [field, value] = colon === -1 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    if (field === 'id') id = value;
    else if (field === 'event') type = value;
    else if (field === 'data') data.push(value);
    // Nothing is kept of other lines.
    else length -= line.length + 1;
    return [];
  };
  return (chunk) => {
    // A return at the end of the last chunk has ended its line.
    const text = endedWithReturn && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') endedWithReturn = text.endsWith('\r');
    const lines = text.split(/\r\n|\r|\n/);
    const begun = lines.pop() ?? '';
    const events = lines.flatMap((line) => {
      length += line.length + 1;
      if (length > maxLength) throw tooLong(maxLength, status);
      const whole = pieces.length === 0 ? line : pieces.join('') + line;
      pieces = [];
      return take(whole);
    });
    length += begun.length;
    if (length > maxLength) throw tooLong(maxLength, status);
    if (begun !== '') pieces.push(begun);
    return events;
  };
}

const tooLong = (maxLength: number, status: number) =>
  new InvalidAnswerError('too_large', status, `An event has more than ${maxLength} characters.`);
