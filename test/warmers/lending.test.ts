import { describe, expect, test } from 'vitest';
import { all, DAY_MS, ethereum, fails, firstMarket, NOW_MS, pct, readingAt, world } from './world.ts';

describe('lending-state', () => {
  test('default', async () => {
    const w = world();
    expect(await w.run('lending-state:1')).toMatchObject({ failures: 0 });
    const { lendingState, oracle } = w.facts().groups;
    expect(lendingState.items.size).toBe(ethereum.markets.length);
    expect(lendingState.items.get(firstMarket.id)).toMatchObject({ asOfMs: NOW_MS, source: 'chain' });
    expect(oracle.items.get(firstMarket.oracle)).toMatchObject({ asOfMs: NOW_MS, source: 'chain' });
  });

  test('behavior: one sample per measured market, as fractions', async () => {
    const w = world();
    await w.run('lending-state:1');
    expect(w.samples).toHaveLength(ethereum.markets.length);
    const [sample] = w.samples;
    expect(sample).toMatchObject({ marketId: firstMarket.id, atMs: NOW_MS, liquidityAssets: 100n * 10n ** 6n });
    expect([sample?.utilization.toFixed(), sample?.borrowApy.toFixed(4)]).toEqual(['0.9', '0.0408']);
  });

  test('behavior: price and rate of each market of which both were read are stored, of the same block', async () => {
    const w = world();
    const reading = readingAt(ethereum, 100n, NOW_MS);
    const values = new Map([...reading.oracle.values].filter(([address]) => address !== firstMarket.oracle));
    const failures = new Map([[firstMarket.oracle, 'reverted' as const]]);
    const read = { ...reading, oracle: { values, failures } };
    Object.assign(w.readers.get(1) ?? {}, { readLendingState: async () => read });
    await w.run('lending-state:1');
    const others = ethereum.markets.filter(({ oracle }) => oracle !== firstMarket.oracle);
    expect([...w.priced.keys()]).toEqual(others.map(({ id }) => id));
    const [other] = others;
    const price = other && values.get(other.oracle)?.price;
    expect(other && w.priced.get(other.id)).toEqual({ atMs: NOW_MS, price, borrowRate: 1_268_391_679n });
  });

  test('behavior: logs an outage of the database once and continues', async () => {
    const w = world();
    const warmer = w.warmers.find(({ name }) => name === 'lending-state:1');
    for (const keeps of [false, false, true, true]) {
      w.keepSamples = keeps;
      await warmer?.run(new AbortController().signal, 'due');
    }
    expect(w.logs).toEqual(['rate samples not stored', 'rate samples stored again']);
    expect(w.facts().groups.lendingState.lastSuccessMs).toBe(NOW_MS);
  });

  test.each([
    ['behind in time', 90n, NOW_MS - 20_000],
    ['behind in number within the same second', 99n, NOW_MS],
  ])('behavior: rejects a block %s', async (_what, number, atMs) => {
    const w = world();
    await w.run('lending-state:1');
    const before = w.facts().groups;
    Object.assign(w.readers.get(1) ?? {}, { readLendingState: async () => readingAt(ethereum, number, atMs) });
    await expect(w.run('lending-state:1')).rejects.toMatchObject({ reason: 'implausible' });
    const after = w.facts().groups;
    expect([after.lendingState.items, after.oracle.items]).toEqual([before.lendingState.items, before.oracle.items]);
    expect([...after.oracle.failures.values()][0]?.reason).toBe('implausible');
    expect(w.samples).toHaveLength(ethereum.markets.length);
  });

  test('behavior: accepts a restarted chain with low numbers and later times', async () => {
    const w = world();
    await w.run('lending-state:1');
    Object.assign(w.readers.get(1) ?? {}, { readLendingState: async () => readingAt(ethereum, 3n, NOW_MS + 5_000) });
    await w.run('lending-state:1');
    expect(w.facts().groups.lendingState.items.get(firstMarket.id)?.value.blockNumber).toBe(3n);
  });

  test('behavior: one reverting oracle affects no other', async () => {
    const w = world();
    const reading = readingAt(ethereum, 100n, NOW_MS);
    const values = new Map([...reading.oracle.values].filter(([address]) => address !== firstMarket.oracle));
    const failures = new Map([[firstMarket.oracle, 'reverted' as const]]);
    Object.assign(w.readers.get(1) ?? {}, {
      readLendingState: async () => ({ ...reading, oracle: { values, failures } }),
    });
    expect(await w.run('lending-state:1')).toMatchObject({ failures: 1, retryable: 1 });
    expect([...w.facts().groups.oracle.failures.keys()]).toEqual([firstMarket.oracle]);
    expect(w.facts().groups.oracle.lastSuccessMs).toBeNull();
    expect(w.facts().groups.lendingState.lastSuccessMs).toBe(NOW_MS);
  });
});

