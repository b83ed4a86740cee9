import type { Clock } from '../../shared/clock.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { Logger } from '../../shared/logger.ts';
import { isFromFuture } from '../../shared/observed.ts';
import type { NamedBlock } from '../reading.ts';
import type { ReadOptions } from '../types.ts';
import type { NodeCapabilities } from './capabilities.ts';
import { ChainReadError } from './errors.ts';
import type { Node } from './node.ts';

/** Timeout for a node's newest block when other nodes are available; waited for twice at most. */
const HEAD_TIMEOUT_MS = 2_000;
/** A node may be this many blocks behind the others, */
const MAX_BLOCKS_BEHIND = 3n;
/** or this many seconds, because on a chain with ten blocks a second nodes are rarely at the same height. */
const MAX_SEC_BEHIND = 2n;

/** A node, and the block that a reading on it is at. */
export interface NodeHead {
  readonly node: Node;
  readonly head: NamedBlock;
}

/** Nodes with the preferred capabilities come first, and nodes that failed recently last. */
export function candidatesOf(
  left: readonly Node[],
  prefers: ((can: NodeCapabilities) => boolean) | undefined,
): readonly Node[] {
  const able = left.filter((node) => {
    const { capabilities } = node.status();
    return !prefers || !capabilities || prefers(capabilities);
  });
  const wanted = able.length > 0 ? able : left;
  const awake = wanted.filter((node) => !node.isResting());
  return awake.length > 0 ? awake : wanted;
}

/** The node that returned a block, otherwise one that has reached it. */
export function holderOf(block: NamedBlock, candidates: readonly Node[]): NodeHead {
  const far = (node: Node) => (node.status().head?.number ?? 0n) >= block.number;
  const node = candidates.find(({ place }) => place === block.nodeIndex) ?? candidates.find(far) ?? candidates[0];
  if (!node) throw new ChainReadError('unreachable');
  return { node, head: block };
}

export interface HeadRaceDeps {
  readonly chainId: ChainId;
  /** All nodes of the chain. */
  readonly nodes: readonly Node[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Create the choice of a node by the newest blocks. */
export function createHeadRace({ chainId, nodes, clock, logger }: HeadRaceDeps) {
  let isForked = false;
  return first;

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

/**
 * Whether a head is behind another by more than a few blocks and more than some seconds. A height alone, without its time,
 * does not prove it.
 */
function isFarBehind(head: NamedBlock, other: NamedBlock, clock: Clock): boolean {
  const nowSec = BigInt(Math.floor(clock.now() / 1_000));
  const otherSec = other.timestamp < nowSec ? other.timestamp : nowSec;
  return head.number + MAX_BLOCKS_BEHIND < other.number && head.timestamp + MAX_SEC_BEHIND < otherSec;
}
