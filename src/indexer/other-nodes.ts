import type { Reading } from '../chain/reading.ts';
import type { ChainNodes } from '../chain/rpc/nodes.ts';

/** A piece of work on one certain node. */
export type OnNode = <T>(work: (reading: Reading) => Promise<T>) => Promise<T>;

/**
 * The nodes of a chain except the one of a reading, each to be read at the reading's block without failover to another node.
 * None = the chain has a single node.
 */
export function otherNodes(
  nodes: Pick<ChainNodes, 'read' | 'status'>,
  { block }: Pick<Reading, 'block'>,
  signal: AbortSignal,
): readonly OnNode[] {
  const status = nodes.status();
  return status
    .filter(({ place, status: state }) => place !== block.nodeIndex && state !== 'other_chain')
    .map(({ place }): OnNode => {
      const without = status.flatMap((other) => (other.place === place ? [] : [other.place]));
      return (work) => nodes.read(work, { block, without, signal });
    });
}
