import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a node lacks. */
export interface Lacks {
  /** It does not know `eth_simulateV1`, knows it and crashes, or runs it without PUSH0. */
  readonly simulate?: 'missing' | 'crashes' | 'no_push0';
  /** It refuses code and state overrides in `eth_call`, or takes no notice of them. */
  readonly overrides?: 'refused' | 'ignored';
  /** Requests that it takes in a batch at most; 1 = it refuses batches. */
  readonly batch?: number;
  /** It does not know blocks by their hash. */
  readonly blockHash?: 'refused';
}

/** What stands between the service and a node: nothing, silence, a cut line, an outage, or a node that lags or lacks something. */
export type ProxyMode =
  | { readonly kind: 'pass' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'down' }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'garbage' }
  /** Answers as if the block of that number were the newest. */
  | { readonly kind: 'lag'; readonly blockNumber: bigint }
  | ({ readonly kind: 'lacks' } & Lacks);

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
  readonly params?: readonly unknown[];
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
        const refusal = mode.kind === 'lacks' ? refusalOf(JSON.parse(body), mode) : undefined;
        if (refusal !== undefined) {
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
          return;
        }
        const answer = await fetch(target, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: mode.kind === 'lacks' ? JSON.stringify(without(JSON.parse(body), mode)) : body,
        });
        const text = await answer.text();
        const shown = shownAs(mode, body, text);
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

function shownAs(mode: ProxyMode, body: string, text: string): string {
  if (mode.kind === 'lag') return lagging(body, text, mode.blockNumber);
  return mode.kind === 'lacks' ? lacking(JSON.parse(body), text, mode) : text;
}

type Refusal = { readonly id: number | null; readonly error: { readonly code: number; readonly message: string } };

/** A batch that is too large is refused as a whole. */
function refusalOf(
  asked: RpcCall | readonly RpcCall[],
  { batch = Number.POSITIVE_INFINITY }: Lacks,
): object | undefined {
  if (!Array.isArray(asked) || asked.length <= batch) return undefined;
  return { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch too large' } };
}

/** What the node itself is asked: overrides that are ignored do not reach it. */
function without(asked: RpcCall | readonly RpcCall[], { overrides }: Lacks): unknown {
  const strip = (call: RpcCall): RpcCall =>
    overrides === 'ignored' && call.method === 'eth_call' ? { ...call, params: call.params?.slice(0, 2) ?? [] } : call;
  return Array.isArray(asked) ? asked.map(strip) : strip(asked as RpcCall);
}

/** Put the node's refusals in the place of its answers. */
function lacking(asked: RpcCall | readonly RpcCall[], answer: string, lacks: Lacks): string {
  const calls = new Map((Array.isArray(asked) ? asked : [asked as RpcCall]).map((call) => [call.id, call]));
  const patch = (row: { id: number }) => {
    const call = calls.get(row.id);
    const instead = call && refused(call, lacks);
    return instead ? { jsonrpc: '2.0', ...instead } : call && damaged(call, row, lacks);
  };
  const parsed = JSON.parse(answer) as { id: number } | { id: number }[];
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(patch) : patch(parsed));
}

function refused({ id, method, params = [] }: RpcCall, lacks: Lacks): Refusal | undefined {
  const error = (code: number, message: string) => ({ id, error: { code, message } });
  if (method === 'eth_simulateV1') {
    if (lacks.simulate === 'missing') return error(-32601, `the method ${method} does not exist/is not available`);
    // OffchainLabs/nitro issue 3372.
    if (lacks.simulate === 'crashes') return error(-32603, 'method handler crashed');
  }
  if (method === 'eth_call' && params.length > 2 && lacks.overrides === 'refused') {
    return error(-32602, 'too many arguments, want at most 2');
  }
  const isByHash = params.some((param) => typeof param === 'object' && param !== null && 'blockHash' in param);
  return isByHash && lacks.blockHash === 'refused' ? error(-32602, 'invalid argument 1') : undefined;
}

/** OffchainLabs/nitro issue 3270: every call runs into an opcode that `eth_call` knows. */
function damaged({ method }: RpcCall, row: { id: number }, { simulate }: Lacks): object {
  const { result } = row as { result?: { calls: object[] }[] };
  if (method !== 'eth_simulateV1' || simulate !== 'no_push0' || !result) return row;
  const failed = {
    status: '0x0',
    returnData: '0x',
    gasUsed: '0x0',
    logs: [],
    error: { code: -32015, message: 'invalid opcode: PUSH0' },
  };
  return { ...row, result: result.map((block) => ({ ...block, calls: block.calls.map(() => failed) })) };
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
