import { describe, expect, test } from 'vitest';
import { createConnectionCounts } from '../../src/http/connections.ts';
import { createUnread } from '../../src/http/unread-answers.ts';
import { type CountedClient, countedAddress } from '../../src/limits/clients.ts';
import { createFairQueue } from '../../src/limits/fair-queue.ts';
import { shareOf, TIER_SHARES } from '../../src/limits/slots.ts';
import { TIERS, type Tier } from '../../src/limits/tier-limits.ts';
import { createChanges } from '../../src/services/changes.ts';
import { createBlockWaits } from '../../src/services/fresh-reads/block-waits.ts';

/** A cap of the process. `take` takes one place; it resolves to `false` where there is none. */
interface Cap {
  readonly max: number;
  take(client: CountedClient & { readonly address?: string }): Promise<boolean>;
}

const MAX = 40;
const never = () => new Promise<never>(() => {});
const timers = { setTimeout: () => 0, clearTimeout() {} };

/** Whether work that waits for ever has begun to wait. */
const waits = (work: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    work.then(
      () => true,
      () => false,
    ),
    new Promise<boolean>((resolve) => setImmediate(() => setImmediate(() => resolve(true)))),
  ]);

const CAPS: Readonly<Record<string, () => Cap>> = {
  'waits for a block (MAX_WAITS)': () => {
    const blockWaits = createBlockWaits({
      readers: new Map([[1, never]]),
      timers,
      elapsedMs: () => 0,
      maxWaitMs: 10_000,
      perClient: 5,
      max: MAX,
    });
    return { max: MAX, take: (client) => waits(blockWaits.wait({ kind: 'block', number: 1n }, [1], client)) };
  },
  'subscriptions (MAX_SUBSCRIPTIONS)': () => {
    const changes = createChanges({
      snapshot: { subscribe: () => () => {} },
      clock: { now: () => 0 },
      timers,
      maxOpen: MAX,
    });
    return {
      max: MAX,
      async take({ tier, identity }) {
        try {
          const caller =
            tier === 'anonymous' ? ({ kind: tier } as const) : ({ kind: 'key', keyId: identity, tier } as const);
          changes.open('freshnessChanged', [1], { caller });
          return true;
        } catch {
          return false;
        }
      },
    };
  },
  'places in the queue (MAX_QUEUED_REQUESTS)': () => {
    let nowMs = 0;
    const queue = createFairQueue({ now: () => nowMs, later: () => {}, maxWaiting: MAX });
    // The first one begins at once, and uses the time of the iteration up.
    void queue.enter({ tier: 'ops', identity: 'first' });
    nowMs = 1_000;
    return { max: MAX, take: (client) => waits(queue.enter(client)) };
  },
  'connections (MAX_CONNECTIONS)': () => {
    const counts = createConnectionCounts({ perClient: 5, max: MAX });
    let visitor = 0;
    return {
      max: MAX,
      async take(client) {
        visitor += 1;
        if (client.tier === 'anonymous') return counts.enter(client.address ?? client.identity).verdict === 'open';
        // A key is sent on a connection of an address of its own.
        const place = counts.enter(`198.51.100.${visitor}`);
        place.bring(client);
        if (!place.isKeyed) place.leave();
        return place.isKeyed;
      },
    };
  },
  'bytes of unread answers': () => {
    const large = 2 ** 20;
    const unread = createUnread({ processBytes: MAX * large, addressBytes: 5 * large });
    const res = { writableLength: large, destroyed: false, once() {} };
    return {
      max: MAX,
      async take(client) {
        if (unread.refuses(client, large)) return false;
        unread.note(res as never, client);
        return true;
      },
    };
  },
};

/** Many clients of a tier, none of them above its own limit. */
const clientsOf = (tier: Tier, count: number): CountedClient[] =>
  Array.from({ length: count }, (_, i) =>
    tier === 'anonymous' ? countedAddress(`192.0.2.${i}`) : { tier, identity: `${tier}-${i}` },
  );

const fill = async (cap: Cap, tier: Tier): Promise<number> => {
  let taken = 0;
  for (const client of clientsOf(tier, 2 * MAX)) if (await cap.take(client)) taken += 1;
  return taken;
};

describe('caps of a process', () => {
  test('default: the shares are the whole', () => {
    expect(TIERS.reduce((sum, tier) => sum + TIER_SHARES[tier], 0)).toBeCloseTo(1, 9);
  });

  const table = Object.keys(CAPS).flatMap((name) => TIERS.map((tier) => [name, tier] as const));
  test.each(table)('behavior: %s: the others together leave the share of %s free', async (name, tier) => {
    const cap = (CAPS[name] as () => Cap)();
    for (const other of TIERS) if (other !== tier) await fill(cap, other);
    expect(await fill(cap, tier)).toBe(shareOf(tier, cap.max));
  });

  test.each(Object.keys(CAPS))('behavior: %s: an IPv6 network of 56 bits has what four clients have', async (name) => {
    const cap = (CAPS[name] as () => Cap)();
    const isPerClient = !name.includes('QUEUED') && !name.includes('SUBSCRIPTIONS');
    let taken = 0;
    for (let i = 0; i < 256; i += 1) {
      for (let k = 0; k < 3; k += 1) {
        const address = `2001:db8:1:${i.toString(16)}::${k + 1}`;
        if (await cap.take({ ...countedAddress(address), address })) taken += 1;
      }
    }
    expect(taken).toBe(isPerClient ? Math.min(20, shareOf('anonymous', MAX)) : shareOf('anonymous', MAX));
  });
});
