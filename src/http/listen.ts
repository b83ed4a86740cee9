import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CONNECTIONS_RETRY_SEC, TOO_MANY_CONNECTIONS } from '../limits/admission.ts';
import type { CountedClient } from '../limits/clients.ts';
import { errorResponse } from '../rest/envelope.ts';
import type { ErrorCode } from '../shared/errors.ts';
import { StartupError } from '../shared/errors.ts';
import type { Headers } from '../shared/headers.ts';
import { bearerOf } from '../shared/request-info.ts';
import { type ConnectionPlace, createConnectionCounts, requireKey } from './connections.ts';
import { createDrain } from './drain.ts';
import { SECURITY_HEADERS } from './headers.ts';
import { type Connection, createSlowReaders } from './slow-readers.ts';

/** The address is in use or not permitted; the message names the settings. */
class ListenError extends StartupError {
  override readonly name = 'ListenError';
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The setting of the port, for messages. */
  readonly setting?: string | undefined;
  readonly slowReaderMs?: number | undefined;
  /** Timeouts for the headers and for a whole request, ms. */
  readonly headersTimeout?: number | undefined;
  readonly requestTimeout?: number | undefined;
  readonly onSlowReader?: (() => void) | undefined;
  /** Maximum number of open connections of one address or key; 0 = no limit. */
  readonly connectionsPerAddress?: number | undefined;
  /** Maximum number of open connections, shared by the tiers; 0 = no limit. */
  readonly maxConnections?: number | undefined;
  /** The client of a key that was accepted before, by its header. Absent: no connection counts for a key. */
  readonly keyOf?: ((authorization: string) => CountedClient | undefined) | undefined;
  readonly onRefusedConnection?: (() => void) | undefined;
  /** Headers of refusals that reach no listener, by the origin of the request where it is known. Default: none. */
  readonly headersFor?: ((origin: string | undefined) => Headers) | undefined;
}

export interface Listening {
  readonly port: number;
  readonly url: string;
  readonly connections: number;
  /** Effective request timeouts and the interval of their checks, ms. */
  readonly timeouts: { readonly headersMs: number; readonly requestMs: number; readonly checkMs: number };
  /**
   * Let running requests finish, stop accepting, close remaining connections after `graceMs`. A kept-alive connection stays
   * open for `idleMs` (default 0), and its next request is answered with `Connection: close`, so that its client does not send
   * a request into a closed connection. Connections are accepted, for one request each, until the open ones have gone, at most
   * for `idleMs`.
   */
  close(graceMs: number, idleMs?: number): Promise<void>;
}

/** How long a reader may read nothing of its answer. */
const SLOW_READER_MS = 15_000;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** How long a refused connection may take to send a request and get its answer, and to close after the answer. */
const REFUSED_MS = 1_000;
/** Paths with the state of the service, which everybody is told. */
const PROBES = ['/health', '/ready'];
/** Maximum interval between Node's checks of timeouts; with its default requests may exceed them by half a minute. */
const CHECK_MS = 1_000;
const CHECKS_PER_LIMIT = 10;
/** Longer than the idle timeout of common load balancers (60 s), so that they close idle connections first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/**
 * Listeners of one event that an answer may have before Node warns of a leak. A stream has ten for its end (metrics, tracing, the
 * limits, Yoga and the pipeline that writes it), which is Node's default, and one more while the process stops.
 */
const ANSWER_LISTENERS = 20;

/**
 * Listen for HTTP.
 * @throws ListenError when the address is in use or not permitted
 */
