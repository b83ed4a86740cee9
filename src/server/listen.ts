import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorResponse } from '../rest/envelope.ts';
import { SECURITY_HEADERS } from './headers.ts';
import { type Connection, createSlowReaders } from './slow-readers.ts';

/** The address is taken or may not be used; the message names the settings. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The setting that the port comes from, for messages. */
  readonly setting?: string;
  readonly slowReaderMs?: number;
  readonly onSlowReader?: () => void;
}

export interface Listening {
  readonly port: number;
  readonly url: string;
  /** Stop accepting, let running requests finish, cut what is left after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** How long a reader may take nothing of its answer. */
const SLOW_READER_MS = 15_000;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the idle timeout of common load balancers (60 s), so that they close idle connections first. */
export const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** Listen for HTTP. @throws ListenError when the address is taken or not allowed */
export async function listen(
  listener: (req: IncomingMessage, res: ServerResponse) => void,
  { host, port, setting = 'PORT', slowReaderMs = SLOW_READER_MS, onSlowReader }: ListenOptions,
): Promise<Listening> {
  // By connection and not by answer: a set that every answer enters and leaves keeps the dead ones from the collector.
  const connections = new Map<Socket, Connection>();
  const slow = createSlowReaders({
    connections,
    limitMs: slowReaderMs,
    ...(onSlowReader === undefined ? {} : { onCut: onSlowReader }),
  });
  let closing = false;
  /** End the connection with this answer: kept alive, it would hold the stop up. */
  const leaveAfter = (res: ServerResponse) => {
    res.shouldKeepAlive = false;
    // The connection counts as idle only once this turn is over.
    res.once('close', () => setImmediate(() => server.closeIdleConnections()));
  };
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS, headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    (req, res) => {
      const connection = connections.get(req.socket);
      if (connection) connection.answer = res;
      if (closing) leaveAfter(res);
      listener(req, res);
    },
  );
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { answer: null, takenBytes: 0, waitedMs: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  server.on('clientError', refuseMalformed);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(describe(error, host, port, setting)));
    server.listen({ host, port }, resolve);
  });
  const address = server.address() as AddressInfo;
  const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    port: address.port,
    url: `http://${shownHost}:${address.port}`,
    close: (graceMs) => {
      closing = true;
      for (const { answer } of connections.values()) if (answer && !answer.closed) leaveAfter(answer);
      return close(server, graceMs).finally(slow.close);
    },
  };
}

const MALFORMED: Readonly<Record<string, readonly [status: number, reason: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'The headers are larger than 16 KiB. Send less.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request did not arrive in time. Send it again.'],
};
const NO_HTTP = [400, 'Bad Request', 'This is not a well-formed HTTP/1.1 request.'] as const;

/** What the parser refuses never reaches a handler: it gets the error envelope here, and the connection ends. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason, message] = MALFORMED[error.code ?? ''] ?? NO_HTTP;
  const correlationId = randomUUID();
  const { headers, body } = errorResponse(
    { code: 'bad_request', status, message, details: { field: 'request' } },
    correlationId,
  );
  const lines = Object.entries({
    ...SECURITY_HEADERS,
    ...headers,
    'x-correlation-id': correlationId,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

async function close(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(cut);
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
