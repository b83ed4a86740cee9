import type { Clock } from '../../shared/clock.ts';
import type { ChainId } from '../../shared/ids.ts';
import { isFromFuture } from '../../shared/observed.ts';
import type { NamedBlock, Reading } from '../reading.ts';
import type { ReadOptions } from '../types.ts';
import type { NodeCapabilities } from './capabilities.ts';
import { BlockMissingError, ChainReadError } from './errors.ts';
import { createNode, type Node, type NodeDeps, type NodeStatus } from './node.ts';

export type { NodeStatus } from './node.ts';

export interface SessionOptions extends ReadOptions {
  /** Block to read at; absent: the newest one. */
  readonly block?: NamedBlock | undefined;
  /** Preferred capabilities; without such a node, any other is used. */
  readonly prefers?: ((can: NodeCapabilities) => boolean) | undefined;
}

/** All reads for one purpose: on one node and at one block, as long as that node answers. */
export interface Session {
  /**
   * Run work at the session's node and block. If the node fails, or does not have the block, the work is repeated once on
   * another node, and the session stays there.
   * @throws ChainReadError, and any other error of the work
   */
  run<T>(work: (reading: Reading) => Promise<T>, options?: ReadOptions): Promise<T>;
}

export interface ChainNodes {
  readonly chainId: ChainId;
  /** Begin a session. No request is sent before its first work. */
  session(options?: SessionOptions): Session;
  /** Run one piece of work in a session of its own. */
  read<T>(work: (reading: Reading) => Promise<T>, options?: SessionOptions): Promise<T>;
  /** The same nodes with another timeout. */
  within(timeoutMs: number): ChainNodes;
  /** Probe every node. Never throws. */
  probe(): Promise<void>;
  status(): readonly NodeStatus[];
}

export interface ChainNodesDeps
  extends Pick<NodeDeps, 'chainId' | 'clock' | 'logger' | 'timeouts' | 'retryCount' | 'probe'> {
  /** In the order of RPC_URL_*. */
  readonly urls: readonly string[];
  readonly timeoutMs?: number | undefined;
  /** Fetch for the requests to a node, by its position from 1. Default: the global one. */
  readonly fetchOf?: ((place: number) => typeof fetch) | undefined;
  /** Called with the node that was chosen for a reading. */
  readonly onChosen?: ((place: number) => void) | undefined;
}

const TIMEOUT_MS = 10_000;
/** Timeout for a node's newest block when other nodes are available; waited for twice at most. */
const HEAD_TIMEOUT_MS = 2_000;
/** A node may be this many blocks behind the others, */
const MAX_BLOCKS_BEHIND = 3n;
/** or this many seconds, because on a chain with four blocks a second nodes are rarely at the same height. */
const MAX_SEC_BEHIND = 2n;

/**
 * Create the nodes of one chain. A reading begins with the newest block of all nodes: the first one that answers and is not
 * behind the others is chosen. A node that failed recently is asked only when no other is left.
 */