export async function listen(
  listener: (req: IncomingMessage, res: ServerResponse) => void,
  options: ListenOptions,
): Promise<Listening> {
  const { host, port, setting = 'PORT', slowReaderMs = SLOW_READER_MS, onSlowReader } = options;
  const { connectionsPerAddress = 0, maxConnections = 0, keyOf, onRefusedConnection } = options;
  const { headersFor = () => ({}) } = options;
  const { headersTimeout = HEADERS_TIMEOUT_MS, requestTimeout = REQUEST_TIMEOUT_MS } = options;
  // Tracked by connection instead of by answer: a set that changes with every answer keeps finished ones from garbage
  // collection.
  const connections = new Map<Socket, Connection>();
  const slow = createSlowReaders({
    connections,
    limitMs: slowReaderMs,
    onCut: onSlowReader,
  });
  const counts = createConnectionCounts({ perClient: connectionsPerAddress, max: maxConnections });
  const checkMs = Math.min(CHECK_MS, headersTimeout / CHECKS_PER_LIMIT);
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      headersTimeout,
      requestTimeout,
      connectionsCheckingInterval: checkMs,
      // The handler checks the header, and answers with the envelope.
      requireHostHeader: false,
    },
    (req, res) => {
      res.setMaxListeners(ANSWER_LISTENERS);
      const connection = connections.get(req.socket);
      if (connection) {
        if (connection.answer !== null && !connection.answer.closed) waitInLine(connection, res);
        connection.answer = res;
      }
      drain.answering(res);
      if (connection === undefined || isWelcome(connection.place, req, res, keyOf)) listener(req, res);
      else if (req.method === 'OPTIONS') {
        // A page can read the refusal of its request only after its preflight.
        res.shouldKeepAlive = false;
        listener(req, res);
      } else refuseConnection(res, headersFor(req.headers.origin));
    },
  );
  const drain = createDrain(server, connections);
  // Headers are limited by size. A limit on their number would drop the last ones, which a proxy has added.
  server.maxHeadersCount = 0;
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    const connection = connections.get(req.socket);
    if (connection) connection.answer = res;
    const { headers, body } = refusal(417, 'The only supported expectation is "100-continue".', 'headers.expect');
    res.writeHead(417, { ...headers, ...headersFor(req.headers.origin), connection: 'close' }).end(body);
  });
  // CONNECT gets an error answer; without a listener Node would close the connection.
  server.on('connect', (req: IncomingMessage, socket: Duplex) => {
    const own = headersFor(req.headers.origin);
    writeRaw(socket, 405, 'Method Not Allowed', 'This is not a proxy: CONNECT is not supported.', own);
  });
  server.on('connection', (socket: Socket) => {
    const place = counts.enter(socket.remoteAddress ?? 'unknown');
    if (place.verdict !== 'open') onRefusedConnection?.();
    if (place.verdict === 'cut') {
      socket.destroy();
      return;
    }
    if (place.verdict === 'refused') socket.setTimeout(REFUSED_MS);
    const connection: Connection = { answer: null, waiting: null, takenBytes: 0, waitedMs: 0, place };
    connections.set(socket, connection);
    socket.once('close', () => {
      connections.delete(socket);
      place.leave();
      for (const res of connection.waiting ?? []) closeUnsent(res);
    });
  });
  server.on('clientError', (error: MalformedError, socket: Duplex) =>
    refuseMalformed(error, socket, connections.get(socket as Socket)?.answer ?? null, headersFor),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(describe(error, host, port, setting)));
    server.listen({ host, port }, resolve);
  });
  const address = server.address() as AddressInfo;
  const formattedHost = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    port: address.port,
    url: `http://${formattedHost}:${address.port}`,
    get connections() {
      return connections.size;
    },
    timeouts: { headersMs: server.headersTimeout, requestMs: server.requestTimeout, checkMs },
    close: (graceMs, idleMs = 0) => drain.close(graceMs, idleMs).finally(slow.close),
  };
}

/** Remember an answer that has to wait for an earlier one of its connection. */
function waitInLine(connection: Connection, res: ServerResponse): void {
  connection.waiting ??= new Set();
  const { waiting } = connection;
  waiting.add(res);
  res.once('close', () => waiting.delete(res));
}

/**
 * Close an answer that waits for an earlier one of a connection that has ended. Node emits `close` only for the one that has
 * the socket. Without it, the unread bytes of the others would stay counted, and their streams open.
 */
function closeUnsent(res: ServerResponse): void {
  if (res.socket !== null) return;
  res.destroy();
  res.emit('close');
}

const CODES: Readonly<Record<number, ErrorCode>> = { 405: 'method_not_allowed', 503: 'not_ready' };

const MALFORMED: Readonly<Record<string, readonly [status: number, reason: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    'Request Header Fields Too Large',
    'The headers are larger than 16 KiB. Send smaller headers.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request did not arrive in time. Send it again.'],
};
const NO_HTTP = [400, 'Bad Request', 'This is not a well-formed HTTP/1.1 request.'] as const;

/**
 * Answer a request that the parser refuses, which never reaches a handler, with the error envelope, and close the connection.
 * An answer that has begun is not written into: its connection is closed after it, or at once when the body of its own request
 * is malformed.
 */
