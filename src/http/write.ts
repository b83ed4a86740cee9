import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { CallerLeftError } from '../limits/fair-queue.ts';
import type { RestResponse, StreamResponse } from '../rest/types.ts';
import { type Headers, joinHeaders } from '../shared/headers.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import { chooseEncoding, createCompressor } from './compression.ts';

/** Maximum bytes to read of an unused body, so that its sender gets to read the answer. */
const LINGER_BYTES = 16 * 2 ** 20;
/** The maximum for a caller that exceeded its rate limit. */
const LINGER_LIMITED_BYTES = 256 * 1024;

export function bytesOf(body: RestResponse['body']): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.length : body.reduce((sum, part) => sum + part.length, 0);
}

/**
 * Write a whole answer to a socket, with extra headers before its own; does nothing if an answer has begun.
 * @param bytes length of the body
 */
export function writeWhole(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, budget = NONE, encoded = NONE, body }: RestResponse,
  bytes: number,
  ...common: readonly Headers[]
): void {
  if (res.destroyed || res.headersSent) return;
  const isUnread = isLong(req);
  // A bodiless status has no content length: zero would describe the full answer.
  const length = status === 304 || status === 204 ? NONE : { 'content-length': String(bytes) };
  const closing = isUnread ? { connection: 'close' } : NONE;
  res.writeHead(status, joinHeaders(length, ...common, budget, headers, encoded, closing));
  const parts = req.method === 'HEAD' || status === 304 ? [] : partsOf(body);
  if (isUnread) {
    for (const part of parts) res.write(part);
    linger(req, res, status === 429 ? LINGER_LIMITED_BYTES : LINGER_BYTES);
  } else {
    for (const part of parts.slice(0, -1)) res.write(part);
    res.end(parts.at(-1));
  }
}

const NONE: Headers = {};

function partsOf(body: RestResponse['body']): readonly (string | Uint8Array)[] {
  return typeof body === 'string' || body instanceof Uint8Array ? [body] : body;
}

/** Whether a request body may be longer than the part that Node discards itself before the next request. */
function isLong({ complete, method, headers }: IncomingMessage): boolean {
  if (complete || method === 'GET' || method === 'HEAD') return false;
  // Without either header a request has no body. Node knows that it is complete only after the answers of the same turn.
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LINGER_LIMITED_BYTES;
}

/**
 * Read and discard the rest of a request. Closing a connection with unread bytes resets it, and the finished answer could be
 * lost.
 */
function linger(req: IncomingMessage, res: ServerResponse, limitBytes: number): void {
  let left = limitBytes;
  const finish = (): void => {
    req.off('data', count);
    res.end();
  };
  const count = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left < 0) finish();
  };
  req.on('data', count);
  req.once('end', finish);
  req.once('error', finish);
  req.resume();
}

/** Codes of a connection that its client has closed, orderly or with unread bytes. Failures of our own sources are `AppError`s. */
const CALLER_LEFT: ReadonlySet<string> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/** Whether an error of a stream says that its caller has left: on the connection, or in the queue before its next page. */
function isDeparture(error: unknown): boolean {
  // Newer releases of Node join the error of the source with that of the connection.
  if (error instanceof AggregateError) return error.errors.every(isDeparture);
  return error instanceof CallerLeftError || CALLER_LEFT.has((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * Send a streamed body as fast as the caller reads it, with extra headers before its own. It is compressed, unless it consists
 * of events. When the caller disconnects, the source is ended.
 * @throws errors of the source, after the connection was closed, so that the body does not look complete
 */
export async function writeStream(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, budget = {}, stream, isEvents = false }: StreamResponse,
  ...common: readonly Headers[]
): Promise<void> {
  const encoding = isEvents ? 'identity' : chooseEncoding(req.headers['accept-encoding'], () => true);
  const encoded = withoutUndefined({
    vary: isEvents ? undefined : 'accept-encoding',
    'content-encoding': encoding === 'identity' ? undefined : encoding,
  });
  const isSent = !res.destroyed && !res.headersSent;
  if (isSent) res.writeHead(status, joinHeaders(...common, budget, headers, encoded));
  if (!isSent || req.method === 'HEAD') {
    await stream[Symbol.asyncIterator]().return?.();
    if (isSent) res.end();
    return;
  }
  res.flushHeaders();
  try {
    if (encoding === 'identity') await pipeline(stream, res);
    else await pipeline(stream, createCompressor(encoding), res);
  } catch (error) {
    if (!isDeparture(error)) throw error;
  }
}
