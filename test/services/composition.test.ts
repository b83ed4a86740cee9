import { describe, expect, it } from 'vitest';
import type { Catalog, Chain } from '../../src/catalog/types.ts';
import { composeChain } from '../../src/domain/compose.ts';
import { createComposition } from '../../src/services/composition.ts';
import type { Address, MarketId } from '../../src/shared/ids.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { createMemorySnapshot } from '../../src/snapshot/memory.ts';
import type { Publications } from '../../src/snapshot/types.ts';
import { chainOf, completeFacts, NOW_MS, PARAMS } from '../domain/world.ts';

/** Let one page be composed. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

function large(markets: number): Chain {
  const chain = chainOf(1);
  const [like] = chain.markets;
  if (!like) throw new Error('no market');
  const made = Array.from({ length: markets }, (_, i) => ({
    ...like,
    id: `0x${(i + 1).toString(16).padStart(64, '0')}` as MarketId,
    collateral: { ...like.collateral, address: `0x${(i + 1).toString(16).padStart(40, '0')}` as Address },
  }));
  return { ...chain, markets: made, equityVaults: [] };
}

function world(chain: Chain) {
  const clock = { now: () => NOW_MS };
  const snapshot = createMemorySnapshot({ clock, logger: silentLogger });
  const catalog = { chain: (id: number) => (id === chain.chainId ? chain : undefined) } as unknown as Catalog;
  const { nowMs: _, ...params } = PARAMS;
  const composed = createComposition({ catalog, snapshot, clock, logger: silentLogger, params });
  const publish = () => {
    const facts = completeFacts(chain);
    const groups = Object.entries(facts.groups).map(([group, { items }]) => [
      group,
      { attemptedAtMs: NOW_MS, items, failures: new Map() },
    ]);
    return snapshot.publishAll(chain.chainId, Object.fromEntries(groups) as Publications);
  };
  const finish = () => composed.settled();
  return { composed, snapshot, clock, publish, finish };
}

describe('createComposition', () => {
  it('default: a small chain is composed from the newest facts, once per version', async () => {
    const chain = chainOf(1);
    const w = world(chain);
    await w.publish();
    const first = w.composed(chain.chainId);
    expect(first.version).toBe(1);
    expect(w.composed(chain.chainId)).toBe(first);
    await w.finish();
    expect(w.composed(chain.chainId)).toBe(first);
    await w.publish();
    expect(w.composed(chain.chainId).version).toBe(2);
  });

  it('behavior: a small chain is not composed before a request', async () => {
    const chain = chainOf(1);
    let reads = 0;
    const { equityVaults } = chain;
    const w = world(
      Object.defineProperty({ ...chain }, 'equityVaults', {
        enumerable: true,
        get: () => {
          reads += 1;
          return equityVaults;
        },
      }),
    );
    reads = 0;
    await w.publish();
    await turn();
    await w.publish();
    await turn();
    await w.finish();
    expect(reads).toBe(0);
    expect(w.composed(chain.chainId).version).toBe(2);
    expect(reads).toBeGreaterThan(0);
  });

  it('behavior: a large chain returns its newest finished composition while the next one is computed', async () => {
    const chain = large(150);
    const w = world(chain);
    await w.publish();
    const before = w.composed(chain.chainId);
    expect(before.markets).toEqual([]);
    expect(before.excluded).toHaveLength(150);
    // No answer that was made from it is given again.
    expect(before.recomposeAtMs).toBe(w.clock.now());
    expect(before.excluded[0]?.waitingFor).toEqual([{ group: 'composition', reason: 'running' }]);
    await w.finish();
    const first = w.composed(chain.chainId);
    expect(first.markets).toHaveLength(150);
    await w.publish();
    await turn();
    await turn();
    expect(w.composed(chain.chainId)).toBe(first);
    await w.finish();
    expect(w.composed(chain.chainId).version).toBe(2);
  });

  it('behavior: composing by pages equals composing at once', async () => {
    const chain = large(150);
    const w = world(chain);
    const facts = await w.publish();
    await w.finish();
    expect(w.composed(chain.chainId)).toEqual(composeChain(chain, facts, PARAMS));
  });

  it('behavior: catches up with versions published meanwhile', async () => {
    const chain = large(150);
    const w = world(chain);
    await w.publish();
    await turn();
    await w.publish();
    await w.publish();
    await w.finish();
    expect(w.composed(chain.chainId).version).toBe(3);
  });

  it.each([
    ['small', 100],
    ['large', 101],
  ])(
    'behavior: subscribers to a %s chain of %i markets are told of a version that is composed',
    async (_size, count) => {
      const chain = large(count);
      const w = world(chain);
      const told: string[] = [];
      const leave = w.composed.subscribe(({ version }, group) => {
        if (group === 'price') told.push(`${version} ${w.composed(chain.chainId).version}`);
      });
      await w.publish();
      await w.finish();
      await w.publish();
      await w.finish();
      expect(told).toEqual(['1 1', '2 2']);
      leave();
      await w.publish();
      await w.finish();
      expect(told).toHaveLength(2);
    },
  );

  it('behavior: a caller may wait until the facts of a large chain are composed, however many follow', async () => {
    const chain = large(150);
    const w = world(chain);
    await w.publish();
    await turn();
    await w.publish();
    let waited = false;
    const waiting = w.composed.caughtUp(chain.chainId).then(() => {
      waited = true;
      expect(w.composed(chain.chainId).version).toBeGreaterThanOrEqual(2);
    });
    // A publish in every turn: there is always a newer version.
    for (let n = 0; n < 50 && !waited; n += 1) {
      await w.publish();
      await turn();
    }
    expect(waited).toBe(true);
    await waiting;
    await w.finish();
    await w.composed.caughtUp(chain.chainId);
  });

  it.each([
    ['small', 100],
    ['large', 101],
  ])('error: a %s chain of %i markets that cannot be composed, until it can', async (_size, count) => {
    const chain = large(count);
    let isBroken = false;
    const w = world(
      Object.defineProperty({ ...chain }, 'equityVaults', {
        enumerable: true,
        get: () => {
          if (isBroken) throw new Error('impossible value');
          return [];
        },
      }),
    );
    await w.publish();
    await w.finish();
    expect(w.composed(chain.chainId).version).toBe(1);
    isBroken = true;
    await w.publish();
    await w.composed.caughtUp(chain.chainId);
    for (const _time of [1, 2]) expect(() => w.composed(chain.chainId)).toThrow('impossible value');
    isBroken = false;
    await w.publish();
    await w.finish();
    expect(w.composed(chain.chainId).version).toBe(3);
  });

  it('error: a chain outside the catalog', () => {
    const w = world(chainOf(1));
    expect(() => w.composed(5)).toThrow('not in the catalog');
  });
});