export function createChainNodes(deps: ChainNodesDeps): ChainNodes {
  const { chainId, urls, clock, logger, timeoutMs = TIMEOUT_MS, fetchOf, onChosen } = deps;
  const nodes = urls.map((url, i) =>
    createNode({ ...deps, url, place: i + 1, fetch: fetchOf?.(i + 1) ?? globalThis.fetch }),
  );
  let isForked = false;
  return view(timeoutMs);

  function view(waitMs: number): ChainNodes {
    const session = (options: SessionOptions = {}) => createSession(options, waitMs);
    return {
      chainId,
      session,
      read: (work, options) => session(options).run(work, options),
      within: view,
      probe: async () => {
        await Promise.all(nodes.map((node) => node.probe()));
      },
      status: () => nodes.map((node) => node.status()),
    };
  }

  function createSession({ block, prefers }: SessionOptions, waitMs: number): Session {
    let opened: Promise<OpenedReading> | undefined;
    const open = (without: readonly Node[], options?: ReadOptions): Promise<OpenedReading> => {
      const opening = begin(
        nodes.filter((node) => !without.includes(node)),
        { block, prefers },
        waitMs,
        options,
      );
      opened = opening;
      opening.catch(() => {
        if (opened === opening) opened = undefined;
      });
      return opening;
    };
    const attempt = async <T>({ node, reading }: OpenedReading, work: (reading: Reading) => Promise<T>): Promise<T> => {
      try {
        const done = await work(reading);
        node.succeeded();
        return done;
      } catch (error) {
        if (isNodeFault(error) && !(error instanceof BlockMissingError)) node.failed(error);
        throw error;
      }
    };
    return {
      async run(work, options) {
        const opening = opened ?? open([], options);
        const first = await opening;
        try {
          return await attempt(first, work);
        } catch (error) {
          const isAlone = nodes.length === 1;
          // A URL may be served by several nodes: for a missing block the same URL is retried.
          if (!isNodeFault(error) || (isAlone && !(error instanceof BlockMissingError && !block))) throw error;
          // Another work of this session may have changed the node already; the session uses one node.
          const moved = opened === opening ? undefined : opened;
          const second = await (moved ?? open(isAlone ? [] : [first.node], options));
          return attempt(second, work);
        }
      },
    };
  }

  /** Nodes with the preferred capabilities come first, and nodes that failed recently last. */
  function candidatesOf(left: readonly Node[], prefers: SessionOptions['prefers']): readonly Node[] {
    const able = left.filter((node) => {
      const { capabilities } = node.status();
      return !prefers || !capabilities || prefers(capabilities);
    });
    const wanted = able.length > 0 ? able : left;
    const awake = wanted.filter((node) => !node.isResting());
    return awake.length > 0 ? awake : wanted;
  }

  /** Ask the candidates, and the remaining nodes if none of them answers. */
  async function begin(
    left: readonly Node[],
    wish: { readonly block: NamedBlock | undefined; readonly prefers: SessionOptions['prefers'] },
    waitMs: number,
    options?: ReadOptions,
  ): Promise<OpenedReading> {
    for (const node of nodes) node.refresh();
    const candidates = candidatesOf(left, wish.prefers);
    const others = (asked: readonly Node[], error: unknown): Promise<OpenedReading> => {
      const rest = left.filter((node) => !asked.includes(node));
      if (rest.length === 0 || !(error instanceof ChainReadError)) throw error;
      return begin(rest, wish, waitMs, options);
    };
    let choice: NodeHead;
    try {
      choice = wish.block ? holderOf(wish.block, candidates) : await first(candidates, waitMs, options);
    } catch (error) {
      return others(candidates, error);
    }
    const { node, head } = choice;
    try {
      const reading = await node.readingOf(head, waitMs);
      onChosen?.(node.place);
      return { node, reading };
    } catch (error) {
      if (error instanceof ChainReadError) node.failed(error);
      return others([node], error);
    }
  }

  /** The node that returned a block, otherwise one that has reached it. */
  function holderOf(block: NamedBlock, candidates: readonly Node[]): NodeHead {
    const far = (node: Node) => (node.status().head?.number ?? 0n) >= block.number;
    const node = candidates.find(({ place }) => place === block.toldBy) ?? candidates.find(far) ?? candidates[0];
    if (!node) throw new ChainReadError('unreachable');
    return { node, head: block };
  }

  /** Ask all nodes at once. Resolves with the first one that is not behind; if all are, with the highest. */
  function first(candidates: readonly Node[], waitMs: number, options?: ReadOptions): Promise<NodeHead> {
    return new Promise((resolve, reject) => {
      const answered: NodeHead[] = [];
      let failure: unknown;
      let waiting = candidates.length;
      const finish = () => {
        const ours = nodes.filter((node) => node.status().status !== 'other_chain');
        if (answered.length > 1 || ours.length === 1) compare(answered);
        const [highest] = [...answered].sort((a, b) => Number(b.head.number - a.head.number));
        if (highest) resolve(highest);
        else reject(failure);
      };
      for (const node of candidates) {
        node
          .ask(candidates.length > 1 ? Math.min(waitMs, HEAD_TIMEOUT_MS) : waitMs, options)
          .then((head) => {
            if (isFromFuture(Number(head.timestamp) * 1_000, clock.now())) throw new ChainReadError('implausible');
            const choice = { node, head };
            answered.push(choice);
            const others = candidates.filter((other) => other !== node && other.status().status !== 'failing');
            const isBehind = node.status().status === 'behind';
            const heads = others.flatMap((other) => other.status().head ?? []);
            if (!isBehind && !heads.some((other) => isFarBehind(head, other, clock))) resolve(choice);
          })
          .catch((error: unknown) => {
            if (error instanceof ChainReadError) node.failed(error);
            failure ??= error;
          })
          .finally(() => {
            waiting -= 1;
            if (waiting === 0) finish();
          });
      }
    });
  }

  /** Record which of the answering nodes are behind, and log when two of them are on different forks. */
  function compare(answered: readonly NodeHead[]): void {
    for (const { node, head } of answered) {
      node.compared(answered.some((other) => isFarBehind(head, other.head, clock)));
    }
    const [one] = answered;
    const same = answered.filter(({ head }) => head.number === one?.head.number);
    const differ = same.some(({ head }) => head.hash !== one?.head.hash);
    // Nodes at different heights cannot be compared.
    if (same.length < 2 || differ === isForked) return;
    isForked = differ;
    const places = same.map(({ node }) => node.place);
    logger.warn({ chainId, nodes: places }, isForked ? 'nodes disagree on a block' : 'nodes agree again');
  }
}

interface NodeHead {
  readonly node: Node;
  readonly head: NamedBlock;
}

interface OpenedReading {
  readonly node: Node;
  readonly reading: Reading;
}

/**
 * Whether a head is behind another by more than a few blocks and more than some seconds. A height alone, without its time,
 * does not prove it.
 */
function isFarBehind(head: NamedBlock, other: NamedBlock, clock: Clock): boolean {
  const nowSec = BigInt(Math.floor(clock.now() / 1_000));
  const otherSec = other.timestamp < nowSec ? other.timestamp : nowSec;
  return head.number + MAX_BLOCKS_BEHIND < other.number && head.timestamp + MAX_SEC_BEHIND < otherSec;
}

/** Whether an error is the node's fault, so that another node may succeed: every error except a revert. */
function isNodeFault(error: unknown): error is ChainReadError {
  return error instanceof ChainReadError && error.reason !== 'reverted';
}
