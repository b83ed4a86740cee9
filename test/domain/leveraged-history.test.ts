import { describe, expect, it } from 'vitest';
import type { IncentiveRecord } from '../../src/domain/apy/campaigns.ts';
import { historicalMeans } from '../../src/domain/apy/history.ts';
import { combineDays, leveragedHistory, withIncentives, withoutYield } from '../../src/domain/apy/leveraged-history.ts';
import { type Trailing, trailingOf } from '../../src/domain/apy/series.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { RateHistory } from '../../src/shared/rate-history.ts';

const DAY = 86_400_000;
const FIRST = Date.UTC(2026, 0, 1);
const days = (...rates: readonly (string | null)[]): RateHistory =>
  rates.flatMap((rate, day) => (rate === null ? [] : [{ atMs: FIRST + day * DAY, ratePct: new Decimal(rate) }]));
const shown = (history: RateHistory) =>
  history.map(({ atMs, ratePct }) => `${(atMs - FIRST) / DAY}: ${ratePct.toFixed()}`);
const NONE: IncentiveRecord = { steps: [], unknown: [] };

describe('leveragedHistory', () => {
  it('default: collateral APY * L − net borrow APY * (L − 1), without rounding', () => {
    const history = leveragedHistory(days('8.123456789012345678', '4'), days('3.1', '5.5'), new Decimal('3.5'));
    // 8.123456789012345678 * 3.5 − 3.1 * 2.5, and 4 * 3.5 − 5.5 * 2.5
    expect(shown(history)).toEqual(['0: 20.682098761543209873', '1: 0.25']);
  });

  it('behavior: a day that lacks one of the rates is left out, and a negative result stays', () => {
    const history = leveragedHistory(days('1', null, '2', '3'), days(null, '1', '10', '1'), new Decimal(2));
    expect(shown(history)).toEqual(['2: -6', '3: 5']);
  });

  it('behavior: a leverage of 1 has no debt', () => {
    expect(shown(leveragedHistory(days('8'), days('1000'), new Decimal(1)))).toEqual(['0: 8']);
  });

  it('behavior: no day in common, or no day at all, is an empty history', () => {
    expect(leveragedHistory(days('1'), days(null, '1'), new Decimal(2))).toEqual([]);
    expect(leveragedHistory([], [], new Decimal(2))).toEqual([]);
  });
});

describe('combineDays', () => {
  it('default: the first rate is the earned one', () => {
    expect(shown(combineDays(days('7', '8'), days('2', '2.5'), (a, b) => a.minus(b)))).toEqual(['0: 5', '1: 5.5']);
  });
});

describe('withoutYield', () => {
  it('default: zero on the days of the other history', () => {
    expect(shown(withoutYield(days('3', null, '4')))).toEqual(['0: 0', '2: 0']);
  });
});

describe('withIncentives', () => {
  /** 4 % from noon of day 1, 2 % from day 2, nothing from day 3. */
  const record: IncentiveRecord = {
    steps: [
      { atMs: FIRST + 1.5 * DAY, aprPct: new Decimal(4) },
      { atMs: FIRST + 2 * DAY, aprPct: new Decimal(2) },
      { atMs: FIRST + 3 * DAY, aprPct: new Decimal(0) },
    ],
    unknown: [],
  };
  const later = FIRST + 10 * DAY;

  it('default: adds to an earned APY and lowers a paid one, each day by its own mean', () => {
    const history = days('5', '5', '5', '5');
    expect(shown(withIncentives(history, record, 'earned', later))).toEqual(['0: 5', '1: 7', '2: 7', '3: 5']);
    expect(shown(withIncentives(history, record, 'paid', later))).toEqual(['0: 5', '1: 3', '2: 3', '3: 5']);
  });

  it('behavior: the present day counts until now, and a day ahead is left out', () => {
    const now = FIRST + 1.75 * DAY;
    expect(shown(withIncentives(days('5', '5', '5'), record, 'earned', now))).toEqual([
      '0: 5',
      '1: 6.333333333333333333',
    ]);
    expect(withIncentives(days('5'), NONE, 'earned', FIRST)).toEqual([]);
  });

  it('behavior: a day that overlaps an unknown campaign is left out; its neighbours stay', () => {
    const unknown = [{ fromMs: FIRST + 1.9 * DAY, toMs: FIRST + 2 * DAY }];
    const history = withIncentives(days('5', '5', '5'), { ...record, unknown }, 'paid', later);
    expect(shown(history)).toEqual(['0: 5', '2: 3']);
  });
});

describe('the mean of the points, and the trailing mean of the strategy', () => {
  const THIRTY = 30;
  const endMs = FIRST + (THIRTY - 1) * DAY + DAY / 2;
  const leverage = new Decimal('3.5');
  /** The collateral earns 1 % more on each day; its first two days are missing, and the sixth of the borrow rate. */
  const earned = days(...Array.from({ length: THIRTY }, (_, day) => (day < 2 ? null : String(5 + day))));
  const paid = days(...Array.from({ length: THIRTY }, (_, day) => (day === 5 ? null : day < 2 ? '20' : '4')));
  const meanOf = (values: readonly Decimal[]) => values.reduce((sum, value) => sum.plus(value)).div(values.length);
  const trailing = (collateral: RateHistory, borrow: RateHistory) =>
    historicalMeans({
      collateral: trailingOf(collateral),
      collateralIncentive: NONE,
      borrow: trailingOf(borrow) as Trailing,
      borrowIncentive: NONE,
      safeLeverage: leverage,
      endMs,
    }).leverageApyPct.avg30d;
  const ofPoints = (collateral: RateHistory, borrow: RateHistory) =>
    meanOf(leveragedHistory(collateral, borrow, leverage).map(({ ratePct }) => ratePct));

  it('default: equal when every day has both rates', () => {
    const [every, other] = [days(...Array(THIRTY).fill('7.5')), days(...Array(THIRTY).fill('3'))];
    expect([trailing(every, other), ofPoints(every, other)].map((mean) => mean?.toFixed())).toEqual(['18.75', '18.75']);
  });

  it('behavior: the points are the days of both rates; the trailing mean levers the mean of each rate over its own days', () => {
    const rates = (history: RateHistory) => history.map(({ ratePct }) => ratePct);
    const levered = (collateral: Decimal, borrow: Decimal) =>
      collateral.times(leverage).minus(borrow.times(leverage.minus(1)));
    const common = (history: RateHistory) => history.filter(({ atMs }) => ![0, 1, 5].includes((atMs - FIRST) / DAY));
    expect(trailing(earned, paid)?.toFixed(9)).toBe(levered(meanOf(rates(earned)), meanOf(rates(paid))).toFixed(9));
    expect(ofPoints(earned, paid).toFixed(9)).toBe(
      levered(meanOf(rates(common(earned))), meanOf(rates(common(paid)))).toFixed(9),
    );
    expect(trailing(earned, paid)?.toFixed(2)).not.toBe(ofPoints(earned, paid).toFixed(2));
  });
});
