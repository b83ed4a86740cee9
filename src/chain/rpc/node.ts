import type { FailureReason } from '../../domain/facts.ts';
import type { ByteBudget } from '../../shared/calls/byte-budget.ts';
import type { Clock } from '../../shared/clock.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { Logger } from '../../shared/logger.ts';
import type { Timers } from '../../shared/timers.ts';
import { type NamedBlock, nameOf, newestBlock, type Reading } from '../reading.ts';
import type { ReadOptions } from '../types.ts';
import { type NodeCapabilities, probeNode, type SendRpc } from './capabilities.ts';
import {
  type ChainClient,
  type ChainClientHooks,
  createChainClient,
  createNodeBreaker,
  createProbeSender,
} from './client.ts';
import { ChainReadError } from './errors.ts';

export interface NodeDeps {
  readonly chainId: ChainId;
  readonly url: string;
  /** Its position in RPC_URL_*, from 1. */
  readonly place: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly fetch: typeof fetch;
  /** Timers of request timeouts. Default: the system's. */
  readonly timeouts?: Timers | undefined;
  /** Memory for answers that are being received. Default: for each client of the node alone. */
  readonly answerBytes?: ByteBudget | undefined;
  readonly retryCount?: number | undefined;
  /** Default: `probeNode`. */
  readonly probe?: ((send: SendRpc) => Promise<NodeCapabilities>) | undefined;
}

export interface NodeStatus {
  readonly place: number;
  /** `unknown` before its first answer; `failing` after a failed request; `other_chain` = it has another chain id. */
  readonly status: 'ok' | 'behind' | 'failing' | 'other_chain' | 'unknown';
  /** Its newest block, and the duration of that request. */
  readonly head?: NamedBlock | undefined;
  readonly latencyMs?: number | undefined;
  readonly capabilities?: NodeCapabilities | undefined;
  readonly lastFailure?: { readonly reason: FailureReason; readonly atMs: number } | undefined;
  /** Time of the first failure since its latest answer, ms; absent while it answers. */
  readonly failingSinceMs?: number | undefined;
  /** Time until which no request is sent to it after failures in a row, ms; absent = requests are sent. */
  readonly restsUntilMs?: number | undefined;
}

/** One node of a chain, with its state in this process. */
export interface Node {
  readonly place: number;
  status(): NodeStatus;
  /** Whether it failed recently, or is of another chain: other nodes come first. */
  isResting(): boolean;
  /**
   * Read its newest block.
   * @throws ChainReadError
   */
  ask(timeoutMs: number, options?: ReadOptions): Promise<NamedBlock>;
  /** Probe it again in the background, when a probe is due. */
  refresh(): void;
  /**
   * Begin a reading of a block on it; waits for its first probe.
   * @throws ChainReadError when it is of another chain
   */
  readingOf(block: NamedBlock, timeoutMs: number): Promise<Reading>;
  /** Record the result of a reading on it. */
  succeeded(): void;
  failed(error: ChainReadError): void;
  /** Record whether it is too far behind the others for a reading. */
  compared(isBehind: boolean): void;
  /** Probe its capabilities. Never throws. */
  probe(): Promise<NodeCapabilities>;
}

/** After a failure a node comes last for this time. */
const REST_MS = 10_000;
/** Minimum interval between probes, however often the node fails. */
const PROBE_AGAIN_MS = 60_000;
/** Time for which a method is not used after it failed although its probe passed. */
const DISTRUST_MS = 5 * 60_000;
/** Batch size for a node whose limit is not known. */
const UNKNOWN_BATCH = 20;