describe('shared-liquidity', () => {
  test('behavior: an indexer without the field does not clear known liquidity', async () => {
    const w = world();
    const source = { vault: ethereum.contracts.morphoBlue, withdrawMarketId: firstMarket.id, assets: 5n, feeWei: 0n };
    w.ports.indexer = {
      ...w.ports.indexer,
      sharedLiquidity: async (_c, ids) => all(ids, () => ({ sources: [source] })),
    };
    await w.run('shared-liquidity:1');
    const before = w.facts().groups.sharedLiquidity.items;
    w.ports.indexer = { ...w.ports.indexer, sharedLiquidity: async (_c, ids) => all(ids, () => ({ sources: [] })) };
    await w.run('shared-liquidity:1');
    expect(w.facts().groups.sharedLiquidity.items).toEqual(before);
  });
});

describe('borrow-history', () => {
  const day = (n: number) => 20_000 * DAY_MS - n * DAY_MS;
  const backfill = (n: number, apyPct: string) => ({ atMs: day(n) + 3_600_000, ratePct: pct(apyPct) });
  const shown = (w: ReturnType<typeof world>) => {
    const fact = w.facts().groups.borrowHistory.items.get(firstMarket.id);
    return fact?.value.points.map(({ ratePct }) => ratePct.toFixed());
  };

  test('behavior: our own days take precedence, the indexer fills the others, and no day is lost without one of them', async () => {
    const w = world();
    w.days = [{ marketId: firstMarket.id, dayMs: day(1), borrowApy: pct('0.05') }];
    w.ports.indexer = {
      ...w.ports.indexer,
      borrowHistory: async (_c, ids) => all(ids, () => ({ points: [backfill(2, '1'), backfill(1, '2')] })),
    };
    await w.run('borrow-history:1');
    expect(shown(w)).toEqual(['1', '5']);

    w.ports.indexer = { ...w.ports.indexer, borrowHistory: fails('malformed') };
    w.days = [...w.days, { marketId: firstMarket.id, dayMs: day(0), borrowApy: pct('0.06') }];
    await expect(w.run('borrow-history:1')).rejects.toMatchObject({ reason: 'malformed' });
    expect(shown(w)).toEqual(['1', '5', '6']);

    w.days = new Error('the database is away');
    await expect(w.run('borrow-history:1')).rejects.toThrow();
    expect(shown(w)).toEqual(['1', '5', '6']);
  });

  test.each([
    ['500', [undefined, undefined, ['500', '5']]],
    ['0.05', [undefined, undefined, ['0.05', '5']]],
    [
      '6',
      [
        ['6', '5'],
        ['6', '5'],
        ['6', '5'],
      ],
    ],
  ])(
    'behavior: on a first start %s %% of the indexer is compared with our newest sample',
    async (reported, observed) => {
      const w = world();
      w.days = [{ marketId: firstMarket.id, dayMs: day(0), borrowApy: pct('0.05') }];
      w.ports.indexer = {
        ...w.ports.indexer,
        borrowHistory: async (_c, ids) => all(ids, () => ({ points: [backfill(1, reported)] })),
      };
      const after: unknown[] = [];
      for (let reading = 0; reading < 3; reading++) {
        await w.run('borrow-history:1');
        after.push(shown(w));
        await w.time.advance(1_800_000);
      }
      expect(after).toEqual(observed);
    },
  );
});
