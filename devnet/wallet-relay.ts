import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WalletRelayOptions {
  /** By chain id. */
  readonly rpcUrls: Readonly<Record<number, string>>;
}

export interface WalletRelay {
  /**
   * The node of a chain is at `<url>/<chainId>`. Its path is a secret of the world, which only pages of the service can read:
   * a page of another program of this machine does not know it.
   */
  readonly url: string;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 1_000_000;
/** Pages of this machine only: the nodes sign for any caller, and refuse all pages themselves. */
const LOCAL_ORIGIN = /^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?$/;
const LOCAL_HOST = /^(127\.0\.0\.1|localhost)(:\d+)?$/;
/** Methods that a wallet needs; none of them changes the chain without a transaction. */
const METHODS: ReadonlySet<string> = new Set([
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
  'eth_sendTransaction',
  'net_version',
]);

/** Start the way from the wallet of the example app to the local nodes. */
export async function startWalletRelay({ rpcUrls }: WalletRelayOptions): Promise<WalletRelay> {
  const secret = randomBytes(16).toString('hex');
  const targets = new Map(Object.entries(rpcUrls).map(([chainId, rpcUrl]) => [`/${secret}/${chainId}`, rpcUrl]));
  const server = createServer((request, response) => {
    relay(request, response, targets).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, resolve);
  });
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}/${secret}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function relay(
  request: IncomingMessage,
  response: ServerResponse,
  targets: ReadonlyMap<string, string>,
): Promise<void> {
  const { origin = '', host = '' } = request.headers;
  const target = targets.get(request.url ?? '');
  const refuse = (status: number, message: string) => response.writeHead(status).end(message);
  // Another host: its name leads here although it is not of this machine.
  if (!LOCAL_ORIGIN.test(origin) || !LOCAL_HOST.test(host))
    return void refuse(403, 'Only pages of this machine may use this wallet.');
  // Before CORS: a page that does not know the path learns nothing.
  if (target === undefined) return void refuse(404, 'POST to the address of a chain in /app/world.json, JSON-RPC.');
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-allow-headers', 'content-type');
  response.setHeader('vary', 'origin');
  if (request.method === 'OPTIONS') return void response.writeHead(204).end();
  if (request.method !== 'POST') return void refuse(405, 'POST, JSON-RPC.');
  const body = await bodyOf(request);
  const call = callOf(body);
  if (call === undefined) return void refuse(400, 'The body is no JSON-RPC request.');
  const { method } = call;
  if (typeof method !== 'string' || !METHODS.has(method)) {
    return void refuse(403, `This wallet does not relay ${String(method)}.`);
  }
  const answer = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    // Written anew: of names that stand twice, the node may read the other one.
    body: JSON.stringify({ jsonrpc: '2.0', ...call }),
  });
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
}

interface Call {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** `undefined` = no request; a list of them is none. */
function callOf(body: string): Call | undefined {
  try {
    const { id, method, params } = JSON.parse(body) as Call;
    return { id, method, params };
  } catch {
    return undefined;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BODY_BYTES) throw new Error('The body is too large.');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