/** Create one node. No request is sent before its first use. */
export function createNode(deps: NodeDeps): Node {
  const { chainId, url, place, clock, logger, fetch, timeouts, answerBytes, probe: find = probeNode } = deps;
  const about = { chainId, node: place, host: new URL(url).host };
  const breaker = createNodeBreaker(clock, (reason) => logger.warn({ ...about, reason }, 'node resting'));
  const hooks: ChainClientHooks = { fetch, timeouts, breaker, answerBytes };
  const sendProbe = createProbeSender({ chainId, rpcUrl: url }, hooks);
  let head: NamedBlock | undefined;
  let latencyMs: number | undefined;
  let isBehind = false;
  let failingSinceMs: number | undefined;
  let lastFailure: NodeStatus['lastFailure'];
  let known: NodeCapabilities | undefined;
  let probing: Promise<NodeCapabilities> | undefined;
  let probeDueMs = 0;
  let trustAgainMs = 0;

  const isOtherChain = () => typeof known?.chainId === 'number' && known.chainId !== chainId;
  const batchSize = () => known?.batchSize ?? UNKNOWN_BATCH;
  const clientOf = createClients(deps, hooks);

  const answered = (): void => {
    if (failingSinceMs !== undefined) logger.info(about, 'node answers again');
    failingSinceMs = undefined;
  };

  const probe = async (): Promise<NodeCapabilities> => {
    probing ??= find(sendProbe).finally(() => {
      probing = undefined;
    });
    const found = await probing;
    if (!known || isAnswered(found)) {
      if (!isEqual(known, found)) logger.info({ ...about, ...printable(found) }, 'node probed');
      known = found;
    }
    if (isAnswered(found) && !isOtherChain()) answered();
    const againMs = probeAgainMs(found, isOtherChain());
    probeDueMs = againMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + againMs;
    return known;
  };

  const ask = sharedByTimeout(async (timeoutMs, options) => {
    const startedMs = performance.now();
    const newest = await newestBlock(clientOf(timeoutMs, batchSize()), place, options);
    head = newest;
    latencyMs = Math.round(performance.now() - startedMs);
    return newest;
  });

  return {
    place,
    probe,
    isResting: () =>
      isOtherChain() ||
      (lastFailure !== undefined && failingSinceMs !== undefined && clock.now() < lastFailure.atMs + REST_MS),
    ask,
    refresh() {
      if (known && !probing && clock.now() >= probeDueMs) void probe();
    },
    async readingOf(block, timeoutMs) {
      if (!known) await probe();
      const capabilities = known as NodeCapabilities;
      if (isOtherChain()) throw new ChainReadError('implausible');
      return {
        client: clientOf(timeoutMs, batchSize()),
        block,
        at: nameOf(block, capabilities),
        limits: { callGas: capabilities.callGas, batchSize: batchSize() },
        capabilities: async () => (known && isAnswered(known) ? known : probe()),
        distrust(method) {
          if (known?.[method] !== 'works') return;
          known = { ...known, [method]: 'broken' };
          trustAgainMs = clock.now() + DISTRUST_MS;
          probeDueMs = trustAgainMs;
          logger.warn({ ...about, method }, 'node fails at a capability that its probe found');
        },
      };
    },
    succeeded: answered,
    failed({ reason }) {
      if (failingSinceMs === undefined) logger.warn({ ...about, reason }, 'node fails');
      failingSinceMs ??= clock.now();
      lastFailure = { reason, atMs: clock.now() };
      probeDueMs = Math.min(probeDueMs, Math.max(trustAgainMs, clock.now() + PROBE_AGAIN_MS));
    },
    compared(behind) {
      if (behind !== isBehind) logger.warn(about, behind ? 'node is behind the others' : 'node is no longer behind');
      isBehind = behind;
    },
    status: () => ({
      place,
      status: statusOf({ isOtherChain: isOtherChain(), isFailing: failingSinceMs !== undefined, isBehind, head }),
      head,
      latencyMs,
      capabilities: known,
      lastFailure,
      failingSinceMs,
      restsUntilMs: breaker.openUntilMs() ?? undefined,
    }),
  };
}

function statusOf(node: {
  readonly isOtherChain: boolean;
  readonly isFailing: boolean;
  readonly isBehind: boolean;
  readonly head: NamedBlock | undefined;
}): NodeStatus['status'] {
  if (node.isOtherChain) return 'other_chain';
  if (node.isFailing) return 'failing';
  if (node.isBehind) return 'behind';
  return node.head ? 'ok' : 'unknown';
}

/** Create the clients of a node, one for each timeout and batch size. */
function createClients({ chainId, url, retryCount }: NodeDeps, hooks: ChainClientHooks) {
  const clients = new Map<string, ChainClient>();
  return (timeoutMs: number, batchSize: number): ChainClient => {
    const key = `${timeoutMs} ${batchSize}`;
    const made = clients.get(key);
    if (made) return made;
    const client = createChainClient({ chainId, rpcUrl: url, timeoutMs, retryCount, batchSize }, hooks);
    clients.set(key, client);
    return client;
  };
}

/** Let concurrent requests with the same timeout share one; a request with an abort signal is its own. */
function sharedByTimeout<T>(send: (timeoutMs: number, options?: ReadOptions) => Promise<T>) {
  const pending = new Map<number, Promise<T>>();
  return (timeoutMs: number, options?: ReadOptions): Promise<T> => {
    if (options?.signal) return send(timeoutMs, options);
    const known = pending.get(timeoutMs);
    if (known) return known;
    const answer = send(timeoutMs, options).finally(() => pending.delete(timeoutMs));
    pending.set(timeoutMs, answer);
    return answer;
  };
}

/** Whether a probe has determined the capabilities that readings and simulations need. */
function isAnswered({ chainId, batchSize, simulateV1, stateOverrides, blockHash }: NodeCapabilities): boolean {
  return chainId !== null && batchSize !== null && ![simulateV1, stateOverrides, blockHash].includes('unknown');
}

/**
 * Delay until the next probe without a failure: short for unanswered probes, longer for failures that may be temporary;
 * `undefined` = never.
 */
function probeAgainMs(found: NodeCapabilities, isOtherChain: boolean): number | undefined {
  if (!isAnswered(found)) return REST_MS;
  if (isOtherChain) return PROBE_AGAIN_MS;
  const isBroken = [found.simulateV1, found.stateOverrides, found.blockHash].includes('broken');
  return isBroken ? DISTRUST_MS : undefined;
}

/** Convert capabilities to JSON-compatible values. */
export function printable({ callGas, ...rest }: NodeCapabilities) {
  return { ...rest, callGas: callGas === null ? null : Number(callGas) };
}

function isEqual(a: NodeCapabilities | undefined, b: NodeCapabilities): boolean {
  return a !== undefined && JSON.stringify(printable(a)) === JSON.stringify(printable(b));
}
