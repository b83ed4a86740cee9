import { describe, expect, test } from 'vitest';
import { emptyChainFacts, type FactGroup } from '../../src/domain/facts.ts';
import { contractFeesOf } from '../../src/domain/market/fees.ts';
import { beginLookup } from '../../src/domain/market/lookup.ts';
import type { ComposedChain } from '../../src/domain/market/types.ts';
import { createChanges } from '../../src/services/changes.ts';
import type { SnapshotListener } from '../../src/snapshot/types.ts';
import { fakeTime } from '../warmers/fake-time.ts';

function world(maxOpen = 10) {
  const time = fakeTime(1_000_000);
  const listeners = new Set<SnapshotListener>();
  const events: string[] = [];
  const changes = createChanges({
    snapshot: {
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    clock: time.clock,
    timers: time.timers,
    maxOpen,
    onChange: ({ field, change }) => events.push(`${field} ${change}`),
  });
  const publish = (chainId: number, group: FactGroup = 'price') => {
    for (const listener of listeners) listener(emptyChainFacts(chainId), group);
  };
  return { time, changes, publish, events, listeners };
}

const composed = (version: number): ComposedChain => ({
  chainId: 1,
  version,
  asOfMs: version,
  markets: [],
  strategies: [],
  excluded: [],
  fees: contractFeesOf(emptyChainFacts(1), 900),
  lookup: beginLookup().lookup,
});

const ANONYMOUS = { caller: { kind: 'anonymous' } } as const;
const limited = (policy: string, limit: number) =>
  expect.objectContaining({
    code: 'rate_limited',
    details: { scope: 'streams', policy, limit, windowSec: 60 },
    retryAfterSec: 30,
  });

describe('createChanges', () => {
  test('default: sends all chains first, then the changed chain', async () => {
    const { changes, publish, time } = world();
    const feed = changes.open('f', [1, 4663], ANONYMOUS);
    expect((await feed.next()).value?.chainIds).toEqual([1, 4663]);
    await time.advance(1_000);
    const next = feed.next();
    publish(4663);
    expect((await next).value).toEqual({ nowMs: time.clock.now(), chainIds: [4663] });
  });

  test('behavior: changes between two reads are one event, with each chain once', async () => {
    const { changes, publish, time } = world();
    const feed = changes.open('f', [1, 4663], ANONYMOUS);
    await feed.next();
    await time.advance(1_000);
    for (let i = 0; i < 100_000; i++) publish(i % 2 === 0 ? 1 : 4663);
    expect((await feed.next()).value?.chainIds).toEqual([1, 4663]);
    await time.advance(1_000);
    const next = feed.next();
    publish(1);
    expect((await next).value?.chainIds).toEqual([1]);
  });

  test('behavior: consecutive publishes are collected', async () => {
    const { changes, publish, time } = world();
    const feed = changes.open('f', [1, 4663], ANONYMOUS);
    await feed.next();
    publish(1);
    const next = feed.next();
    await time.advance(100);
    publish(4663);
    await time.advance(200);
    expect((await next).value?.chainIds).toEqual([1, 4663]);
  });

  test('behavior: ignores other chains and other groups', async () => {
    const { changes, publish, time } = world();
    const feed = changes.open('f', [1], { ...ANONYMOUS, groups: ['lendingState'] });
    await feed.next();
    await time.advance(1_000);
    const next = feed.next();
    publish(4663, 'lendingState');
    publish(1, 'price');
    publish(1, 'lendingState');
    expect((await next).value?.chainIds).toEqual([1]);
  });

  test('behavior: a ticking feed also reports time', async () => {
    const { changes, time } = world();
    const feed = changes.open('f', [1], { ...ANONYMOUS, ticking: true });
    await feed.next();
    const next = feed.next();
    await time.advance(1_000);
    expect((await next).value?.chainIds).toEqual([1]);
  });

  test('behavior: an ending stream notifies its reader once and is counted', async () => {
    const { changes, events, listeners } = world();
    const [one, two] = [changes.open('a', [1], ANONYMOUS), changes.open('b', [1], ANONYMOUS)];
    await Promise.all([one.next(), two.next()]);
    const waiting = one.next();
    one.return();
    one.return();
    expect(await waiting).toEqual({ done: true, value: undefined });
    changes.close();
    expect(await two.next()).toEqual({ done: true, value: undefined });
    expect(events).toEqual(['a opened', 'b opened', 'a closed', 'b closed']);
    expect(listeners.size).toBe(0);
  });

  test('behavior: keeps only the last versions', () => {
    const { changes } = world();
    for (let version = 1; version <= 40; version++) changes.remember(composed(version));
    const recall = (chainId: number, version: number) => changes.recall(chainId, { version });
    expect([recall(1, 40), recall(1, 25)]).toEqual([[], []]);
    expect([recall(1, 1), recall(1, 24), recall(4663, 40)]).toEqual([null, null, null]);
  });

  test('behavior: after a restart, a version of the same number and of another time is another one', () => {
    const { changes } = world();
    changes.remember(composed(5));
    expect(changes.recall(1, { version: 5, publishedMs: 5 })).toEqual([]);
    expect(changes.recall(1, { version: 5, publishedMs: 4 })).toBeNull();
  });

  test('behavior: computes the freshness of a chain once per version and second', () => {
    const { changes } = world();
    const [one, two] = [emptyChainFacts(1), emptyChainFacts(1)];
    const read = (facts: typeof one, second: number, text: string) => changes.freshnessAt(facts, second, () => text);
    expect([read(one, 1, 'a'), read(one, 1, 'b'), read(one, 2, 'c')]).toEqual(['a', 'a', 'c']);
    expect([read(two, 2, 'd'), read(emptyChainFacts(4663), 2, 'e'), read(two, 2, 'f')]).toEqual(['d', 'e', 'd']);
  });

  test('error: rate_limited when too many are open, until one closes', () => {
    const { changes } = world(1);
    const feed = changes.open('f', [1], ANONYMOUS);
    expect(() => changes.open('f', [1], ANONYMOUS)).toThrowError(limited('anonymous', 1));
    feed.return();
    changes.open('f', [1], ANONYMOUS);
  });

  test('error: rate_limited for anonymous readers beyond their half, and for a key beyond its tenth', () => {
    const { changes } = world(10);
    for (let i = 0; i < 5; i++) changes.open('f', [1], ANONYMOUS);
    expect(() => changes.open('f', [1], ANONYMOUS)).toThrowError(limited('anonymous', 5));
    const keyed = (keyId: string) => ({ caller: { kind: 'key', keyId, tier: 'partner' } }) as const;
    changes.open('f', [1], keyed('one'));
    expect(() => changes.open('f', [1], keyed('one'))).toThrowError(limited('partner', 1));
    changes.open('f', [1], keyed('other'));
  });

  test('error: not_ready while stopping', () => {
    const { changes } = world();
    changes.close();
    expect(() => changes.open('f', [1], ANONYMOUS)).toThrowError(
      expect.objectContaining({ code: 'not_ready', details: { waitingFor: ['another process'] } }),
    );
  });
});
