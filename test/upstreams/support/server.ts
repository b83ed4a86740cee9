import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** `METHOD /path` → the JSON to answer, or a function of the request. An unlisted request is a test error. */
export type Routes = Readonly<Record<string, unknown>>;
export type Reply = (request: SeenRequest) => unknown;

/** Text that only a provider's error body contains: it must never leak. */
export const BODY_MARK = 'confidential-body-text';

export type Fault =
  | 'malformed'
  | 'html'
  | 'empty-body'
  | 'hang'
  | 'reset'
  | 'drip'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown };

export interface FakeProvider {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Requests without a route; has to stay empty. */
  readonly unexpected: readonly string[];
  respond(routes: Routes): void;
  /** Break all answers, or those selected by `only`; `null` repairs. */
  fault(fault: Fault | null, only?: (request: SeenRequest, index: number) => boolean): void;
  /** The next request, when it arrives. */
  arrival(): Promise<SeenRequest>;
  close(): Promise<void>;
}

/** A provider on loopback, on a free port. */
export async function startFakeProvider(): Promise<FakeProvider> {
  const requests: SeenRequest[] = [];
  const unexpected: string[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const waiting: ((request: SeenRequest) => void)[] = [];
  let routes: Routes = {};
  let fault: { readonly kind: Fault; readonly only: (request: SeenRequest, index: number) => boolean } | null = null;

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await read(incoming);
    const index = requests.push(request) - 1;
    for (const resolve of waiting.splice(0)) resolve(request);
    const key = `${request.method} ${request.path}`;
    if (!(key in routes)) {
      unexpected.push(key);
      response.writeHead(501).end();
    } else if (fault?.only(request, index) === true) {
      misbehave(response, fault.kind, timers);
    } else {
      const route = routes[key];
      const body = typeof route === 'function' ? (route as Reply)(request) : route;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }
  };
  // A closed client, or a stopped world, ends only the connection.
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    unexpected,
    respond(next) {
      routes = next;
    },
    fault(kind, only = () => true) {
      fault = kind === null ? null : { kind, only };
    },
    arrival: () => new Promise((resolve) => waiting.push(resolve)),
    close() {
      for (const timer of timers) clearInterval(timer);
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function read(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const url = new URL(incoming.url ?? '/', 'http://fake');
  return {
    method: incoming.method ?? '',
    path: decodeURIComponent(url.pathname),
    query: Object.fromEntries(url.searchParams),
    headers: incoming.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

function misbehave(response: ServerResponse, fault: Fault, timers: Set<NodeJS.Timeout>): void {
  const json = { 'content-type': 'application/json' };
  if (typeof fault === 'object') {
    response
      .writeHead(fault.status, { ...json, ...fault.headers })
      .end(JSON.stringify(fault.body ?? { error: BODY_MARK }));
    return;
  }
  switch (fault) {
    case 'malformed':
      response.writeHead(200, json).end(`{"${BODY_MARK}": NaN,`);
      return;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<html><body>${BODY_MARK}</body></html>`);
      return;
    case 'empty-body':
      response.writeHead(200, json).end();
      return;
    case 'hang':
      return;
    case 'reset':
      response.writeHead(200, { ...json, 'content-length': '100000' });
      response.write(`{"${BODY_MARK}": [`);
      response.socket?.setNoDelay(true);
      setImmediate(() => response.socket?.destroy());
      return;
    case 'drip': {
      response.writeHead(200, json);
      response.write('[');
      const timer = setInterval(() => response.write(' '), 5);
      timers.add(timer);
      response.on('close', () => clearInterval(timer));
      return;
    }
  }
}
