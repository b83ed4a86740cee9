import type { Chain } from '../../catalog/types.ts';
import { fingerprintOf } from '../../domain/strategy/fingerprint.ts';
import type { IndexedStrategy } from '../../domain/strategy/keys.ts';
import { queryStrategies } from '../../domain/strategy/query.ts';
import type { Strategy } from '../../domain/strategy/types.ts';
import { createLoaders } from '../../loaders/index.ts';
import type { StrategyFilterInput } from '../../schema/strategy/strategy-inputs.ts';
import type { ChainId, StrategyId } from '../../shared/ids.ts';
import { secondOf } from '../common/age.ts';
import type { AppContext, EventSubject } from '../common/context.ts';
import { type ChainFreshness, readFreshness } from '../common/freshness.ts';
import { requireChain, selectChains } from '../market/chains.ts';
import type { ChangeEvent, ChangeFeed, SeenVersion } from './changes.ts';
import { DEFAULT_ORDER, toFilter } from './strategies.ts';

export interface StrategyChange {
  readonly chain: Chain;
  readonly version: number;
  readonly publishedMs: number;
  /** Whether `changed` is everything that matches, because the reader's version is not known here. */
  readonly complete: boolean;
  readonly changed: readonly Strategy[];
  readonly removed: readonly StrategyId[];
  /** Those of `changed` that may differ from the reader's version; absent: all. */
  readonly mayDiffer?: ReadonlySet<StrategyId> | undefined;
}

/** The subject of a change, to compare its selected fields with those before. */
export function subjectOf({ chain, version, publishedMs, changed, removed, mayDiffer }: StrategyChange): EventSubject {
  return { chainId: chain.chainId, version, publishedMs, entries: changed.map(({ id }) => id), removed, mayDiffer };
}

interface StrategyChangedArgs {
  readonly chainIds?: readonly ChainId[] | null | undefined;
  readonly filter?: StrategyFilterInput | null | undefined;
  /** The versions that the reader has seen last. */
  readonly since?: readonly { readonly chainId: ChainId; readonly version: number }[] | null | undefined;
}

/**
 * Follow the strategies that match a filter: first the differences from the reader's version (everything, when it is not
 * known here), then every later difference. @throws BadRequestError, RateLimitedError, NotReadyError
 */
export function watchStrategies(args: StrategyChangedArgs, ctx: AppContext): AsyncIterableIterator<StrategyChange> {
  const { changes } = ctx.live();
  const chainIds = selectChains(ctx, args.chainIds).map(({ chainId }) => chainId);
  const filter = toFilter(args.filter ?? {});
  const matching = (indexed: readonly IndexedStrategy[]): Map<StrategyId, IndexedStrategy> => {
    const { field: order, direction } = DEFAULT_ORDER;
    const found = queryStrategies(indexed, {
      filter,
      order,
      direction,
      window: { size: indexed.length, fromEnd: false },
    });
    const wanted = new Map(found.items.map(({ strategy }, place) => [strategy.id, place]));
    const entries = indexed.filter(({ strategy }) => wanted.has(strategy.id));
    entries.sort((a, b) => (wanted.get(a.strategy.id) ?? 0) - (wanted.get(b.strategy.id) ?? 0));
    return new Map(entries.map((entry) => [entry.strategy.id, entry]));
  };
  const listed = new Map<ChainId, Map<StrategyId, IndexedStrategy>>();
  for (const [chainId, seen] of versionsSeen(args, ctx)) {
    const known = changes.recall(chainId, seen);
    if (known) listed.set(chainId, matching(known));
  }
  const begun = new Set<ChainId>();
  return follow(changes.open('strategyChanged', chainIds, { caller: ctx.caller }), ctx, (event) =>
    event.chainIds.flatMap((chainId) => {
      if (!ctx.services.health.readiness(chainId, event.nowMs).open) return [];
      const composed = ctx.loaders.composed(chainId);
      changes.remember(composed);
      const before = listed.get(chainId);
      const now = matching(composed.lookup.indexed);
      listed.set(chainId, now);
      const differing = [...now.values()].flatMap((entry) => {
        const known = before?.get(entry.strategy.id);
        return known === undefined || fingerprintOf(known) !== fingerprintOf(entry) ? [entry.strategy] : [];
      });
      const removed = [...(before?.keys() ?? [])].filter((id) => !now.has(id));
      const isFirst = !begun.has(chainId);
      begun.add(chainId);
      if (!isFirst && differing.length === 0 && removed.length === 0) return [];
      const { version, asOfMs: publishedMs } = composed;
      // The first event is compared with the state of a returning reader, by the selected fields of all that match.
      const changed = isFirst ? [...now.values()].map(({ strategy }) => strategy) : differing;
      const mayDiffer = isFirst && before !== undefined ? new Set(differing.map(({ id }) => id)) : undefined;
      const complete = before === undefined;
      return [{ chain: requireChain(ctx, chainId), version, publishedMs, complete, changed, removed, mayDiffer }];
    }),
  );
}

