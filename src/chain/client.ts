import { createPublicClient, type PublicClient } from 'viem';
import type { ChainId } from '../shared/ids.ts';
import { betweenEvents, type Slicing } from '../shared/slices.ts';
import { batchTransport } from './transport.ts';

/** The part of viem's client that reads and simulations use. */
export type ChainClient = PublicClient;

export interface ChainEndpoint {
  readonly chainId: ChainId;
  readonly rpcUrl: string;
  /** Whether the node takes JSON-RPC batches; without, every call of a round is an HTTP request of its own. Default true. */
  readonly batch?: boolean;
  /** Default 10 s. */
  readonly timeoutMs?: number;
  /** Further tries after a failed request. Default 1: the warmers' own backoff does the rest. */
  readonly retryCount?: number;
}

export interface ChainClientHooks {
  /** Told of every HTTP request before it leaves, retries included. */
  readonly onRequest?: (chainId: ChainId) => void;
  /** The fetch that requests to a chain's node leave through. Default: the global one. */
  readonly fetchOf?: (chainId: ChainId) => typeof fetch;
  /** How requests and answers are worked through in pieces; default: between other work of the event loop. */
  readonly slicing?: Slicing;
}

const TIMEOUT_MS = 10_000;
const RETRY_COUNT = 1;
/** Below geth's default limit of 1,000 calls in a batch. */
const BATCH_SIZE = 500;
/** Below the 5 MB that geth takes as a request. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Four times the 16 MB of a full batch that reads 50,000 markets. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Create the RPC client of each chain. Calls issued in the same tick leave as one batched HTTP request. */
export function createChainClients(
  endpoints: readonly ChainEndpoint[],
  hooks: ChainClientHooks = {},
): ReadonlyMap<ChainId, ChainClient> {
  return new Map(endpoints.map((endpoint) => [endpoint.chainId, createChainClient(endpoint, hooks)]));
}

/** Create the RPC client of one chain. */
export function createChainClient(endpoint: ChainEndpoint, hooks: ChainClientHooks = {}): ChainClient {
  const { chainId, rpcUrl, batch = true, timeoutMs = TIMEOUT_MS, retryCount = RETRY_COUNT } = endpoint;
  const send = impatient(hooks.fetchOf?.(chainId) ?? fetch, timeoutMs);
  return createPublicClient({
    cacheTime: 0,
    transport: batchTransport({
      url: rpcUrl,
      batchSize: batch ? BATCH_SIZE : 1,
      batchBytes: BATCH_BYTES,
      timeoutMs,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      retryCount,
      slicing: hooks.slicing ?? betweenEvents,
      fetch: (input, init) => {
        hooks.onRequest?.(chainId);
        return send(input, init);
      },
    }),
  });
}

/** End a request after `timeoutMs`, body included: a node that falls silent would hold a warmer for ever. */
function impatient(send: typeof fetch, timeoutMs: number): typeof fetch {
  return (input, init) => {
    const late = AbortSignal.timeout(timeoutMs);
    return send(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, late]) : late });
  };
}
