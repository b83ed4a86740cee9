import type { ChainFacts } from '../domain/facts.ts';
import type { ComposedChain } from '../domain/market/types.ts';
import type { IndexedStrategy } from '../domain/strategy/keys.ts';
import { RateLimitedError } from '../limits/budgets.ts';
import { createSlots } from '../limits/slots.ts';
import { tierOf, WINDOW_SEC } from '../limits/tier-limits.ts';
import type { Caller } from '../resolvers/common/caller.ts';
import type { ChangeEvent, ChangeFeed, ChangesPort, FeedOptions } from '../resolvers/strategy/changes.ts';
import type { Clock } from '../shared/clock.ts';
import { NotReadyError } from '../shared/errors.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Timers } from '../shared/timers.ts';
import type { SnapshotReader } from '../snapshot/types.ts';

export interface ChangesDeps {
  readonly snapshot: Pick<SnapshotReader, 'subscribe'>;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Maximum number of feeds open at once in this process, shared by the tiers. */
  readonly maxOpen: number;
  readonly onChange?: ((event: { readonly field: string; readonly change: 'opened' | 'closed' }) => void) | undefined;
}

export interface Changes extends ChangesPort {
  /** Wake the feeds of a field at once, for changes that are no publish of the snapshot. */
  wake(field: string): void;
  /** Close every feed. Each reader gets a final event. */
  close(): void;
}

/** Publishes within this time (such as a first round of warmers) become one event. */
const GATHER_MS = 200;
/** Maximum share of all feeds for one key. Readers without a key are counted by address before. */
const KEY_SHARE = 0.1;
const TICK_MS = 1_000;
/** Versions of a chain that a reader can resume from: more than ten minutes at the production cadences. */
const REMEMBERED = 16;
const RETRY_AFTER_SEC = 30;

interface Feed extends ChangeFeed {
  readonly field: string;
  readonly ticking: boolean;
  readonly groups: FeedOptions['groups'];
  mark(chainIds: readonly ChainId[]): void;
}

/** The strategies of a version. Numbers begin anew after a restart without a store, so the time belongs to it. */
interface Remembered {
  readonly publishedMs: number;
  readonly strategies: readonly IndexedStrategy[];
}

/** Create the feeds of changes of the snapshot. Its versions come from this process or, through Redis, from others. */
export function createChanges({ snapshot, clock, timers, maxOpen, onChange }: ChangesDeps): Changes {
  const feeds = new Set<Feed>();
  const remembered = new Map<ChainId, Map<number, Remembered>>();
  const freshness = new Map<ChainId, { readonly facts: ChainFacts; readonly second: number; readonly text: string }>();
  let ticker: unknown = null;
  let closed = false;

  const leave = snapshot.subscribe(({ chainId }, group) => {
    for (const feed of feeds) if (feed.groups?.includes(group) ?? true) feed.mark([chainId]);
  });
  const slots = createSlots({
    max: maxOpen,
    perClient: (tier) => (tier === 'anonymous' ? Number.POSITIVE_INFINITY : Math.ceil(maxOpen * KEY_SHARE)),
  });
  const takePlace = (caller: Caller): (() => void) => {
    const tier = tierOf(caller);
    const place = slots.take({ tier, identity: caller.kind === 'key' ? caller.keyId : tier });
    if ('free' in place) return place.free;
    const details = { scope: 'streams', policy: tier, limit: place.limit, windowSec: WINDOW_SEC } as const;
    throw new RateLimitedError(details, RETRY_AFTER_SEC);
  };
  const tickLater = (): void => {
    ticker ??= timers.setTimeout(() => {
      ticker = null;
      for (const feed of feeds) if (feed.ticking) feed.mark([]);
      if ([...feeds].some((feed) => feed.ticking)) tickLater();
    }, TICK_MS);
  };

  return {
    open(field, chainIds, options) {
      if (closed)
        throw new NotReadyError(
          `This process is stopping. Subscribe again in ${RETRY_AFTER_SEC} seconds.`,
          ['another process'],
          RETRY_AFTER_SEC,
        );
      const leavePlace = takePlace(options.caller);
      const onEnd = (ended: Feed) => {
        feeds.delete(ended);
        leavePlace();
        onChange?.({ field, change: 'closed' });
      };
      const feed = createFeed({ clock, timers, onEnd }, field, chainIds, options);
      feeds.add(feed);
      onChange?.({ field, change: 'opened' });
      if (feed.ticking) tickLater();
      return feed;
    },
    freshnessAt(facts, second, compute) {
      const known = freshness.get(facts.chainId);
      if (known?.facts === facts && known.second === second) return known.text;
      const text = compute();
      freshness.set(facts.chainId, { facts, second, text });
      return text;
    },
    remember({ chainId, version, asOfMs, lookup }: ComposedChain) {
      const versions = remembered.get(chainId) ?? new Map<number, Remembered>();
      versions.set(version, { publishedMs: asOfMs, strategies: lookup.indexed });
      for (const oldest of versions.keys()) {
        if (versions.size <= REMEMBERED) break;
        versions.delete(oldest);
      }
      remembered.set(chainId, versions);
    },
    recall(chainId, { version, publishedMs }) {
      const known = remembered.get(chainId)?.get(version);
      return known && known.publishedMs === (publishedMs ?? known.publishedMs) ? known.strategies : null;
    },
    wake(field) {
      for (const feed of feeds) if (feed.field === field) feed.mark([]);
    },
    close() {
      closed = true;
      leave();
      if (ticker !== null) timers.clearTimeout(ticker);
      for (const feed of [...feeds]) feed.return();
    },
  };
}

/** Create a feed of the changes of some chains. Every chain counts as changed at first. */
function createFeed(
  { clock, timers, onEnd }: Pick<ChangesDeps, 'clock' | 'timers'> & { readonly onEnd: (feed: Feed) => void },
  field: string,
  chainIds: readonly ChainId[],
  { ticking = false, groups }: FeedOptions,
): Feed {
  const dirty = new Set<ChainId>(chainIds);
  let wake: (() => void) | null = null;
  let gatherUntilMs = 0;
  let ended = false;
  const woken = (): Promise<void> =>
    new Promise((resolve) => {
      wake = () => {
        wake = null;
        resolve();
      };
    });
  const feed: Feed = {
    field,
    ticking,
    groups,
    mark(changed) {
      const own = ticking && changed.length === 0 ? chainIds : changed.filter((chainId) => chainIds.includes(chainId));
      for (const chainId of own) dirty.add(chainId);
      if (own.length > 0) wake?.();
    },
    async next() {
      while (!ended) {
        const waitMs = gatherUntilMs - clock.now();
        if (dirty.size === 0) {
          await woken();
        } else if (waitMs > 0 && waitMs <= GATHER_MS) {
          const gathered = woken();
          const timer = timers.setTimeout(() => wake?.(), waitMs);
          await gathered;
          timers.clearTimeout(timer);
        } else {
          gatherUntilMs = clock.now() + GATHER_MS;
          const value: ChangeEvent = { nowMs: clock.now(), chainIds: [...dirty] };
          dirty.clear();
          return { done: false, value };
        }
      }
      return { done: true, value: undefined };
    },
    return() {
      if (ended) return;
      ended = true;
      wake?.();
      onEnd(feed);
    },
  };
  return feed;
}
