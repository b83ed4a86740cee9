import { type CountedClient, countedAddress } from '../limits/clients.ts';
import { createSlots } from '../limits/slots.ts';

/** Result for a new connection: accepted; refused with an answer, unless it brings a key; closed without one. */
export type ConnectionVerdict = 'open' | 'refused' | 'cut';

/** The place of one connection. */
const withKeyOnly = new WeakSet<object>();

/** Mark a request that is answered only with a valid key: its connection is one too many without. */
export const requireKey = (req: object): void => {
  withKeyOnly.add(req);
};

/** Whether a request is marked so. */
export const requiresKey = (req: object): boolean => withKeyOnly.has(req);

export interface ConnectionPlace {
  readonly verdict: ConnectionVerdict;
  /** Whether a key has brought the connection to the share of its tier. */
  readonly isKeyed: boolean;
  /**
   * Count the connection for a key, which was sent on it, instead of for its address.
   * @returns whether it is accepted
   */
  bring(key: CountedClient): boolean;
  leave(): void;
}

export interface ConnectionCounts {
  /** Count a new connection of an address. */
  enter(address: string): ConnectionPlace;
}

export interface ConnectionLimits {
  /** Connections of an address or a key; 0 = no limit. */
  readonly perClient: number;
  /** Connections of the process, shared by the tiers; 0 = no limit. */
  readonly max: number;
}

/** Connections above the share, as a part of all, that are open for a moment to show a key or to get an answer. */
const DOOR_SHARE = 0.2;

/**
 * Count open connections, because each takes memory. A connection counts for its address until a key is sent on it. Above the
 * limit of the address or the share of clients without a key it is refused with an answer, unless it brings a key; above twice
 * the limit, and when too many are refused at a time, it is closed without one.
 */
export function createConnectionCounts({ perClient, max }: ConnectionLimits): ConnectionCounts {
  const own = perClient > 0 ? perClient : Number.POSITIVE_INFINITY;
  const all = max > 0 ? max : Number.POSITIVE_INFINITY;
  const open = createSlots({ max: all, perClient: () => own });
  const door = createSlots({ max: DOOR_SHARE * all, perClient: () => own });
  return {
    enter(address) {
      const client = countedAddress(address);
      const accepted = open.take(client);
      let place = 'free' in accepted ? accepted : door.take(client);
      let isKeyed = false;
      return {
        verdict: 'free' in accepted ? 'open' : 'free' in place ? 'refused' : 'cut',
        get isKeyed() {
          return isKeyed;
        },
        bring(key) {
          const keyed = open.take(key);
          if ('limit' in keyed) return 'free' in accepted;
          if ('free' in place) place.free();
          place = keyed;
          isKeyed = true;
          return true;
        },
        leave() {
          if ('free' in place) place.free();
        },
      };
    },
  };
}
