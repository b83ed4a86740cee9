import { createPublicClient, http, type PublicClient } from 'viem';
import type { FailureReason } from '../../domain/facts.ts';
import { type ByteBudget, createByteBudget } from '../../shared/calls/byte-budget.ts';
import { type CircuitBreaker, createCircuitBreaker } from '../../shared/calls/circuit-breaker.ts';
import { type Clock, systemClock } from '../../shared/clock.ts';
import type { ChainId } from '../../shared/ids.ts';
import { systemTimers, type Timers } from '../../shared/timers.ts';
import { BATCH_SIZES, type RpcAnswer, type SendRpc } from './capabilities.ts';
import { createRpcFetch, nodeFailureOf } from './rpc-fetch.ts';

/** The part of viem's client that reads and simulations use. */
export type ChainClient = PublicClient;

export interface ChainEndpoint {
  readonly chainId: ChainId;
  readonly rpcUrl: string;
  /** Maximum number of calls in one HTTP request; 1 = no batches. Default 500. */
  readonly batchSize?: number | undefined;
  /** Default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Retries of a failed request. Default 1, because the warmers have their own backoff. */
  readonly retryCount?: number | undefined;
}

export interface ChainClientHooks {
  /** Called before every HTTP request, retries included. */
  readonly onRequest?: ((chainId: ChainId) => void) | undefined;
  /** Fetch for requests to the node. Default: the global one. */
  readonly fetch?: typeof fetch | undefined;
  /** Timers of request timeouts. Default: the system's. */
  readonly timeouts?: Timers | undefined;
  /** Breaker of the node, for all of its clients. Default: one of this client. */
  readonly breaker?: CircuitBreaker<FailureReason> | undefined;
  /** Memory for answers that are being received. Default: for this client alone. */
  readonly answerBytes?: ByteBudget | undefined;
}

/** Memory for all answers of nodes that are being received at once. */
const ANSWER_BYTES = 64 * 1024 * 1024;
/** After so many failures in a row a node gets no request for 5 s, and then one. */
const BREAKER = { failures: 9, coolDownMs: 5_000 };
/** Failures that made a caller wait, or cost memory, count more than those that are noticed at once: three are enough. */
const COSTLY: readonly FailureReason[] = ['timeout', 'malformed'];
const COSTLY_WEIGHT = 3;

/** Create the memory for answers of nodes that are being received, for all nodes of a process. */
export function createAnswerBytes(): ByteBudget {
  return createByteBudget(ANSWER_BYTES);
}

/** Create the breaker of one node. */
export function createNodeBreaker(
  clock: Clock,
  onOpen: (reason: FailureReason) => void = () => {},
): CircuitBreaker<FailureReason> {
  const weightOf = (reason: FailureReason) => (COSTLY.includes(reason) ? COSTLY_WEIGHT : 1);
  return createCircuitBreaker({ limits: BREAKER, clock, reasonOf: nodeFailureOf, onOpen, weightOf });
}

const TIMEOUT_MS = 10_000;
const RETRY_COUNT = 1;
const [BATCH_SIZE = 1] = BATCH_SIZES;

/** Create the RPC client of one node. Calls issued in the same turn are sent as one batched HTTP request. */
export function createChainClient(endpoint: ChainEndpoint, hooks: ChainClientHooks = {}): ChainClient {
  const { retryCount = RETRY_COUNT, batchSize = BATCH_SIZE } = endpoint;
  const batch = batchSize > 1 ? { batchSize } : false;
  return createPublicClient({
    cacheTime: 0,
    transport: http(ownUrl(endpoint), { ...limitsOf(endpoint, hooks), batch, retryCount }),
  });
}

/** Create the sender of probes: one HTTP request, without retry, errors returned unchanged. */
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

/** viem groups batches by URL across clients. A fragment, which is never sent, separates those of this client. */
function ownUrl({ rpcUrl }: ChainEndpoint): string {
  clients += 1;
  return `${rpcUrl}#${clients}`;
}

function limitsOf({ chainId, timeoutMs = TIMEOUT_MS }: ChainEndpoint, hooks: ChainClientHooks) {
  const send = hooks.fetch ?? fetch;
  const fetchFn = createRpcFetch({
    timeoutMs,
    timeouts: hooks.timeouts ?? systemTimers,
    breaker: hooks.breaker ?? createNodeBreaker(systemClock),
    answerBytes: hooks.answerBytes ?? createAnswerBytes(),
    fetch: (input, init) => {
      hooks.onRequest?.(chainId);
      return send(input, init);
    },
  });
  // The fetch applies both limits.
  return { fetchFn, timeout: 0, maxResponseBodySize: false } as const;
}
