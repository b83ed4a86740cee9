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
  /** Read at this block rather than at the newest one. */
  readonly block?: NamedBlock | undefined;
  /** What a node should be able to do; where none can, any will do. */
  readonly prefers?: ((can: NodeCapabilities) => boolean) | undefined;
}

/** Everything that is read for one purpose: all of it on one node and of one block, as long as that node answers. */
export interface Session {
  /**
   * Work at the session's node and block. Where the node fails, or does not have the block, the work is done once more on another
   * one, and the session stays there.
   * @throws ChainReadError, and whatever else the work throws
   */
  run<T>(work: (reading: Reading) => Promise<T>, options?: ReadOptions): Promise<T>;
}

/** The nodes of one chain. */
export interface ChainNodes {
  readonly chainId: ChainId;
  /** Begin a session. Nothing is asked before its first work. */
  session(options?: SessionOptions): Session;
  /** A session of one piece of work. */
  read<T>(work: (reading: Reading) => Promise<T>, options?: SessionOptions): Promise<T>;
  /** The same nodes with another wait timeout. */
  within(timeoutMs: number): ChainNodes;
  /** Find out what every node can do. Never throws. */
  probe(): Promise<void>;
  status(): readonly NodeStatus[];
}

export interface ChainNodesDeps
  extends Pick<NodeDeps, 'chainId' | 'clock' | 'logger' | 'timeouts' | 'retryCount' | 'probe'> {
  /** In the order of RPC_URL_*. */
  readonly urls: readonly string[];
  readonly timeoutMs?: number | undefined;
  /** The fetch that requests to a node leave through, by its place from 1. Default: the global one. */
  readonly fetchOf?: ((place: number) => typeof fetch) | undefined;
  /** Told which node a reading was given. */
  readonly onChosen?: ((place: number) => void) | undefined;
}

const TIMEOUT_MS = 10_000;
/** Where another node answers, nobody waits longer than this, twice, for the newest block of one. */
const HEAD_TIMEOUT_MS = 2_000;
/** A node may be so many blocks behind the others, */
const MAX_BLOCKS_BEHIND = 3n;
/** or so many seconds: a chain of four blocks a second is never at one height everywhere. */
const MAX_SEC_BEHIND = 2n;

/**
 * Create the nodes of one chain. A reading begins by asking all of them for their newest block: the first that answers, and is
 * not behind the others, is the reading's node. One that failed a moment ago is asked only when no other is left.
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
    let opened: Promise<Opened> | undefined;
    const open = (without: readonly Node[], options?: ReadOptions): Promise<Opened> => {
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
    const attempt = async <T>({ node, reading }: Opened, work: (reading: Reading) => Promise<T>): Promise<T> => {
      try {
        const done = await work(reading);
        node.succeeded();
        return done;
      } catch (error) {
        if (isNodes(error) && !(error instanceof BlockMissingError)) node.failed(error);
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
          // Behind the address of one node there may be several: the same one is asked for a block that it has.
          if (!isNodes(error) || (isAlone && !(error instanceof BlockMissingError && !block))) throw error;
          // Other work of this session may have left the node already: all of it stays together.
          const moved = opened === opening ? undefined : opened;
          const second = await (moved ?? open(isAlone ? [] : [first.node], options));
          return attempt(second, work);
        }
      },
    };
  }

  /** Those that can do it before those that cannot, and those that failed a moment ago last. */
  function candidatesOf(left: readonly Node[], prefers: SessionOptions['prefers']): readonly Node[] {
    const able = left.filter((node) => {
      const { capabilities } = node.status();
      return !prefers || !capabilities || prefers(capabilities);
    });
    const wanted = able.length > 0 ? able : left;
    const awake = wanted.filter((node) => !node.isResting());
    return awake.length > 0 ? awake : wanted;
  }

  /** Ask the candidates, and when none of them answers the rest. */
  async function begin(
    left: readonly Node[],
    wish: { readonly block: NamedBlock | undefined; readonly prefers: SessionOptions['prefers'] },
    waitMs: number,
    options?: ReadOptions,
  ): Promise<Opened> {
    for (const node of nodes) node.refresh();
    const candidates = candidatesOf(left, wish.prefers);
    const others = (asked: readonly Node[], error: unknown): Promise<Opened> => {
      const rest = left.filter((node) => !asked.includes(node));
      if (rest.length === 0 || !(error instanceof ChainReadError)) throw error;
      return begin(rest, wish, waitMs, options);
    };
    let choice: Choice;
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

  /** The node that told a block, else one that has come as far. */
  function holderOf(block: NamedBlock, candidates: readonly Node[]): Choice {
    const far = (node: Node) => (node.status().head?.number ?? 0n) >= block.number;
    const node = candidates.find(({ place }) => place === block.toldBy) ?? candidates.find(far) ?? candidates[0];
    if (!node) throw new ChainReadError('unreachable');
    return { node, head: block };
  }

  /** Ask all at once. Resolves with the first that is not behind; when none is, with the highest. */
  function first(candidates: readonly Node[], waitMs: number, options?: ReadOptions): Promise<Choice> {
    return new Promise((resolve, reject) => {
      const answered: Choice[] = [];
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

  /** Note which of the nodes that answered together are behind, and say where two of them are on different forks. */
  function compare(answered: readonly Choice[]): void {
    for (const { node, head } of answered) {
      node.compared(answered.some((other) => isFarBehind(head, other.head, clock)));
    }
    const [one] = answered;
    const same = answered.filter(({ head }) => head.number === one?.head.number);
    const differ = same.some(({ head }) => head.hash !== one?.head.hash);
    // At different heights nothing is said of each other.
    if (same.length < 2 || differ === isForked) return;
    isForked = differ;
    const places = same.map(({ node }) => node.place);
    logger.warn({ chainId, nodes: places }, isForked ? 'nodes disagree on a block' : 'nodes agree again');
  }
}

interface Choice {
  readonly node: Node;
  readonly head: NamedBlock;
}

interface Opened {
  readonly node: Node;
  readonly reading: Reading;
}

/** Whether a head is further behind another than a few blocks, and than some seconds. A height without its time proves nothing. */
function isFarBehind(head: NamedBlock, other: NamedBlock, clock: Clock): boolean {
  const nowSec = BigInt(Math.floor(clock.now() / 1_000));
  const otherSec = other.timestamp < nowSec ? other.timestamp : nowSec;
  return head.number + MAX_BLOCKS_BEHIND < other.number && head.timestamp + MAX_SEC_BEHIND < otherSec;
}

/** What a node is to blame for, and another may do: everything but a call that reverted. */
function isNodes(error: unknown): error is ChainReadError {
  return error instanceof ChainReadError && error.reason !== 'reverted';
}
