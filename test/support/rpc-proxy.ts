import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What stands between the service and a node: nothing, silence, a cut line, an outage, or a node that lags. */
export type ProxyMode =
  | { readonly kind: 'pass' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'down' }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'garbage' }
  /** Answers as if the block of that number were the newest. */
  | { readonly kind: 'lag'; readonly blockNumber: bigint };

export interface RpcProxy {
  readonly url: string;
  set(mode: ProxyMode): void;
  /** HTTP requests since the last time that it was asked. */
  taken(): number;
  stop(): Promise<void>;
}

interface RpcCall {
  readonly id: number;
  readonly method: string;
}

/** Start a JSON-RPC proxy on loopback before a local node. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  let mode: ProxyMode = { kind: 'pass' };
  let requests = 0;
  const held = new Set<ServerResponse>();
  const server = createServer(async (request, response) => {
    requests += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
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
        const answer = await fetch(target, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        });
        const text = await answer.text();
        const shown = mode.kind === 'lag' ? lagging(body, text, mode.blockNumber) : text;
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(shown);
      }
    }
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
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Every call names its block; the newest one's number is all that a lagging node tells otherwise. */
function lagging(request: string, answer: string, blockNumber: bigint): string {
  const asked = JSON.parse(request) as RpcCall | readonly RpcCall[];
  const calls = Array.isArray(asked) ? asked : [asked as RpcCall];
  const numbers = new Set(calls.flatMap(({ id, method }) => (method === 'eth_blockNumber' ? [id] : [])));
  const patch = (row: { id: number }) =>
    numbers.has(row.id) ? { ...row, result: `0x${blockNumber.toString(16)}` } : row;
  const parsed = JSON.parse(answer) as { id: number } | { id: number }[];
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(patch) : patch(parsed));
}
