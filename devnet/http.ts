import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface HttpMessage {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  /** Use a new connection and close it: for a server that may close it after any answer. Default false. */
  readonly isAlone?: boolean | undefined;
  /** Silence on the connection that ends the request, ms. Default: none does. */
  readonly timeoutMs?: number | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** As received: a client that accepts encodings has to decode it. */
  readonly bytes: Buffer;
}

/** Idle connections are closed before the servers here (5 s) close them. */
const IDLE_MS = 1_000;
const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });

/**
 * Send one request on loopback and read its whole answer, over a connection that is kept for the next one. It takes a quarter
 * of the CPU time of `fetch`.
 * @throws Error of the connection, and when the answer is late
 */
export function sendHttp(url: string, message: HttpMessage = {}): Promise<HttpAnswer> {
  const { method = 'GET', body, timeoutMs = 0, isAlone = false } = message;
  const length = body === undefined ? undefined : { 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { agent: isAlone ? false : agent, method, headers: { ...message.headers, ...length } },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.once('error', reject);
        response.once('end', () => {
          const { statusCode = 0, headers, rawHeaders } = response;
          resolve({ status: statusCode, headers, rawHeaders, bytes: Buffer.concat(pieces) });
        });
      },
    );
    sent.once('error', reject);
    if (timeoutMs > 0)
      sent.setTimeout(timeoutMs, () => sent.destroy(new Error(`No answer of ${url} in ${timeoutMs} ms`)));
    sent.end(body);
  });
}
