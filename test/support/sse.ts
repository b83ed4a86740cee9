import type { Json } from './service.ts';

/** An open subscription and its events. */
export interface EventStream {
  readonly status: number;
  /** The next event's `data`; `null` once the stream is complete. */
  next(): Promise<Json | null>;
  /** The `id` of the event that was returned last. */
  lastId(): string | undefined;
  /** Number of received heartbeats. */
  heartbeats(): number;
  close(): Promise<void>;
}

/** Subscribe over server-sent events. */
export async function subscribe(
  url: string,
  query: string,
  variables: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<EventStream> {
  const abort = new AbortController();
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ query, variables }),
    signal: abort.signal,
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  let beats = 0;
  let id: string | undefined;
  return {
    status: response.status,
    heartbeats: () => beats,
    lastId: () => id,
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end !== -1) {
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          if (block.startsWith(':')) beats += 1;
          if (block.includes('event: complete')) return null;
          id = /^id: (.+)$/m.exec(block)?.[1] ?? id;
          const data = /^data: (.+)$/m.exec(block)?.[1];
          if (data !== undefined) return JSON.parse(data);
          continue;
        }
        const { done, value } = await reader.read();
        if (done) return null;
        text += decoder.decode(value, { stream: true });
      }
    },
    async close() {
      abort.abort();
      await reader.cancel().catch(() => {});
    },
  };
}
