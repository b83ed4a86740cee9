import { describe, expect, test } from 'vitest';
import type { IncentiveCampaign, MarketIncentives } from '../../src/domain/facts.ts';
import { continueHistory } from '../../src/warmers/incentive-history.ts';
import { all, ethereum, firstMarket, NOW_MS, pct, world } from './world.ts';

describe('incentives', () => {
  const campaign = (endsAtMs: number): IncentiveCampaign => ({
    id: 'c',
    symbol: 'X',
    aprPct: pct('2'),
    startsAtMs: 0,
    endsAtMs,
  });
  const live = (incentives: MarketIncentives) => async (_chain: unknown, ids: readonly string[]) =>
    all(ids, (id) => (id === firstMarket.id ? incentives : { borrow: [], collateral: [] }));

  test('behavior: a wholly empty answer is not believed while a known campaign should still run', async () => {
    const w = world();
    w.ports.incentives = { ...w.ports.incentives, live: live({ borrow: [campaign(NOW_MS + 1)], collateral: [] }) };
    await w.run('incentives:1');
    const before = w.facts().groups.incentives.items;
    w.ports.incentives = { ...w.ports.incentives, live: live({ borrow: [], collateral: [] }) };
    expect(await w.run('incentives:1')).toMatchObject({ items: 0 });
    expect(w.facts().groups.incentives.items).toEqual(before);
    await w.time.advance(2);
    await w.run('incentives:1');
    expect(w.facts().groups.incentives.items.get(firstMarket.id)?.value.borrow).toEqual([]);
    expect(w.facts().groups.incentives.failures.size).toBe(0);
  });

  describe('a campaign that an otherwise good list leaves out', () => {
    const CADENCE_MS = 1_800_000;
    const other = ethereum.markets[1]?.id;
    const listing = (campaigns: readonly IncentiveCampaign[]) => async (_chain: unknown, ids: readonly string[]) =>
      all(ids, (id) => ({
        borrow: id === firstMarket.id ? campaigns : id === other ? [{ ...campaign(NOW_MS * 2), id: 'other' }] : [],
        collateral: [],
      }));
    const listed = async (endsAtMs: number) => {
      const w = world();
      const list = async (campaigns: readonly IncentiveCampaign[]) => {
        w.ports.incentives = { ...w.ports.incentives, live: listing(campaigns) };
        await w.run('incentives:1');
        const { items, failures } = w.facts().groups.incentives;
        const fact = items.get(firstMarket.id);
        return [fact?.value.borrow.map(({ id }) => id), fact?.asOfMs, failures.get(firstMarket.id)?.reason];
      };
      expect(await list([campaign(endsAtMs)])).toEqual([['c'], NOW_MS, undefined]);
      return { w, list };
    };

    test('behavior: stays at last-good, with its age, and is there again', async () => {
      const { w, list } = await listed(NOW_MS * 2);
      await w.time.advance(CADENCE_MS);
      expect(await list([])).toEqual([['c'], NOW_MS, 'missing']);
      await w.time.advance(5_000);
      expect(await list([campaign(NOW_MS * 2)])).toEqual([['c'], NOW_MS + CADENCE_MS + 5_000, undefined]);
    });

    test('behavior: is over once lists have left it out for a cadence', async () => {
      const { w, list } = await listed(NOW_MS * 2);
      expect(await list([])).toEqual([['c'], NOW_MS, 'missing']);
      await w.time.advance(CADENCE_MS - 1);
      expect(await list([])).toEqual([['c'], NOW_MS, 'missing']);
      await w.time.advance(1);
      expect(await list([])).toEqual([[], NOW_MS + CADENCE_MS, undefined]);
    });

    test('behavior: is over when its own end has passed', async () => {
      const { w, list } = await listed(NOW_MS + 10);
      await w.time.advance(10);
      expect(await list([])).toEqual([[], NOW_MS + 10, undefined]);
    });
  });

  test('behavior: a market without campaigns beside one with some is a measured none', async () => {
    const w = world();
    w.ports.incentives = { ...w.ports.incentives, live: live({ borrow: [campaign(NOW_MS + 1)], collateral: [] }) };
    await w.run('incentives:1');
    expect(w.facts().groups.incentives.items.size).toBe(ethereum.markets.length);
  });

  test('behavior: history asks the running campaigns only, and steps to zero when they have ended', async () => {
    const w = world();
    const asked: unknown[] = [];
    w.ports.incentives = {
      live: live({ borrow: [campaign(NOW_MS + 1)], collateral: [] }),
      history: async (campaigns) => {
        asked.push([...campaigns]);
        return all([...campaigns.keys()], () => ({ points: [{ atMs: 5, aprPct: pct('2') }] }));
      },
    };
    await w.run('incentives:1');
    await w.run('incentive-history:1');
    expect(asked).toEqual([[[firstMarket.id, ['c']]]]);
    await w.time.advance(10);
    w.ports.incentives = { ...w.ports.incentives, live: live({ borrow: [], collateral: [] }) };
    await w.run('incentives:1');
    await w.run('incentive-history:1');
    await w.run('incentive-history:1');
    expect(asked).toHaveLength(1);
    const points = w.facts().groups.incentiveHistory.items.get(firstMarket.id)?.value.points;
    expect(points?.map(({ atMs, aprPct }) => [atMs, aprPct.toFixed()])).toEqual([
      [5, '2'],
      [NOW_MS + 10, '0'],
    ]);
  });

  test('behavior: what an earlier campaign paid is remembered', () => {
    const step = (atMs: number, apr: string) => ({ atMs, aprPct: pct(apr) });
    const known = { points: [step(1, '1'), step(5, '2')] };
    expect(continueHistory({ points: [step(4, '3')] }, known).points.map(({ atMs }) => atMs)).toEqual([1, 4]);
    expect(continueHistory({ points: [] }, known)).toBe(known);
  });
});
