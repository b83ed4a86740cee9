/** Result for a new connection: accepted; refused with an answer; closed without one. */
export type ConnectionVerdict = 'open' | 'refused' | 'cut';

export interface ConnectionCounts {
  /** Count a connection of this address, unless it is closed at once. */
  enter(identity: string): ConnectionVerdict;
  leave(identity: string): void;
}

/**
 * Count open connections by address, because each takes memory. Connections above the limit get an answer; above twice the
 * limit they are closed without one.
 * @param perAddress 0 = no limit
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
