import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { incentiveMean, incentiveRecord } from '../../src/domain/apy/campaigns.ts';
import { continueSteps } from '../../src/domain/apy/continue-campaigns.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { DAY, NOW_MS } from './world.ts';

describe('incentiveRecord', () => {
  const START = NOW_MS - 60 * DAY;
  const campaign = (id: string, fromDay: number, toDay: number, steps: readonly (readonly [number, string])[]) => ({
    id,
    side: 'borrow' as const,
    symbol: 'X',
    startsAtMs: START + fromDay * DAY,
    endsAtMs: START + toDay * DAY,
    steps: steps.map(([day, pct]) => ({ atMs: START + day * DAY, ratePct: new Decimal(pct) })),
  });
  const shown = (...campaigns: ReturnType<typeof campaign>[]) =>
    incentiveRecord({ campaigns }, 'borrow').steps.map(({ atMs, aprPct }) => [(atMs - START) / DAY, aprPct.toNumber()]);

  test('default: overlapping campaigns add up, and one continues after the end of the other', () => {
    expect(
      shown(
        campaign('a', 0, 20, [[0, '4']]),
        campaign('b', 10, 40, [
          [10, '2'],
          [15, '3'],
        ]),
      ),
    ).toEqual([
      [0, 4],
      [10, 6],
      [15, 7],
      [20, 3],
      [40, 0],
    ]);
  });

  test('behavior: a rolled campaign keeps its past at any later rate', () => {
    const first = campaign('a', 0, 30, [[0, '10']]);
    const before = incentiveMean(incentiveRecord({ campaigns: [first] }, 'borrow'), START + 30 * DAY, 30);
    const rolled = { campaigns: [first, campaign('b', 30, 60, [[30, '1']])] };
    expect(incentiveMean(incentiveRecord(rolled, 'borrow'), START + 30 * DAY, 30)?.eq(before ?? 0)).toBe(true);
    expect(incentiveMean(incentiveRecord(rolled, 'borrow'), START + 60 * DAY, 60)?.toFixed()).toBe('5.5');
  });

  test('behavior: the first step counts from the start within a day; a longer gap remains', () => {
    expect(shown(campaign('a', 0, 10, [[0.5, '4']]))[0]).toEqual([0, 4]);
    const late = incentiveRecord({ campaigns: [campaign('a', 0, 40, [[20, '4']])] }, 'borrow');
    expect(late.unknown).toEqual([{ fromMs: START, toMs: START + 20 * DAY }]);
    expect(incentiveMean(late, START + 60 * DAY, 60)).toBeUndefined();
    expect(incentiveMean(late, START + 60 * DAY, 30)?.toNumber()).toBeCloseTo(4 / 3, 12);
  });

  test('property: the mean of all together is the sum of the means of each', () => {
    const one = fc.record({
      fromDay: fc.integer({ min: 0, max: 50 }),
      days: fc.integer({ min: 0, max: 40 }),
      pct: fc.integer({ min: 0, max: 900 }),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 6 }), (all) => {
        const campaigns = all.map(({ fromDay, days, pct }, i) =>
          campaign(String(i), fromDay, fromDay + days, [[fromDay, (pct / 100).toFixed(2)]]),
        );
        const mean = (some: typeof campaigns) =>
          incentiveMean(incentiveRecord({ campaigns: some }, 'borrow'), START + 60 * DAY, 60) ??
          new Decimal(Number.NaN);
        const sum = campaigns.reduce((total, each) => total.plus(mean([each])), new Decimal(0));
        expect(mean(campaigns).minus(sum).abs().lt('1e-15')).toBe(true);
      }),
    );
  });
});

describe('continueSteps', () => {
  const steps = (...points: readonly (readonly [number, string])[]) =>
    points.map(([atMs, pct]) => ({ atMs, ratePct: new Decimal(pct) }));

  test('default: new steps replace known ones of the same time; earlier and later ones stay', () => {
    const known = steps([10, '1'], [20, '2'], [30, '3'], [40, '4']);
    expect(continueSteps(steps([20, '2.5'], [25, '2.6'], [30, '3']), known)).toEqual(
      steps([10, '1'], [20, '2.5'], [25, '2.6'], [30, '3'], [40, '4']),
    );
    expect(continueSteps(steps([15, '9']), known)).toEqual(
      steps([10, '1'], [15, '9'], [20, '2'], [30, '3'], [40, '4']),
    );
  });

  test('behavior: an empty or missing answer removes nothing', () => {
    const known = steps([10, '1']);
    expect([continueSteps(steps(), known), continueSteps(undefined, known)]).toEqual([known, known]);
    expect(continueSteps(known, undefined)).toEqual(known);
    expect(continueSteps(steps(), undefined)).toEqual(steps());
  });

  test('property: the result is sorted and has all new steps', () => {
    const any = fc
      .uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 12 })
      .map((times) => steps(...times.sort((a, b) => a - b).map((atMs) => [atMs, String(atMs % 7)] as const)));
    fc.assert(
      fc.property(any, any, (fresh, known) => {
        const times = (continueSteps(fresh, known) ?? steps()).map(({ atMs }) => atMs);
        expect(times).toEqual([...times].sort((a, b) => a - b));
        for (const { atMs } of fresh) expect(times).toContain(atMs);
      }),
    );
  });
});
