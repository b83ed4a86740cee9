import type { Clock } from '../../shared/clock.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { Logger } from '../../shared/logger.ts';
import type { Timers } from '../../shared/timers.ts';
import { type NamedBlock, nameOf, newestBlock, type Reading } from '../reading.ts';
import type { ReadOptions } from '../types.ts';
import { type NodeCapabilities, probeNode, type SendRpc } from './capabilities.ts';
import { type ChainClient, createChainClient, createProbeSender } from './client.ts';
import { ChainReadError } from './errors.ts';

export interface NodeDeps {
  readonly chainId: ChainId;
  readonly url: string;
  /** Its place in RPC_URL_*, from 1. */
  readonly place: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly fetch: typeof fetch;
  /** By which the timeouts of requests run. Default: really. */
  readonly timeouts?: Timers | undefined;
  readonly retryCount?: number | undefined;
  /** Default: really. */
  readonly probe?: ((send: SendRpc) => Promise<NodeCapabilities>) | undefined;
}

/** What is known of one node. */
export interface NodeStatus {
  readonly place: number;
  /** `unknown` before its first answer; `failing` while its latest answer was none; `other_chain` = it is not of this chain. */
  readonly status: 'ok' | 'behind' | 'failing' | 'other_chain' | 'unknown';
  /** The newest block that it told, and how long that took. */
  readonly head?: NamedBlock | undefined;
  readonly latencyMs?: number | undefined;
  readonly capabilities?: NodeCapabilities | undefined;
  readonly lastFailure?: { readonly reason: string; readonly atMs: number } | undefined;
}

/** One node of a chain, as this process knows it. */
export interface Node {
  readonly place: number;
  status(): NodeStatus;
  /** Whether it failed a moment ago, or is of another chain: others go first. */
  isResting(): boolean;
  /** Ask it for its newest block. @throws ChainReadError */
  ask(timeoutMs: number, options?: ReadOptions): Promise<NamedBlock>;
  /** Find out again what it can do, in the background, when that is due. */
  refresh(): void;
  /** Begin a reading of a block on it; waits for its first probe. @throws ChainReadError when it is of another chain */
  readingOf(block: NamedBlock, timeoutMs: number): Promise<Reading>;
  /** Note what became of a reading on it. */
  succeeded(): void;
  failed(error: ChainReadError): void;
  /** Note whether it is further behind the others than a reading may be. */
  compared(isBehind: boolean): void;
  /** Find out what it can do. Never throws. */
  probe(): Promise<NodeCapabilities>;
}

/** After a failure a node is asked last for so long. */
const REST_MS = 10_000;
/** A probe is not repeated before this, however often the node fails. */
const PROBE_AGAIN_MS = 60_000;
/** What failed although its probe passed is not used for so long: it would fail again. */
const DISTRUST_MS = 5 * 60_000;
/** What a node is sent at once that did not say how much it takes. */
const UNKNOWN_BATCH = 20;

