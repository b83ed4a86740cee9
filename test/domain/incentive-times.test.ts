import { describe, expect, test } from 'vitest';
import { hasUnknown, incentiveMean, incentiveRecord } from '../../src/domain/apy/campaigns.ts';
import { endUnlisted, observedSteps, uniteCampaigns } from '../../src/domain/apy/continue-campaigns.ts';
import { stepAverage, trailingOf, windowMean } from '../../src/domain/apy/series.ts';
import type { CampaignRecord } from '../../src/domain/facts.ts';
import { recordedIncentives, runningIncentive } from '../../src/domain/market/incentives.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { chainOf, completeFacts, DAY, daily, marketOf, NOW_MS, withItem } from './world.ts';

/** Campaigns and histories at the exact times of their starts, changes and ends. */

const of = (value: number | string) => new Decimal(value);
const chain = chainOf(1);
const market = marketOf(chain, 'weETH', 'WETH');

describe('incentives over time', () => {
  const START = NOW_MS - 60 * DAY;
  const campaign = (change: Partial<CampaignRecord> = {}): CampaignRecord => ({
    id: 'a',
    side: 'borrow',
    symbol: 'X',
    startsAtMs: START,
    endsAtMs: START + 10 * DAY,
    steps: [{ atMs: START, ratePct: of(4) }],
    ...change,
  });
  const record = (...campaigns: CampaignRecord[]) => incentiveRecord({ campaigns }, 'borrow');
  const step = (atMs: number, pct: number) => ({ atMs, aprPct: of(pct) });

  test('behavior: the first rate holds from the start if it was recorded within exactly a day', () => {
    const at = (afterMs: number) => record(campaign({ steps: [{ atMs: START + afterMs, ratePct: of(4) }] }));
    expect(at(DAY)).toEqual({ steps: [step(START, 4), step(START + 10 * DAY, 0)], unknown: [] });
    expect(at(DAY + 1)).toEqual({
      steps: [step(START + DAY + 1, 4), step(START + 10 * DAY, 0)],
      unknown: [{ fromMs: START, toMs: START + DAY + 1 }],
    });
  });

  test('behavior: rates from before its start hold from its start, the newest of them', () => {
    const steps = [-3, -1, 2].map((day, i) => ({ atMs: START + day * DAY, ratePct: of(i + 1) }));
    expect(record(campaign({ steps })).steps).toEqual([
      step(START, 2),
      step(START + 2 * DAY, 3),
      step(START + 10 * DAY, 0),
    ]);
  });

  test('behavior: a rate recorded at its end or later pays nothing', () => {
    const late = (day: number) => record(campaign({ steps: [{ atMs: START + day * DAY, ratePct: of(4) }] }));
    expect(late(10)).toEqual({ steps: [], unknown: [{ fromMs: START, toMs: START + 10 * DAY }] });
    expect(late(12)).toEqual({ steps: [], unknown: [{ fromMs: START, toMs: START + 10 * DAY }] });
    expect(late(9.99).steps).toHaveLength(2);
  });

  test('behavior: a campaign without a rate is unknown while it ran; one that never ran is nothing', () => {
    expect(record(campaign({ steps: [] }))).toEqual({
      steps: [],
      unknown: [{ fromMs: START, toMs: START + 10 * DAY }],
    });
    expect(record(campaign({ endsAtMs: START, steps: [] }))).toEqual({ steps: [], unknown: [] });
    expect(record(campaign({ endsAtMs: START }))).toEqual({ steps: [], unknown: [] });
  });

  test('behavior: each side has its own', () => {
    const both = {
      campaigns: [campaign(), campaign({ side: 'collateral', steps: [{ atMs: START, ratePct: of(7) }] })],
    };
    expect(incentiveRecord(both, 'collateral').steps[0]).toEqual(step(START, 7));
    expect(incentiveRecord(both, 'borrow').steps[0]).toEqual(step(START, 4));
  });

  test('behavior: two campaigns that change at one time are one step', () => {
    const second = campaign({
      id: 'b',
      startsAtMs: START + 10 * DAY,
      endsAtMs: START + 12 * DAY,
      steps: [{ atMs: START + 10 * DAY, ratePct: of(3) }],
    });
    expect(record(campaign(), second).steps).toEqual([
      step(START, 4),
      step(START + 10 * DAY, 3),
      step(START + 12 * DAY, 0),
    ]);
    // In every order of the list.
    expect(record(second, campaign()).steps).toEqual(record(campaign(), second).steps);
  });

  test('hasUnknown: a span that only touches a window is outside of it', () => {
    const unknown = { steps: [], unknown: [{ fromMs: 100, toMs: 200 }] };
    const within = (fromMs: number, toMs: number) => hasUnknown(unknown, fromMs, toMs);
    expect([within(0, 100), within(0, 101), within(200, 300), within(199, 300), within(120, 130)]).toEqual([
      false,
      true,
      false,
      true,
      true,
    ]);
    expect(incentiveMean({ steps: [], unknown: [] }, NOW_MS, 30)?.toFixed()).toBe('0');
  });

  test('stepAverage: a span of nothing has no average, neither has one that ends before it begins', () => {
    expect(() => stepAverage([], 10, 9)).toThrow(RangeError);
    expect(stepAverage([step(0, 5)], 9, 10).toFixed()).toBe('5');
    expect(stepAverage([step(0, 5), step(10, 9)], 0, 10).toFixed()).toBe('5');
  });

  test('observedSteps: a step is added when its rate changes, and later than the last', () => {
    const listed = (pct: number) => ({ ...campaign(), aprPct: of(pct) });
    const known = [{ atMs: 100, ratePct: of(4) }];
    expect(observedSteps(undefined, listed(4), 100)).toEqual(known);
    expect(observedSteps(known, listed(4), 200)).toBe(known);
    expect(observedSteps(known, listed(5), 100)).toBe(known);
    expect(observedSteps(known, listed(5), 99)).toBe(known);
    expect(observedSteps(known, listed(5), 101)).toEqual([...known, { atMs: 101, ratePct: of(5) }]);
  });

  test('endUnlisted: ends campaigns that should run, at their own start at the earliest', () => {
    const running = campaign();
    expect(endUnlisted(running, true, START + DAY)).toBe(running);
    expect(endUnlisted(running, false, running.endsAtMs)).toBe(running);
    expect(endUnlisted(running, false, running.endsAtMs - 1).endsAtMs).toBe(running.endsAtMs - 1);
    expect(endUnlisted(running, false, START - DAY).endsAtMs).toBe(START);
  });

  test('uniteCampaigns: the first reading decides, and the other continues its steps; ordered by start, then id', () => {
    const early = campaign({ id: 'z', startsAtMs: START - DAY });
    const renamed = campaign({ symbol: 'Y', steps: [{ atMs: START + DAY, ratePct: of(6) }] });
    const other = campaign({ id: 'b' });
    const united = uniteCampaigns([renamed, other], [campaign(), early]);
    expect(united.map(({ id, symbol }) => [id, symbol])).toEqual([
      ['z', 'X'],
      ['a', 'Y'],
      ['b', 'X'],
    ]);
    expect(united[1]?.steps).toEqual([
      { atMs: START, ratePct: of(4) },
      { atMs: START + DAY, ratePct: of(6) },
    ]);
    // The same id on the other side is another campaign.
    expect(uniteCampaigns([campaign({ side: 'collateral' })], [campaign()])).toHaveLength(2);
  });

  test('runningIncentive: from its start on, before its end, above zero; the highest first', () => {
    const paying = (id: string, pct: number, fromMs: number, toMs: number) => ({
      id,
      symbol: 'X',
      aprPct: of(pct),
      startsAtMs: fromMs,
      endsAtMs: toMs,
    });
    const runs = (borrow: ReturnType<typeof paying>[]) =>
      runningIncentive({ borrow, collateral: [] }, 'borrow', NOW_MS);
    const ids = (...all: ReturnType<typeof paying>[]) => runs(all)?.campaigns.map(({ id }) => id);
    expect(ids(paying('a', 1, NOW_MS, NOW_MS + 1), paying('b', 3, NOW_MS - 5, NOW_MS + 1))).toEqual(['b', 'a']);
    expect(ids(paying('a', 1, NOW_MS + 1, NOW_MS + 9))).toBeUndefined();
    expect(ids(paying('a', 1, NOW_MS - 9, NOW_MS))).toBeUndefined();
    expect(ids(paying('a', 0, NOW_MS - 9, NOW_MS + 9))).toBeUndefined();
    expect(runs([paying('a', 1, 0, NOW_MS + 1), paying('b', 3, 0, NOW_MS + 1)])?.aprPct.toFixed()).toBe('4');
    expect([runs([]), runningIncentive(undefined, 'borrow', NOW_MS)]).toEqual([null, undefined]);
  });

  test('runningIncentive: what not everybody can earn is in no sum, and what could not be read makes it a lower bound', () => {
    const paying = { id: 'a', symbol: 'X', aprPct: of(2), startsAtMs: 0, endsAtMs: NOW_MS + DAY };
    const restricted = [
      { ...paying, id: 'w', aprPct: of(25), side: 'borrow', reason: 'whitelist' },
      { ...paying, id: 'over', endsAtMs: NOW_MS, side: 'borrow', reason: 'whitelist' },
      { ...paying, id: 'p', side: 'collateral', reason: 'no_market_price' },
    ] as const;
    const unread = [{ side: 'collateral' }] as const;
    const measured = { borrow: [paying], collateral: [], restricted, unread };
    const borrowed = runningIncentive(measured, 'borrow', NOW_MS);
    expect([borrowed?.aprPct.toFixed(), borrowed?.restricted.map(({ id }) => id), borrowed?.isLowerBound]).toEqual([
      '2',
      ['w'],
      false,
    ]);
    const posted = runningIncentive(measured, 'collateral', NOW_MS);
    expect([posted?.aprPct.toFixed(), posted?.campaigns, posted?.restricted.length, posted?.isLowerBound]).toEqual([
      '0',
      [],
      1,
      true,
    ]);
    // Of a side with nothing else, nothing is known.
    expect(runningIncentive({ borrow: [paying], collateral: [], unread }, 'collateral', NOW_MS)).toBeUndefined();
  });

  test('recordedIncentives: a running campaign without a record counts from its observation', () => {
    const facts = completeFacts(chain);
    const live = { id: 'a', symbol: 'X', aprPct: of(4), startsAtMs: START, endsAtMs: NOW_MS + DAY };
    const observed = withItem(facts, 'incentives', market.id, {
      value: { borrow: [live], collateral: [] },
      asOfMs: NOW_MS - 5,
    });
    const added = { ...campaign({ endsAtMs: NOW_MS + DAY }), steps: [{ atMs: NOW_MS - 5, ratePct: of(4) }] };
    expect(recordedIncentives(observed, market.id)?.campaigns).toEqual([added]);
    const recorded = withItem(observed, 'incentiveHistory', market.id, { value: { campaigns: [campaign()] } });
    expect(recordedIncentives(recorded, market.id)?.campaigns).toEqual([campaign()]);
    const other = withItem(observed, 'incentiveHistory', market.id, {
      value: { campaigns: [campaign({ side: 'collateral' })] },
    });
    expect(recordedIncentives(other, market.id)?.campaigns).toHaveLength(2);
    const failure = { reason: 'timeout', source: 's', sinceMs: 1 } as const;
    const failed = withItem(observed, 'incentiveHistory', market.id, { failure });
    expect(recordedIncentives(failed, market.id)).toBeUndefined();
    const unread = withItem(observed, 'incentiveHistory', market.id, {});
    expect(recordedIncentives(unread, market.id)?.campaigns).toEqual([added]);
    const unlisted = withItem(recorded, 'incentives', market.id, {});
    expect(recordedIncentives(unlisted, market.id)?.campaigns).toEqual([campaign()]);
  });
});

describe('histories', () => {
  test('behavior: points of 97 days before the newest count, older ones only for how far back it goes', () => {
    const points = [{ atMs: NOW_MS - 400 * DAY, ratePct: of(500) }, ...daily(95, () => '5')];
    const made = trailingOf(points);
    expect(made?.firstMs).toBe(NOW_MS - 400 * DAY);
    expect(made?.dayMs).toHaveLength(95);
    const last = Math.floor(NOW_MS / DAY) * DAY;
    const edge = (beforeMs: number) =>
      trailingOf([
        { atMs: last - 97 * DAY - beforeMs, ratePct: of(1) },
        { atMs: last, ratePct: of(1) },
      ])?.dayMs.length;
    expect([edge(0), edge(1)]).toEqual([2, 1]);
  });

  test('behavior: a window without a point in it has no mean', () => {
    const old = trailingOf([
      { atMs: NOW_MS - 80 * DAY, ratePct: of(1) },
      { atMs: NOW_MS - 70 * DAY, ratePct: of(1) },
    ]);
    expect(old && windowMean(old, NOW_MS, 30)).toBeUndefined();
    expect(old && windowMean(old, NOW_MS - 60 * DAY, 30)).toBeUndefined();
  });
});
