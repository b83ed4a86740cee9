import { describe, expect, test } from 'vitest';
import { incentiveRecord } from '../../src/domain/apy/campaigns.ts';
import type { IncentiveCampaign, MarketIncentives } from '../../src/domain/facts.ts';
import type { RateHistory } from '../../src/shared/rate-history.ts';
import { doubtCampaigns } from '../../src/warmers/incentives.ts';
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

  test('behavior: a campaign with the same id on both sides is compared and missed by side', async () => {
    const w = world();
    const both = { borrow: [campaign(NOW_MS * 2)], collateral: [{ ...campaign(NOW_MS * 2), aprPct: pct('9') }] };
    w.ports.incentives = { ...w.ports.incentives, live: live(both) };
    await w.run('incentives:1');
    await w.time.advance(1_000);
    await w.run('incentives:1');
    const state = () => w.facts().groups.incentives;
    expect([state().items.get(firstMarket.id)?.asOfMs, state().failures.size]).toEqual([NOW_MS + 1_000, 0]);
    w.ports.incentives = { ...w.ports.incentives, live: live({ ...both, collateral: [] }) };
    await w.run('incentives:1');
    expect(state().items.get(firstMarket.id)?.value.collateral).toHaveLength(1);
    expect(state().failures.get(firstMarket.id)?.reason).toBe('missing');
  });

  test('behavior: rejects an empty answer while a known campaign should still run', async () => {
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

  describe('a campaign missing from a valid list', () => {
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

    test('behavior: stays at last-good with its age, and returns', async () => {
      const { w, list } = await listed(NOW_MS * 2);
      await w.time.advance(CADENCE_MS);
      expect(await list([])).toEqual([['c'], NOW_MS, 'missing']);
      await w.time.advance(5_000);
      expect(await list([campaign(NOW_MS * 2)])).toEqual([['c'], NOW_MS + CADENCE_MS + 5_000, undefined]);
    });

    test('behavior: has ended once lists have omitted it for a cadence', async () => {
      const { w, list } = await listed(NOW_MS * 2);
      expect(await list([])).toEqual([['c'], NOW_MS, 'missing']);
      await w.time.advance(CADENCE_MS - 1);
      expect(await list([])).toEqual([['c'], NOW_MS, 'missing']);
      await w.time.advance(1);
      expect(await list([])).toEqual([[], NOW_MS + CADENCE_MS, undefined]);
    });

    test('behavior: has ended after its own end', async () => {
      const { w, list } = await listed(NOW_MS + 10);
      await w.time.advance(10);
      expect(await list([])).toEqual([[], NOW_MS + 10, undefined]);
    });
  });

  test('behavior: a market without campaigns beside one with campaigns is a measured none', async () => {
    const w = world();
    w.ports.incentives = { ...w.ports.incentives, live: live({ borrow: [campaign(NOW_MS + 1)], collateral: [] }) };
    await w.run('incentives:1');
    expect(w.facts().groups.incentives.items.size).toBe(ethereum.markets.length);
  });

  describe('doubtCampaigns', () => {
    const paying = (id: string, symbol: string, apr: string): IncentiveCampaign => ({
      id,
      symbol,
      aprPct: pct(apr),
      startsAtMs: NOW_MS - 500,
      endsAtMs: NOW_MS + 500,
    });
    const on = (...borrow: IncentiveCampaign[]): MarketIncentives => ({ borrow, collateral: [] });
    const known = on(paying('a', 'X', '4'), paying('big', 'Y', '80'));

    test.each([
      ['the same campaign at a factor of 100', on(paying('a', 'X', '400')), known, '400'],
      ['the same campaign at a factor of 0.01', on(paying('a', 'X', '0.04')), known, '0.04'],
      ['the same campaign, dearer by half', on(paying('a', 'X', '6')), known, undefined],
      ['a new one far above what its token paid here', on(paying('b', 'X', '90')), known, '90'],
      ['a new one as high as its token paid here', on(paying('b', 'Y', '90')), known, undefined],
      ['a new one of an unknown token', on(paying('b', 'Z', '60')), known, '60'],
      ['a new one of an unknown token, within bounds', on(paying('b', 'Z', '50')), known, undefined],
      ['the first of a market', on(paying('b', 'Z', '999')), undefined, '999'],
      [
        'combines the rates of both sides',
        { ...on(paying('a', 'X', '400')), collateral: [paying('c', 'X', '5')] },
        known,
        '405',
      ],
    ] as const)('%s', (_name, fresh, before, reported) => {
      expect(doubtCampaigns(fresh, before)?.toFixed()).toBe(reported);
    });

    test('the last good one remains until three readings agree', async () => {
      const w = world();
      const shown = async (apr: string) => {
        const list = async (_chain: unknown, ids: readonly string[]) =>
          all(ids, (id) => (id === firstMarket.id ? on(paying('a', 'X', apr)) : on()));
        w.ports.incentives = { ...w.ports.incentives, live: list };
        await w.time.advance(1_800_000);
        await w.run('incentives:1');
        return w.facts().groups.incentives.items.get(firstMarket.id)?.value.borrow[0]?.aprPct.toFixed();
      };
      expect(await shown('4')).toBe('4');
      expect([await shown('400'), await shown('400')]).toEqual(['4', '4']);
      expect(await shown('4')).toBe('4');
      expect([await shown('400'), await shown('400'), await shown('400')]).toEqual(['4', '4', '400']);
    });
  });

  describe('payments of campaigns', () => {
    const named = (id: string, startsAtMs: number, endsAtMs: number, apr = '2'): IncentiveCampaign => ({
      id,
      symbol: 'X',
      aprPct: pct(apr),
      startsAtMs,
      endsAtMs,
    });
    const steps = (...points: readonly (readonly [number, string])[]) =>
      points.map(([atMs, apr]) => ({ atMs, ratePct: pct(apr) }));
    const paidOn = (w: ReturnType<typeof world>, side: 'borrow' | 'collateral') => {
      const history = w.facts().groups.incentiveHistory.items.get(firstMarket.id)?.value;
      const record = history && incentiveRecord(history, side);
      return record?.steps.map(({ atMs, aprPct }) => [atMs - NOW_MS, aprPct.toFixed()]);
    };
    const actual = (w: ReturnType<typeof world>, records: Readonly<Record<string, RateHistory>>) => {
      w.ports.incentives = {
        ...w.ports.incentives,
        history: async (ids) => ({
          values: new Map(ids.flatMap((id) => (records[id] === undefined ? [] : [[id, records[id]] as const]))),
          failures: new Map(ids.flatMap((id) => (records[id] === undefined ? [[id, 'missing' as const]] : []))),
        }),
      };
    };
    const elsewhere = { borrow: [named('elsewhere', 0, NOW_MS * 2)], collateral: [] };
    const run = async (w: ReturnType<typeof world>, incentives: MarketIncentives) => {
      const list = async (_chain: unknown, ids: readonly string[]) =>
        all(ids, (id) =>
          id === firstMarket.id
            ? incentives
            : id === ethereum.markets[1]?.id
              ? elsewhere
              : { borrow: [], collateral: [] },
        );
      w.ports.incentives = { ...w.ports.incentives, live: list };
      await w.run('incentives:1');
      await w.run('incentive-history:1');
    };

    test.each(['borrow', 'collateral'] as const)('a rolling campaign on the %s side keeps its past', async (side) => {
      const w = world();
      const on = (...campaigns: IncentiveCampaign[]) => ({ borrow: [], collateral: [], [side]: campaigns });
      actual(w, { a: steps([NOW_MS - 500, '40']), b: steps([NOW_MS + 10, '1']) });
      await run(w, on(named('a', NOW_MS - 500, NOW_MS + 10, '40')));
      await w.time.advance(20);
      await run(w, on(named('b', NOW_MS + 10, NOW_MS + 900, '1')));
      expect(paidOn(w, side)).toEqual([
        [-500, '40'],
        [10, '1'],
        [900, '0'],
      ]);
      expect(paidOn(w, side === 'borrow' ? 'collateral' : 'borrow')).toEqual([]);
    });

    test('the payments of two overlapping campaigns stay after one ends', async () => {
      const w = world();
      actual(w, { a: steps([NOW_MS - 500, '4']), b: steps([NOW_MS - 100, '3']) });
      const [a, b] = [named('a', NOW_MS - 500, NOW_MS + 10, '4'), named('b', NOW_MS - 100, NOW_MS + 900, '3')];
      await run(w, { borrow: [a, b], collateral: [] });
      const before = paidOn(w, 'borrow');
      await w.time.advance(20);
      actual(w, { b: steps([NOW_MS - 100, '3']) });
      await run(w, { borrow: [b], collateral: [] });
      expect(paidOn(w, 'borrow')).toEqual(before);
      expect(before).toEqual([
        [-500, '4'],
        [-100, '7'],
        [10, '3'],
        [900, '0'],
      ]);
    });

    test('an ended campaign at 400 % does not rewrite the past on a first start unless three readings agree', async () => {
      const w = world();
      const ended = named('a', NOW_MS - 500, NOW_MS - 10, '0');
      w.ports.incentives = {
        ...w.ports.incentives,
        ended: async () => new Map([[firstMarket.id, { borrow: [ended], collateral: [] }]]),
      };
      const shown = async (apr: string) => {
        actual(w, { a: steps([NOW_MS - 500, apr]) });
        await w.time.advance(1_800_000);
        await run(w, { borrow: [], collateral: [] });
        return paidOn(w, 'borrow')?.[0]?.[1];
      };
      expect([await shown('400'), await shown('400'), await shown('400')]).toEqual([undefined, undefined, '400']);
      const other = world();
      other.ports.incentives = { ...other.ports.incentives, ended: w.ports.incentives.ended };
      actual(other, { a: steps([NOW_MS - 500, '4']) });
      await run(other, { borrow: [], collateral: [] });
      expect(paidOn(other, 'borrow')?.[0]?.[1]).toBe('4');
    });

    test('contradicting records do not rewrite the past unless three readings agree', async () => {
      const w = world();
      const listed = { borrow: [named('a', NOW_MS - 500, NOW_MS + 10_000_000, '4')], collateral: [] };
      actual(w, { a: steps([NOW_MS - 500, '4']) });
      await run(w, listed);
      const before = paidOn(w, 'borrow');
      actual(w, { a: steps([NOW_MS - 500, '400']) });
      for (const reading of [1, 2]) {
        await run(w, listed);
        expect([reading, paidOn(w, 'borrow')]).toEqual([reading, before]);
        await w.time.advance(1_800_000);
      }
      await run(w, listed);
      expect(paidOn(w, 'borrow')?.[0]).toEqual([-500, '400']);
    });

    test('does not publish records of a new campaign far from its listed rate', async () => {
      const w = world();
      actual(w, { a: steps([NOW_MS - 500, '0.04']) });
      await run(w, { borrow: [named('a', NOW_MS - 500, NOW_MS + 10_000_000, '4')], collateral: [] });
      expect(w.facts().groups.incentiveHistory.failures.get(firstMarket.id)?.reason).toBe('implausible');
      expect(w.facts().groups.incentiveHistory.items.has(firstMarket.id)).toBe(false);
    });

    test('a cancelled campaign ends when the cancellation is noticed', async () => {
      const w = world();
      actual(w, { a: steps([NOW_MS - 500, '4']) });
      await run(w, { borrow: [named('a', NOW_MS - 500, NOW_MS + 10_000_000, '4')], collateral: [] });
      await run(w, { borrow: [], collateral: [] });
      await w.time.advance(2_000_000);
      await run(w, { borrow: [], collateral: [] });
      expect(paidOn(w, 'borrow')).toEqual([
        [-500, '4'],
        [2_000_000, '0'],
      ]);
    });

    test('fills in campaigns that ended earlier from the provider’s records', async () => {
      const w = world();
      actual(w, { old: steps([NOW_MS - 900, '6']) });
      w.ports.incentives = {
        ...w.ports.incentives,
        ended: async () =>
          new Map([[firstMarket.id, { borrow: [named('old', NOW_MS - 900, NOW_MS - 300)], collateral: [] }]]),
      };
      await run(w, { borrow: [], collateral: [] });
      expect(paidOn(w, 'borrow')).toEqual([
        [-900, '6'],
        [-300, '0'],
      ]);
    });

    test('uses our own observations without records of the provider, and no earlier values', async () => {
      const w = world();
      const DAY_MS = 86_400_000;
      actual(w, {});
      await run(w, { borrow: [named('a', NOW_MS - 9 * DAY_MS, NOW_MS + DAY_MS, '4')], collateral: [] });
      expect(paidOn(w, 'borrow')).toEqual([
        [0, '4'],
        [DAY_MS, '0'],
      ]);
      const history = w.facts().groups.incentiveHistory.items.get(firstMarket.id)?.value;
      expect(history && incentiveRecord(history, 'borrow').unknown).toEqual([
        { fromMs: NOW_MS - 9 * DAY_MS, toMs: NOW_MS },
      ]);
    });

    test('stored campaigns survive the loss of the snapshot, and an outage of the database has no effect', async () => {
      const w = world();
      actual(w, { a: steps([NOW_MS - 500, '4']) });
      await run(w, { borrow: [named('a', NOW_MS - 500, NOW_MS + 10, '4')], collateral: [] });
      const fresh = world();
      for (const [chainId, campaigns] of w.campaigns) fresh.campaigns.set(chainId, campaigns);
      await fresh.time.advance(50);
      await run(fresh, { borrow: [], collateral: [] });
      expect(paidOn(fresh, 'borrow')).toEqual([
        [-500, '4'],
        [10, '0'],
      ]);
      fresh.keepSamples = false;
      await run(fresh, { borrow: [], collateral: [] });
      expect(paidOn(fresh, 'borrow')).toHaveLength(2);
    });
  });
});