/** Create one node. Nothing is asked before it is used. */
export function createNode(deps: NodeDeps): Node {
  const { chainId, url, place, clock, logger, fetch, timeouts, retryCount, probe: find = probeNode } = deps;
  const about = { chainId, node: place, host: new URL(url).host };
  const clients = new Map<string, ChainClient>();
  const sendProbe = createProbeSender({ chainId, rpcUrl: url }, { fetch, timeouts });
  /** Questions for the newest block that are not answered yet, by how long they may take. */
  const begun = new Map<number, Promise<NamedBlock>>();
  let head: NamedBlock | undefined;
  let latencyMs: number | undefined;
  let isBehind = false;
  let isFailing = false;
  let lastFailure: NodeStatus['lastFailure'];
  let known: NodeCapabilities | undefined;
  let probing: Promise<NodeCapabilities> | undefined;
  let probeDueMs = 0;
  let trustAgainMs = 0;

  const isOther = () => typeof known?.chainId === 'number' && known.chainId !== chainId;
  const batchSize = () => known?.batchSize ?? UNKNOWN_BATCH;
  const clientOf = (timeoutMs: number): ChainClient => {
    const key = `${timeoutMs} ${batchSize()}`;
    const made = clients.get(key);
    if (made) return made;
    const limits = { timeoutMs, retryCount, batchSize: batchSize() };
    const client = createChainClient({ chainId, rpcUrl: url, ...limits }, { fetch, timeouts });
    clients.set(key, client);
    return client;
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
    if (isAnswered(found) && isFailing && !isOther()) {
      logger.info(about, 'node answers again');
      isFailing = false;
    }
    const againMs = probeAgainMs(found, isOther());
    probeDueMs = againMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + againMs;
    return known;
  };

  return {
    place,
    probe,
    isResting: () => isOther() || (lastFailure !== undefined && isFailing && clock.now() < lastFailure.atMs + REST_MS),
    ask(timeoutMs, options) {
      const asking = begun.get(timeoutMs);
      // Readings that begin together share the question; one that can be aborted asks for itself.
      if (asking && !options?.signal) return asking;
      const startedMs = performance.now();
      const answer: Promise<NamedBlock> = newestBlock(clientOf(timeoutMs), place, options)
        .then((newest) => {
          head = newest;
          latencyMs = Math.round(performance.now() - startedMs);
          return newest;
        })
        .finally(() => {
          if (begun.get(timeoutMs) === answer) begun.delete(timeoutMs);
        });
      if (!options?.signal) begun.set(timeoutMs, answer);
      return answer;
    },
    refresh() {
      if (known && !probing && clock.now() >= probeDueMs) void probe();
    },
    async readingOf(block, timeoutMs) {
      if (!known) await probe();
      const capabilities = known as NodeCapabilities;
      if (isOther()) throw new ChainReadError('implausible');
      return {
        client: clientOf(timeoutMs),
        block,
        at: nameOf(block, capabilities),
        limits: { callGas: capabilities.callGas, batchSize: batchSize() },
        capabilities: async () => (known && isAnswered(known) ? known : probe()),
        distrust(method) {
          if (known?.[method] !== 'works') return;
          known = { ...known, [method]: 'broken' };
          trustAgainMs = clock.now() + DISTRUST_MS;
          probeDueMs = trustAgainMs;
          logger.warn({ ...about, method }, 'node fails at what its probe passed');
        },
      };
    },
    succeeded() {
      if (isFailing) logger.info(about, 'node answers again');
      isFailing = false;
    },
    failed({ reason }) {
      if (!isFailing) logger.warn({ ...about, reason }, 'node fails');
      isFailing = true;
      lastFailure = { reason, atMs: clock.now() };
      probeDueMs = Math.min(probeDueMs, Math.max(trustAgainMs, clock.now() + PROBE_AGAIN_MS));
    },
    compared(behind) {
      if (behind !== isBehind) logger.warn(about, behind ? 'node is behind the others' : 'node is no longer behind');
      isBehind = behind;
    },
    status: () => ({
      place,
      status: isOther() ? 'other_chain' : isFailing ? 'failing' : isBehind ? 'behind' : head ? 'ok' : 'unknown',
      head,
      latencyMs,
      capabilities: known,
      lastFailure,
    }),
  };
}

/** Whether a probe has said what readings and simulations go by. */
function isAnswered({ chainId, batchSize, simulateV1, stateOverrides, blockHash }: NodeCapabilities): boolean {
  return chainId !== null && batchSize !== null && ![simulateV1, stateOverrides, blockHash].includes('unknown');
}

/** When to probe again without a failure: soon what was not answered, later what may have failed for a moment; `undefined` = never. */
function probeAgainMs(found: NodeCapabilities, isOther: boolean): number | undefined {
  if (!isAnswered(found)) return REST_MS;
  if (isOther) return PROBE_AGAIN_MS;
  const isBroken = [found.simulateV1, found.stateOverrides, found.blockHash].includes('broken');
  return isBroken ? DISTRUST_MS : undefined;
}

/** Capabilities as JSON has them. */
export function printable({ callGas, ...rest }: NodeCapabilities) {
  return { ...rest, callGas: callGas === null ? null : Number(callGas) };
}

function isEqual(a: NodeCapabilities | undefined, b: NodeCapabilities): boolean {
  return a !== undefined && JSON.stringify(printable(a)) === JSON.stringify(printable(b));
}
