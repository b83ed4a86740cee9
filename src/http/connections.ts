/** What becomes of a new connection: served; answered that there are too many; closed without an answer. */
export type Entrance = 'open' | 'refused' | 'cut';

export interface ConnectionCounts {
  /** Count a connection of this address, unless it is cut. */
  enter(identity: string): Entrance;
  leave(identity: string): void;
}

/**
 * Count open connections by address: each takes memory, however little comes by it. Those beyond the bound are told so; beyond
 * twice the bound nothing is told any more.
 * @param perAddress 0 = no bound
 */
export function createConnectionCounts(perAddress: number): ConnectionCounts {
  const counts = new Map<string, number>();
  return {
    enter(identity) {
      const count = (counts.get(identity) ?? 0) + 1;
      if (perAddress > 0 && count > 2 * perAddress) return 'cut';
      counts.set(identity, count);
      return perAddress > 0 && count > perAddress ? 'refused' : 'open';
    },
    leave(identity) {
      const left = (counts.get(identity) ?? 1) - 1;
      if (left > 0) counts.set(identity, left);
      else counts.delete(identity);
    },
  };
}