function refuseMalformed(
  error: MalformedError,
  socket: Duplex,
  answer: ServerResponse | null,
  headersFor: (origin: string | undefined) => Headers,
): void {
  // The body ended with its connection: the caller has disconnected.
  const hasLeft = error.code === 'HPE_INVALID_EOF_STATE' && answer !== null && !answer.closed;
  if (error.code === 'ECONNRESET' || hasLeft || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason, message] = MALFORMED[error.code ?? ''] ?? NO_HTTP;
  if (answer === null || answer.closed) {
    writeRaw(socket, status, reason, message, headersFor(originIn(error)));
    return;
  }
  if (answer.req.complete) {
    // The newest answer is the last one on its connection.
    answer.once('close', () => socket.destroy());
  } else if (answer.headersSent) {
    socket.destroy();
  } else {
    const { headers, body } = refusal(status, message, 'request');
    answer.once('close', () => socket.destroy());
    const own = headersFor(answer.req.headers.origin);
    answer.writeHead(status, { ...headers, ...own, connection: 'close' }).end(body);
  }
}

/** An error of the parser, with the bytes that it has received last. */
type MalformedError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer | undefined };

const ORIGIN = /^origin:[ \t]*(\S+)[ \t]*\r?$/im;

/** The origin of a request without parsed headers, if it is among the bytes that were received last. */
function originIn({ rawPacket }: MalformedError): string | undefined {
  return ORIGIN.exec(rawPacket?.toString('latin1') ?? '')?.[1];
}

/** Whether a request is answered by the service. One with a key may be, on a connection that is refused without. */
function isWelcome(
  place: ConnectionPlace,
  req: IncomingMessage,
  res: ServerResponse,
  keyOf: ListenOptions['keyOf'],
): boolean {
  if (place.isKeyed) return true;
  const authorization = bearerOf(req.headers.authorization);
  const key = authorization === undefined ? undefined : keyOf?.(authorization);
  if (key !== undefined && place.bring(key)) {
    if (place.verdict === 'refused') req.socket.setTimeout(0);
    return true;
  }
  if (place.verdict === 'open') return true;
  const isProbe = PROBES.includes(String(req.url).split('?', 1)[0] ?? '');
  // The key may be good and unknown here yet: its check is the first step of the request, and is charged.
  const mayHaveKey = key === undefined && authorization !== undefined && keyOf !== undefined;
  if (mayHaveKey) requireKey(req);
  res.shouldKeepAlive = false;
  return isProbe || mayHaveKey;
}

function refuseConnection(res: ServerResponse, common: Headers): void {
  const { headers, body } = refusal(503, TOO_MANY_CONNECTIONS, 'connections');
  const own = { 'retry-after': String(CONNECTIONS_RETRY_SEC), connection: 'close' };
  res.writeHead(503, { ...headers, ...common, ...own }).end(body);
}

/** Make the envelope of a request without a handler. */
function refusal(status: number, message: string, field: string) {
  const correlationId = randomUUID();
  const code = CODES[status] ?? 'bad_request';
  // A 405 names the methods of its target; here there are none.
  const content = code === 'method_not_allowed' ? { allow: [] } : { details: { field } };
  const { headers, body } = errorResponse({ code, status, message, ...content }, correlationId);
  const text = String(body);
  const own = { 'x-correlation-id': correlationId, 'content-length': String(Buffer.byteLength(text)) };
  return { headers: { ...SECURITY_HEADERS, ...headers, ...own }, body: text };
}

function writeRaw(socket: Duplex, status: number, reason: string, message: string, own: Headers): void {
  const { headers, body } = refusal(status, message, 'request');
  const lines = Object.entries({ ...headers, ...own, connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
  // Node removes its own listeners from a socket that it hands over: the error of a client that has left would end the process.
  socket.on('error', () => socket.destroy());
  // Node checks no timeout of this connection any more, and a client may leave its side open.
  const lingering = setTimeout(() => socket.destroy(), REFUSED_MS);
  socket.once('close', () => clearTimeout(lingering));
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

function describe(error: NodeJS.ErrnoException, host: string, port: number, setting: string): Error {
  if (error.code === 'EADDRINUSE') {
    return new ListenError(
      `Port ${port} on ${host} is taken. Stop the other program or set ${setting} to a free port.`,
      {
        cause: error,
      },
    );
  }
  if (error.code === 'EACCES') {
    return new ListenError(`Port ${port} on ${host} may not be used by this user. Set ${setting} to 1024 or more.`, {
      cause: error,
    });
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new ListenError(`HOST ${host} is not an address of this machine. Use 127.0.0.1 or 0.0.0.0.`, {
      cause: error,
    });
  }
  return error;
}
