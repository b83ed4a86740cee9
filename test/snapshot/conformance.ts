import { describe, expect, test } from 'vitest';
import type { ChainFacts, FactGroup, LendingState } from '../../src/domain/facts.ts';
import type { SnapshotStore } from '../../src/snapshot/types.ts';
import { price, publication } from './facts.ts';

export interface StoreFactory {
  /** A store over the same persisted place every time, or a fresh one where nothing persists. */
  create(): Promise<SnapshotStore>;
  /** Whether facts outlive the store. */
  readonly persists: boolean;
}

const STATE: LendingState = {
  totalSupplyAssets: 2n ** 127n,
  totalSupplyShares: 10n ** 24n,
  totalBorrowAssets: 1n,
  totalBorrowShares: 0n,
  lastUpdate: 1_700_000_000n,
  fee: 0n,
  rateAtTarget: 1_268_391_679n,
  borrowRate: 634_195_839n,
  blockNumber: 20_000_000n,
  blockTimestamp: 1_700_000_012n,
};

/** Hold a store to the contract of `SnapshotStore`. */
export function describeStore(name: string, factory: StoreFactory): void {
  const using = async (use: (store: SnapshotStore) => Promise<void>): Promise<void> => {
    const store = await factory.create();
    try {
      await store.restore();
      await use(store);
    } finally {
      await store.close();
    }
  };

  describe(`SnapshotStore: ${name}`, () => {
    test('default', () =>
      using(async (store) => {
        expect(store.facts(1).version).toBe(0);
        expect(store.place()).toMatchObject({ kind: name, ok: true });
        const facts = await store.publish(1, 'price', publication(10, { a: price('2', 10) }));
        expect(facts.version).toBe(1);
        expect(store.facts(1)).toBe(facts);
        expect(facts.groups.price.items.get('a')).toEqual(price('2', 10));
      }));

    test('behavior: two reads return the same object until the next version', () =>
      using(async (store) => {
        expect(store.facts(4663)).toBe(store.facts(4663));
        await store.publish(1, 'price', publication(10, { a: price('2', 10) }));
        const before = store.facts(1);
        expect(store.facts(1)).toBe(before);
        await store.publish(1, 'price', publication(20, {}, { a: 'timeout' }));
        expect(store.facts(1)).not.toBe(before);
        expect(before.groups.price.failures.size).toBe(0);
      }));

    test('behavior: chains are independent', () =>
      using(async (store) => {
        const other = await store.publish(4663, 'price', publication(10, { z: price('9', 10) }));
        await store.publish(1, 'price', publication(10, { a: price('2', 10) }));
        expect(store.facts(4663)).toBe(other);
      }));

    test('behavior: notifies listeners once the version is readable, until they unsubscribe; a throwing listener affects no other', () =>
      using(async (store) => {
        const reported: [FactGroup, number, boolean][] = [];
        store.subscribe(() => {
          throw new Error('a listener of no good');
        });
        const leave = store.subscribe((facts, group) => {
          reported.push([group, facts.version, store.facts(facts.chainId) === facts]);
        });
        await store.publish(1, 'price', publication(10, { a: price('2', 10) }));
        leave();
        await store.publish(1, 'price', publication(20, { a: price('3', 20) }));
        expect(reported).toEqual([['price', 1, true]]);
      }));

    test('behavior: groups published together are one version, and each is reported', () =>
      using(async (store) => {
        const actual: [FactGroup, number][] = [];
        store.subscribe((facts, group) => {
          expect([facts.groups.price.items.size, facts.groups.lendingState.items.size]).toEqual([1, 1]);
          actual.push([group, facts.version]);
        });
        const facts = await store.publishAll(1, {
          price: publication(10, { a: price('2', 10) }),
          lendingState: publication(10, { m: { value: STATE, asOfMs: 10, source: 'chain' } }),
        });
        expect(facts.version).toBe(1);
        expect(actual).toEqual([
          ['lendingState', 1],
          ['price', 1],
        ]);
      }));

    test('behavior: concurrent refreshes of several groups lose no data', () =>
      using(async (store) => {
        await Promise.all(
          ['a', 'b', 'c'].map((key) =>
            store.publishAll(1, {
              price: publication(10, { [key]: price('1', 10) }),
              lendingState: publication(10, { [key]: { value: STATE, asOfMs: 10, source: 'chain' } }),
            }),
          ),
        );
        const { groups, version } = store.facts(1);
        expect([...groups.price.items.keys()].sort()).toEqual(['a', 'b', 'c']);
        expect([...groups.lendingState.items.keys()].sort()).toEqual(['a', 'b', 'c']);
        expect(version).toBe(3);
      }));

    test('behavior: concurrent refreshes of one group lose no data', () =>
      using(async (store) => {
        await Promise.all(
          ['a', 'b', 'c', 'd'].map((key) => store.publish(1, 'price', publication(10, { [key]: price('1', 10) }))),
        );
        expect([...store.facts(1).groups.price.items.keys()].sort()).toEqual(['a', 'b', 'c', 'd']);
        expect(store.facts(1).version).toBe(4);
      }));

    if (!factory.persists) return;

    test('behavior: the next store has the same facts, ages, failures and version', async () => {
      let before: ChainFacts | undefined;
      await using(async (store) => {
        await store.publish(1, 'price', publication(10, { a: price('1.000000000000000000001', 10) }));
        await store.publish(
          1,
          'lendingState',
          publication(20, { m: { value: STATE, asOfMs: 12_000, source: 'chain' } }),
        );
        await store.publish(1, 'price', publication(30, {}, { a: 'rate_limited' }));
        before = store.facts(1);
      });
      await using(async (store) => {
        expect(store.facts(1)).toEqual(before);
        const next = await store.publish(1, 'price', publication(40, { a: price('2', 40) }));
        expect(next.version).toBe(4);
        expect(next.groups.lendingState).toEqual(before?.groups.lendingState);
      });
    });
  });
}
