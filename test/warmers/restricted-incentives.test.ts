import { describe, expect, test } from 'vitest';
import type { IncentiveCampaign, MarketIncentives } from '../../src/domain/facts.ts';
import { all, firstMarket, NOW_MS, pct, world } from './world.ts';

const campaign = (endsAtMs: number): IncentiveCampaign => ({
  id: 'c',
  symbol: 'X',
  aprPct: pct('2'),
  startsAtMs: 0,
  endsAtMs,
});
const live = (incentives: MarketIncentives) => async (_chain: unknown, ids: readonly string[]) =>
  all(ids, (id) => (id === firstMarket.id ? incentives : { borrow: [], collateral: [] }));

describe('restricted and unread campaigns', () => {
  test('behavior: a campaign that becomes restricted leaves the sum at once, and the last one after a whole cadence', async () => {
    const w = world();
    const one = campaign(NOW_MS * 2);
    const [a, b] = [
      { ...one, id: 'a' },
      { ...one, id: 'b' },
    ];
    const closed = (...all: IncentiveCampaign[]) =>
      all.map((each) => ({ ...each, side: 'borrow' as const, reason: 'whitelist' as const }));
    const earned = async (incentives: MarketIncentives) => {
      w.ports.incentives = { ...w.ports.incentives, live: live(incentives) };
      await w.run('incentives:1');
      return w
        .facts()
        .groups.incentives.items.get(firstMarket.id)
        ?.value.borrow.map(({ id }) => id);
    };
    expect(await earned({ borrow: [a, b], collateral: [] })).toEqual(['a', 'b']);
    expect(await earned({ borrow: [b], collateral: [], restricted: closed(a) })).toEqual(['b']);
    const none = { borrow: [], collateral: [], restricted: closed(a, b) };
    expect(await earned(none)).toEqual(['b']);
    await w.time.advance(1_800_000);
    expect(await earned(none)).toEqual([]);
  });

  test('behavior: a recorded campaign whose APR cannot be read goes on, and its market stays at last-good for a cadence', async () => {
    const w = world();
    const known = { ...campaign(NOW_MS * 2), id: 'a' };
    const other = { ...campaign(NOW_MS * 2), id: 'b' };
    w.ports.incentives = { ...w.ports.incentives, live: live({ borrow: [known, other], collateral: [] }) };
    await w.run('incentives:1');
    await w.run('incentive-history:1');
    const unread = [{ side: 'borrow' as const, id: 'a' }];
    w.ports.incentives = { ...w.ports.incentives, live: live({ borrow: [other], collateral: [], unread }) };
    await w.run('incentives:1');
    const state = () => w.facts().groups.incentives;
    expect(state().items.get(firstMarket.id)?.value.borrow).toHaveLength(2);
    await w.time.advance(1_800_000);
    await w.run('incentives:1');
    expect(state().items.get(firstMarket.id)?.value).toMatchObject({ borrow: [{ id: 'b' }], unread });
    await w.run('incentive-history:1');
    const records = w.facts().groups.incentiveHistory.items.get(firstMarket.id)?.value.campaigns;
    expect(records?.find(({ id }) => id === 'a')?.endsAtMs).toBe(NOW_MS * 2);
  });
});
