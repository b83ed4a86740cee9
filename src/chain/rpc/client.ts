import { createPublicClient, http, type PublicClient } from 'viem';
import type { ChainId } from '../../shared/ids.ts';
import { systemTimers, type Timers } from '../../shared/timers.ts';
import { BATCH_SIZES, type RpcAnswer, type SendRpc } from './capabilities.ts';
import { createRpcFetch } from './rpc-fetch.ts';

/** The part of viem's client that reads and simulations use. */
export type ChainClient = PublicClient;

export interface ChainEndpoint {
  readonly chainId: ChainId;
  readonly rpcUrl: string;
  /** Calls in one HTTP request at most; 1 = no batches. Default 500. */
  readonly batchSize?: number | undefined;
  /** Default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Further tries after a failed request. Default 1: the warmers' own backoff does the rest. */
  readonly retryCount?: number | undefined;
}

export interface ChainClientHooks {
  /** Told of every HTTP request before it leaves, retries included. */
  readonly onRequest?: ((chainId: ChainId) => void) | undefined;
  /** What requests to the node leave through. Default: the global one. */
  readonly fetch?: typeof fetch | undefined;
  /** By which the timeouts of requests run. Default: really. */
  readonly timeouts?: Timers | undefined;
}

const TIMEOUT_MS = 10_000;
const RETRY_COUNT = 1;
const [BATCH_SIZE = 1] = BATCH_SIZES;
/** What a call of 30 million gas can return at most is 8 MB as text. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** Create the RPC client of one node. Calls issued in the same turn leave as one batched HTTP request. */
export function createChainClient(endpoint: ChainEndpoint, hooks: ChainClientHooks = {}): ChainClient {
  const { retryCount = RETRY_COUNT, batchSize = BATCH_SIZE } = endpoint;
  const batch = batchSize > 1 ? { batchSize } : false;
  return createPublicClient({
    cacheTime: 0,
    transport: http(ownUrl(endpoint), { ...limitsOf(endpoint, hooks), batch, retryCount }),
  });
}

/** Create what probes are sent through: one HTTP request for what is sent, tried once, errors given as they are. */
export function createProbeSender(endpoint: ChainEndpoint, hooks: ChainClientHooks = {}): SendRpc {
  const config = { ...limitsOf(endpoint, hooks), raw: true, retryCount: 0 } as const;
  const alone = http(ownUrl(endpoint), { ...config, batch: false })({});
  const together = http(ownUrl(endpoint), { ...config, batch: { batchSize: BATCH_SIZE } })({});
  return (calls) => {
    const { request } = calls.length === 1 ? alone : together;
    return Promise.all(calls.map((call) => request(call as never) as Promise<RpcAnswer>));
  };
}

let clients = 0;

/** viem gathers batches by URL, over all clients: a fragment, which is never sent, keeps those of one client to itself. */
function ownUrl({ rpcUrl }: ChainEndpoint): string {
  clients += 1;
  return `${rpcUrl}#${clients}`;
}

function limitsOf({ chainId, timeoutMs = TIMEOUT_MS }: ChainEndpoint, hooks: ChainClientHooks) {
  const send = hooks.fetch ?? fetch;
  const fetchFn = createRpcFetch({
    timeoutMs,
    timeouts: hooks.timeouts ?? systemTimers,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    fetch: (input, init) => {
      hooks.onRequest?.(chainId);
      return send(input, init);
    },
  });
  // Both are held by the fetch.
  return { fetchFn, timeout: 0, maxResponseBodySize: false } as const;
}
