import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/shared/logger.ts';
import { createMemorySnapshot } from '../../src/snapshot/memory.ts';
import { describeStore } from './conformance.ts';
import { price, publication } from './facts.ts';

describeStore('memory', {
  persists: false,
  create: async () => createMemorySnapshot({ clock: { now: () => 50_000 }, logger: silentLogger }),
});

describe('publish', () => {
  test('behavior: concurrent publishes are merged one after the other', async () => {
    const store = createMemorySnapshot({ clock: { now: () => 50_000 }, logger: silentLogger });
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`t${i}`, price('1', 10)]));
    const [first, second] = await Promise.all([
      store.publish(1, 'price', publication(10, many)),
      store.publish(1, 'price', publication(20, { t7: price('2', 20), more: price('3', 20) })),
    ]);
    expect([first.version, second.version]).toEqual([1, 2]);
    expect(first.groups.price.items.size).toBe(500);
    expect(store.facts(1).groups.price.items.size).toBe(501);
    expect(store.facts(1).groups.price.items.get('t7')?.asOfMs).toBe(20);
  });
});
