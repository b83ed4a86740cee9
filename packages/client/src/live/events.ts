import { ClientError, ConnectionError, InvalidAnswerError, TimeoutError } from '../errors.ts';
import { errorOf } from '../http/answer.ts';
import { type FetchFunction, type HttpRequest, initOf, refuseRedirect } from '../http/transport.ts';

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
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listen = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isSilent = true;
      abort.abort();
    }, options.silenceMs);
  };
  try {
    listen();
    const response = await options.fetch(request.url, initOf(request, abort.signal));
    refuseRedirect(response);
    const { body, status, headers } = response;
    if (!/^text\/event-stream\b/i.test(headers.get('content-type') ?? '') || body === null) {
      throw errorOf({ status, headers, text: (await response.text()).slice(0, options.maxEventLength) });
    }
    const reader = body.getReader();
    const parse = createParser(options.maxEventLength, status);
    const decoder = new TextDecoder();
    for (;;) {
      listen();
      const { done, value } = await reader.read();
      if (done) return;
      // While the consumer works, nothing is awaited from the server.
      clearTimeout(timer);
      yield* parse(decoder.decode(value, { stream: true }));
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (isSilent) throw new TimeoutError(options.silenceMs);
    if (error instanceof ClientError) throw error;
    throw new ConnectionError('The stream of changes broke off.', error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    abort.abort();
  }
}

/** Collect chunks of text into events. Comments, such as heartbeats, are left out. */
export function createParser(maxLength: number, status = 200): (chunk: string) => ServerEvent[] {
  let rest = '';
  let id: string | undefined;
  return (chunk) => {
    // A carriage return at the end of a chunk may be the first half of a line end.
    rest = `${rest}${chunk}`.replaceAll(/\r\n|\r(?!$)/g, '\n');
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > maxLength || blocks.some(({ length }) => length > maxLength)) {
      throw new InvalidAnswerError('too_large', status, `An event has more than ${maxLength} characters.`);
    }
    return blocks.flatMap((block) => {
      const fields = block.split('\n').map((line): [string, string] => {
        const colon = line.indexOf(':');
        return colon === -1 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
      });
      const valuesOf = (field: string) => fields.filter(([name]) => name === field).map(([, value]) => value);
      id = valuesOf('id').at(-1) ?? id;
      const data = valuesOf('data');
      const type = valuesOf('event').at(-1);
      return data.length === 0 && type === undefined ? [] : [{ type: type ?? 'message', data: data.join('\n'), id }];
    });
  };
}
