import type { Clock } from '../../src/shared/clock.ts';

/** One request and its answer as transferred. */
export interface RecordedExchange {
  readonly method: string;
  readonly url: string;
  readonly requestBody: string | undefined;
  readonly sentMs: number;
  /** Until the whole answer had arrived, or the attempt had failed. */
  readonly tookMs: number;
  /** Absent when there was no answer. */
  readonly answer?:
    | {
        readonly status: number;
        readonly headers: Headers;
        /** When the head of the answer arrived. */
        readonly headMs: number;
        /** Absent when the body was cut off, or is larger than the maximum. */
        readonly body?: string | undefined;
      }
    | undefined;
}

export interface RecordedFetch {
  readonly fetch: typeof fetch;
  /** Finished exchanges, in the order of their end. */
  readonly exchanges: readonly RecordedExchange[];
}

/** Larger than the bodies that adapters read. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Statuses whose answers have no body. */
const EMPTY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

export interface RecordedFetchDeps {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** Milliseconds since any fixed moment; for durations. */
  readonly stopwatch: () => number;
}

/** Wrap a fetch: exchanges are recorded and passed on unchanged. */
export function createRecordedFetch({ fetch: send, clock, stopwatch }: RecordedFetchDeps): RecordedFetch {
  const exchanges: RecordedExchange[] = [];
  const tapped: typeof fetch = async (input, init) => {
    const sentMs = clock.now();
    const startedMs = stopwatch();
    const request = {
      method: init?.method ?? 'GET',
      url: input instanceof Request ? input.url : String(input),
      requestBody: typeof init?.body === 'string' ? init.body : undefined,
      sentMs,
    };
    let answer: RecordedExchange['answer'];
    try {
      const response = await send(input, init);
      const { status, headers } = response;
      answer = { status, headers, headMs: clock.now() };
      const bytes = await readBytes(response);
      if (bytes !== undefined) answer = { ...answer, body: new TextDecoder().decode(bytes) };
      return new Response(EMPTY.has(status) ? null : (bytes ?? OVERSIZED), {
        status,
        statusText: response.statusText,
        headers: handedOn(headers, bytes === undefined),
      });
    } finally {
      exchanges.push({ ...request, tookMs: stopwatch() - startedMs, answer });
    }
  };
  return { fetch: tapped, exchanges };
}

const OVERSIZED = 'The answer is too large.';

/**
 * Headers of the answer that is passed on. The content length of an oversized body stays, so that the reader refuses it; the
 * encoding is removed, because the body is already decoded.
 */
function handedOn(headers: Headers, isOversized: boolean): Headers {
  const copy = new Headers(headers);
  copy.delete('content-encoding');
  copy.delete('content-length');
  if (isOversized) copy.set('content-length', String(Number.MAX_SAFE_INTEGER));
  return copy;
}

/**
 * The body, or `undefined` when it is too large.
 * @throws errors of reading, such as a cut connection or an abort
 */
async function readBytes(response: Response): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (Number(response.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) {
    await response.body?.cancel().catch(() => {});
    return undefined;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done || value === undefined) break;
    size += value.byteLength;
    if (size > MAX_BODY_BYTES) {
      await reader?.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