/** The versions that the reader has seen last: the last event of a broken connection is newer than the arguments. */
function versionsSeen({ since }: StrategyChangedArgs, ctx: AppContext): ReadonlyMap<ChainId, SeenVersion> {
  for (const { chainId } of since ?? []) requireChain(ctx, chainId, 'since.chainId');
  const given = (since ?? []).map(({ chainId, version }) => [chainId, { version }] as const);
  return new Map([...given, ...(ctx.seenVersions ?? [])]);
}

interface FreshnessChangedArgs {
  readonly chainIds?: readonly ChainId[] | null | undefined;
}

/**
 * Follow the freshness of chains: first as it is, then whenever a group changes its state or its failure, by a
 * refresh or by time alone. An age alone causes no event. @throws BadRequestError, RateLimitedError, NotReadyError
 */
export function watchFreshness(args: FreshnessChangedArgs, ctx: AppContext): AsyncIterableIterator<ChainFreshness> {
  const chainIds = selectChains(ctx, args.chainIds).map(({ chainId }) => chainId);
  const { changes } = ctx.live();
  const sent = new Map<ChainId, string>();
  const options = { caller: ctx.caller, ticking: true };
  return follow(changes.open('freshnessChanged', chainIds, options), ctx, (event) =>
    event.chainIds.flatMap((chainId) => {
      const second = Math.floor(secondOf(ctx) / 1_000);
      const text = changes.freshnessAt(ctx.loaders.facts(chainId), second, () => freshnessText(chainId, ctx));
      if (sent.get(chainId) === text) return [];
      sent.set(chainId, text);
      return readFreshness({ chainIds: [chainId] }, ctx);
    }),
  );
}

/** The freshness of a chain as text, to compare. */
function freshnessText(chainId: ChainId, ctx: AppContext): string {
  return JSON.stringify(
    readFreshness({ chainIds: [chainId] }, ctx).map(({ ready, groups }) => [
      ready,
      ...groups.map(({ group, source, status, items, failing }) => [
        group,
        source,
        status,
        items,
        ...failing.map(({ key, failure }) => `${key} ${failure.reason}`),
      ]),
    ]),
  );
}

/**
 * Turn a feed into the events of a subscription. The context is renewed for every event: its moment and its loaders belong to
 * one answer. A failure ends the feed.
 */
export function follow<T>(
  feed: ChangeFeed,
  ctx: AppContext,
  produce: (event: ChangeEvent) => readonly T[] | Promise<readonly T[]>,
): AsyncIterableIterator<T> {
  let ready: readonly T[] = [];
  return {
    async next() {
      try {
        for (;;) {
          const [value, ...rest] = ready;
          if (value !== undefined) {
            ready = rest;
            return { done: false, value };
          }
          const event = await feed.next();
          if (event.done) return { done: true, value: undefined };
          const { nowMs } = event.value;
          Object.assign(ctx, { nowMs, loaders: createLoaders(ctx.live(), ctx.cacheHints, nowMs) });
          ready = await produce(event.value);
        }
      } catch (error) {
        feed.return();
        throw error;
      }
    },
    async return() {
      feed.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
