import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { type HttpMessage, sendHttp } from '../../devnet/http.ts';

/** Parsed JSON of an answer, for assertions. */
// biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of answers.
export type Json = any;

export interface Answer<T = Json> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
  readonly text: string;
}

const DECODERS = { gzip: gunzipSync, br: brotliDecompressSync, deflate: inflateSync } as const;

/**
 * Send a request to the service, without `Accept-Encoding` unless it is given.
 * @returns the answer decoded, and of JSON the parsed body
 */
export async function sendRequest(url: string, { headers, ...message }: HttpMessage = {}): Promise<Answer> {
  const received = await sendHttp(url, { ...message, headers: { accept: '*/*', ...headers } });
  const answered = new Headers();
  for (let at = 0; at < received.rawHeaders.length; at += 2) {
    answered.append(received.rawHeaders[at] ?? '', received.rawHeaders[at + 1] ?? '');
  }
  const encoding = answered.get('content-encoding') ?? '';
  const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding as keyof typeof DECODERS] : undefined;
  const text = (decode?.(received.bytes) ?? received.bytes).toString('utf8');
  const isJson = answered.get('content-type')?.includes('json') === true && text !== '';
  return { status: received.status, headers: answered, text, body: isJson ? JSON.parse(text) : text };
}
