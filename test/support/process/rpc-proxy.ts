import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Altered, relay } from './rpc-relay.ts';

/** Behaviour between the service and a node: none, silence, a closed connection, an outage, or a node that lags, forks or lacks a capability. */
export type ProxyMode =
  | { readonly kind: 'pass' }
  | { readonly kind: 'hang' }
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
  stop(): Promise<void>;
}

/** Start a JSON-RPC proxy on loopback before a local node. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  let mode: ProxyMode = { kind: 'pass' };
  let requests = 0;
  let calls = 0;
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
      if (next.kind !== 'hang') {
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
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function callsIn(body: string): number {
  const requested: unknown = JSON.parse(body);
  return Array.isArray(requested) ? requested.length : 1;
}
