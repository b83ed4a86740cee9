import { createPublicClient, type PublicClient } from 'viem';
import type { ChainId } from '../../shared/ids.ts';
import { betweenEvents, type Slicing } from '../../shared/slices.ts';
import { systemTimers, type Timers } from '../../shared/timers.ts';
import { BATCH_SIZES } from './capabilities.ts';
import { createJsonRpc, type SendRpc } from './json-rpc.ts';
import { batchTransport } from './transport.ts';

/** The part of viem's client that reads and simulations use. */
export type ChainClient = PublicClient;

export interface ChainEndpoint {
  readonly chainId: ChainId;
  readonly rpcUrl: string;
  /** How many calls the node takes in one HTTP request; 1 = every call of a round is a request of its own. Default 500. */
  readonly batchSize?: () => number;
  /** Default 10 s. */
  readonly timeoutMs?: number;
  /** Further tries after a failed request. Default 1: the warmers' own backoff does the rest. */
  readonly retryCount?: number;
}

export interface ChainClientHooks {
  /** Told of every HTTP request before it leaves, retries included. */
  readonly onRequest?: (chainId: ChainId) => void;
  /** What requests to the node leave through. Default: the global one. */
  readonly fetch?: typeof fetch;
  /** By which the timeouts of requests run. Default: really. */
  readonly timeouts?: Timers | undefined;
  /** How requests and answers are worked through in pieces; default: between other work of the event loop. */
  readonly slicing?: Slicing;
}

const TIMEOUT_MS = 10_000;
const RETRY_COUNT = 1;
const [BATCH_SIZE = 1] = BATCH_SIZES;
/** Below the 5 MB that geth takes as a request. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Four times the 16 MB of a full batch that reads 50,000 markets. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Create the RPC client of one node. Calls issued in the same tick leave as one batched HTTP request. */
export function createChainClient(endpoint: ChainEndpoint, hooks: ChainClientHooks = {}): ChainClient {
  const { timeoutMs = TIMEOUT_MS, retryCount = RETRY_COUNT, batchSize = () => BATCH_SIZE } = endpoint;
  return createPublicClient({
    cacheTime: 0,
    transport: batchTransport({
      ...doorOf({ ...endpoint, timeoutMs }, hooks),
      batchSize,
      batchBytes: BATCH_BYTES,
      retryCount,
    }),
  });
}

/** Create the door to one node through which probes go: one HTTP request for what is sent, tried once. */
export function createProbeDoor(endpoint: ChainEndpoint, hooks: ChainClientHooks = {}): SendRpc {
  return createJsonRpc(doorOf(endpoint, hooks));
}

function doorOf({ chainId, rpcUrl, timeoutMs = TIMEOUT_MS }: ChainEndpoint, hooks: ChainClientHooks) {
  const send = hooks.fetch ?? fetch;
  return {
    url: rpcUrl,
    timeoutMs,
    timeouts: hooks.timeouts ?? systemTimers,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    slicing: hooks.slicing ?? betweenEvents,
    fetch: (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
      hooks.onRequest?.(chainId);
      return send(input, init);
    },
  };
}
