import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Altered, relay } from './rpc-relay.ts';

/**
 * Behaviour between the service and a node: none, silence, a body that never ends slowly (`drip`) or fast (`flood`), a closed
 * connection, an outage, or a node that lags, forks or lacks a capability.
 */
export type ProxyMode =
  | { readonly kind: 'pass' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'drip' }
  | { readonly kind: 'flood'; readonly bytes: number }
  | { readonly kind: 'down' }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'garbage' }
  | Altered;

export interface RpcProxy {
  readonly url: string;
  set(mode: ProxyMode): void;
  /** HTTP requests since the last call. */
  taken(): number;
  /** JSON-RPC calls since the last call; a batch counts each of its calls. */
  calls(): number;
  /** Bytes of floods that were handed to a connection since the start. */
  flooded(): number;
  stop(): Promise<void>;
}

/** Start a JSON-RPC proxy on loopback before a local node. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  let mode: ProxyMode = { kind: 'pass' };
  let requests = 0;
  let calls = 0;
  let flooded = 0;
  const held = new Set<ServerResponse>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    calls += callsIn(body);
    switch (mode.kind) {
      case 'hang':
        held.add(response);
        return;
      case 'drip': {
        held.add(response);
        response.writeHead(200, { 'content-type': 'application/json' });
        const dripping = setInterval(() => response.write(' '), DRIP_MS);
        response.on('close', () => clearInterval(dripping));
        return;
      }
      case 'flood':
        flooded += await flood(response, mode.bytes);
        return;
      case 'down':
        request.socket.destroy();
        return;
      case 'status':
        response.writeHead(mode.status, { 'content-type': 'application/json' }).end('{"secret":"node text"}');
        return;
      case 'garbage':
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"jsonrpc":"2.0","id":1,"result":"node te');
        return;
      default: {
        const text = await relay(target, body, mode);
        response.writeHead(200, { 'content-type': 'application/json' }).end(text);
      }
    }
  };
  // A stopped node, or a closed client, ends only the connection.
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set(next) {
      mode = next;
      if (next.kind !== 'hang' && next.kind !== 'drip') {
        for (const response of held) response.destroy();
        held.clear();
      }
    },
    taken() {
      const taken = requests;
      requests = 0;
      return taken;
    },
    calls() {
      const counted = calls;
      calls = 0;
      return counted;
    },
    flooded: () => flooded,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const DRIP_MS = 10;

/** Write a valid answer of a size, as fast as it is read. Returns the bytes that were written until the reader closed. */
async function flood(response: ServerResponse, bytes: number): Promise<number> {
  const chunk = Buffer.alloc(64 * 1024, 'a');
  let isClosed = false;
  let written = 0;
  const closed = once(response, 'close').then(() => {
    isClosed = true;
  });
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"jsonrpc":"2.0","id":1,"result":"0x');
  while (written < bytes && !isClosed) {
    written += chunk.byteLength;
    if (response.write(chunk)) await new Promise((resolve) => setImmediate(resolve));
    else await Promise.race([once(response, 'drain'), closed]).catch(() => {});
  }
  response.end('"}');
  return written;
}

function callsIn(body: string): number {
  const requested: unknown = JSON.parse(body);
  return Array.isArray(requested) ? requested.length : 1;
}
