import { type CountedClient, NETWORK_CLIENTS } from './clients.ts';
import type { Tier } from './tier-limits.ts';

/** Shares of the tiers in everything that a process has a number of. No tier takes that of another. */
export const TIER_SHARES: Readonly<Record<Tier, number>> = { anonymous: 0.5, partner: 0.4, ops: 0.1 };

/** The part of `max` that the clients of a tier have together; Infinity without a maximum. */
export function shareOf(tier: Tier, max: number): number {
  return Math.ceil(max * TIER_SHARES[tier]);
}

export interface SlotsOptions {
  /** Number of this process. */
  readonly max: number;
  /** Number of one client; Infinity = as many as its tier has. */
  readonly perClient: (tier: Tier) => number;
}

/** A taken place, or the limit that is reached. */
export type Taken = { readonly free: () => void } | { readonly limit: number };

/** Places that requests hold for a while: of each client, of each IPv6 network, and of each tier. */
export interface Slots {
  take(client: CountedClient): Taken;
  /** The limit that is reached for a client; `undefined` = it may take a place. */
  reached(client: CountedClient): number | undefined;
  /** Take places without regard to the limits, where what takes them is there already. Returns the function that frees them. */
  hold(client: CountedClient, size: number): () => void;
  /** Places in use. */
  readonly count: number;
}

export function createSlots({ max, perClient }: SlotsOptions): Slots {
  const used = new Map<string, number>();
  let count = 0;
  /** The counters of a client, each with its limit. */
  const countersOf = ({ tier, identity, network }: CountedClient): readonly (readonly [string, number])[] => {
    const own = perClient(tier);
    const counters: readonly (readonly [string, number])[] = [
      [`client ${identity}`, own],
      [`tier ${tier}`, shareOf(tier, max)],
    ];
    return network === undefined ? counters : [...counters, [`network ${network}`, own * NETWORK_CLIENTS]];
  };
  const add = (client: CountedClient, size: number): void => {
    count += size;
    for (const [key] of countersOf(client)) {
      const sum = (used.get(key) ?? 0) + size;
      if (sum > 0) used.set(key, sum);
      else used.delete(key);
    }
  };
  const slots: Slots = {
    take(client) {
      const limit = slots.reached(client);
      return limit === undefined ? { free: slots.hold(client, 1) } : { limit };
    },
    reached: (client) => countersOf(client).find(([key, limit]) => (used.get(key) ?? 0) >= limit)?.[1],
    hold(client, size) {
      add(client, size);
      let isHeld = true;
      return () => {
        if (isHeld) add(client, -size);
        isHeld = false;
      };
    },
    get count() {
      return count;
    },
  };
  return slots;
}
