import { MathLib } from '@morpho-org/blue-sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NOW_MS } from '../../../../../test/domain/world.ts';
import { Decimal } from '../../../../shared/decimal.ts';
import { canBeLiquidated, lowestHealthyPrice } from '../../domain/liquidation.ts';
import { type Fraction, type RecordedSample, recordOf, WINDOW_DAYS } from '../../domain/record.ts';
import { maxLeverageThrough, recordedMoves, survives } from '../../domain/survival.ts';
import { anyHolding, holding, market, opened } from './stress-world.ts';

const HOUR_MS = 3_600_000;
const PRICE = 1_070_000_000_000_000_000_000_000n;
/** About 5 % a year. */
const RATE = 1_547_125_957n;

/** Hourly samples up to now, with prices in millionths of `PRICE`. */
function hourly(
  hours: number,
  millionthsAt: (hour: number) => number = () => 1_000_000,
  rate = RATE,
): RecordedSample[] {
  return Array.from({ length: hours }, (_, hour) => ({
    atMs: NOW_MS - (hours - 1 - hour) * HOUR_MS,
    price: (PRICE * BigInt(millionthsAt(hour))) / 1_000_000n,
    borrowRate: rate,
  }));
}

const windowOf = (samples: readonly RecordedSample[], days: number) => {
  const found = recordOf(samples).windows.find((window) => window.days === days);
  if (!found) throw new Error(`windows of ${days} days expected`);
  return found;
};
const pct = ({ numerator, denominator }: Fraction) =>
  new Decimal(numerator).div(new Decimal(denominator)).minus(1).times(100).toNumber();
const moveOf = (samples: readonly RecordedSample[] | undefined, days: number, of = holding) => {
  const record = samples && recordOf(samples);
  const move = recordedMoves([{ holding: of, record }]).find(({ windowDays }) => windowDays === days);
  return { move, gaps: new Map(move?.gaps.map((gap) => [gap.field, gap])) };
};

describe('the record of a market', () => {
  test('a fall that takes three days counts in windows of 7 and 30 days whole, in those of a day by a third', () => {
    // From hour 400 on the price falls by 9 % within 72 hours, and stays there.
    const samples = hourly(40 * 24, (hour) => 1_000_000 - 1_250 * Math.min(72, Math.max(0, hour - 400)));
    const falls = WINDOW_DAYS.map((days) =>
      pct(windowOf(samples, days).worst?.fall ?? { numerator: 0n, denominator: 1n }),
    );
    expect(falls.map((fall) => fall.toFixed(3))).toEqual([
      ((30_000 / 910_000) * 100).toFixed(3),
      ((90_000 / 910_000) * 100).toFixed(3),
      ((90_000 / 910_000) * 100).toFixed(3),
    ]);
    const { move } = moveOf(samples, 7);
    expect(move).toMatchObject({ worstFallPct: '9.0000', windows: 40 * 24 - 168, samples: 960, missingHours: 0 });
    expect([move?.recordedFromMs, move?.recordedToMs]).toEqual([samples[0]?.atMs, NOW_MS]);
    expect(move?.worstFromMs).toBeLessThanOrEqual(samples[400]?.atMs ?? 0);
    expect((move?.worstToMs ?? 0) - (move?.worstFromMs ?? 0)).toBe(7 * 24 * HOUR_MS);
  });

  test('at a constant price the LTV rises by the interest of the whole window, compounded', () => {
    const samples = hourly(40 * 24);
    const { move } = moveOf(samples, 30);
    const yearly = Math.log1p(0.05) * (30 / 365);
    expect(Number(move?.worstInterestPct)).toBeCloseTo(Math.expm1(yearly) * 100, 3);
    expect(move).toMatchObject({ worstFallPct: '0.0000', worstLtvRisePct: move?.worstInterestPct, survived: true });
  });

  test('a price that only rises faster than the debt leaves no worst time; that is zero, and not unknown', () => {
    const { move, gaps } = moveOf(
      hourly(40 * 24, (hour) => 1_000_000 + hour * 20),
      30,
    );
    expect(move).toMatchObject({
      worstLtvRisePct: '0.0000',
      worstFallPct: '0.0000',
      survived: true,
      worstFromMs: null,
    });
    expect(gaps.get('worstFromAt')?.reason).toBe('NONE');
    expect(move?.maxLeverage).toBe(maxLeverageThrough(holding, { numerator: 1n, denominator: 1n }).toFixed(2, 1));
  });

  test.each([
    [1, 47, 'TOO_SHORT'],
    [1, 48, null],
    [30, 743, 'TOO_SHORT'],
    [30, 744, null],
  ] as const)('windows of %i days are known from 24 whole ones on: %i hours', (days, hours, reason) => {
    const { move, gaps } = moveOf(hourly(hours), days);
    expect(move?.survived).toBe(reason === null ? true : null);
    expect(gaps.get('survived')?.reason ?? null).toBe(reason);
    expect([move?.windows, move?.samples]).toEqual([hours - days * 24, hours]);
    if (reason)
      expect(gaps.get('maxLeverage')?.message).toBe(
        `The record has 23 whole windows of ${days} days; at least 24 are needed.`,
      );
  });

  test('without a sample nothing is known but the sizes; without a record not even why', () => {
    const none = moveOf([], 7);
    expect(none.move).toMatchObject({ survived: null, ltvPct: null, windows: 0, samples: 0, recordedFromMs: null });
    expect([none.gaps.get('survived')?.reason, none.gaps.get('recordedFromAt')?.reason]).toEqual([
      'TOO_SHORT',
      'TOO_SHORT',
    ]);
    expect(moveOf(undefined, 7).gaps.get('survived')?.reason).toBe('SOURCE_FAILED');
  });

  test('a holding without debt survives anything, one beyond its limit nothing, also without a record', () => {
    expect(moveOf([], 7, { ...holding, debt: 0n }).move?.survived).toBe(true);
    expect(moveOf([], 7, { ...holding, debt: holding.debt * 2n }).move?.survived).toBe(false);
  });

  test('missing hours are counted, and a window without a tenth of its hours is not whole', () => {
    const holes = (from: number, to: number) => hourly(60 * 24).filter((_, hour) => hour < from || hour >= to);
    expect(moveOf(holes(300, 303), 30).move).toMatchObject({ missingHours: 3, windows: 60 * 24 - 720 - 3 });
    const { move } = moveOf(holes(600, 900), 30);
    expect(move).toMatchObject({ missingHours: 300, survived: null, windows: 0 });
  });

  test('a fall across missing hours counts', () => {
    const samples = hourly(60 * 24, (hour) => (hour < 320 ? 1_000_000 : 900_000)).filter((_, h) => h < 300 || h >= 320);
    expect(moveOf(samples, 1).move).toMatchObject({ worstFallPct: '10.0000', missingHours: 20 });
  });

  /** A fall to 60 % for some hours, 12 days before the end. */
  const jump = (length: number, at = 40 * 24, to = 600_000) =>
    hourly(52 * 24, (hour) => (hour >= at && hour < at + length ? to : 1_000_000));

  test('three readings in a row far from the others are a fall, from the first on', () => {
    expect(moveOf(jump(3), 1).move).toMatchObject({ worstFallPct: '40.0000', doubtedSamples: 0, survived: false });
  });

  test.each([
    ['one hour', jump(1), 1],
    ['two hours', jump(2), 2],
    ['the last two hours', jump(2, 52 * 24 - 2), 2],
    ['a rise in the first two hours, and back', jump(2, 0, 9_000_000), 2],
  ])('a fall of %s may be a misreading: whether it is survived is not known', (_name, samples, doubted) => {
    const { move, gaps } = moveOf(samples, 1);
    expect(move).toMatchObject({ doubtedSamples: doubted, survived: null, worstFallPct: null, worstLtvRisePct: null });
    expect(move).toMatchObject({ ltvPct: null, maxLeverage: null, worstFromMs: null, worstToMs: null });
    for (const field of ['survived', 'worstFallPct', 'worstLtvRisePct', 'maxLeverage', 'worstToAt'])
      expect(gaps.get(field)).toMatchObject({
        reason: 'IMPLAUSIBLE',
        message: expect.stringContaining(String(doubted)),
      });
    expect(Number(move?.worstInterestPct)).toBeGreaterThan(0);
  });

  test('a doubted fall does not matter to a holding that survives it, nor to one that does not survive less', () => {
    expect(moveOf(jump(2), 1, opened('1.2', '100')).move).toMatchObject({ survived: true, maxLeverage: null });
    const both = jump(2).map((sample, hour) =>
      hour < 48 * 24 ? sample : { ...sample, price: (sample.price * 85n) / 100n },
    );
    expect(moveOf(both, 1, opened('10', '100')).move).toMatchObject({ survived: false, worstFallPct: null });
  });

  test('a doubted reading that is no worse than the others changes nothing', () => {
    const risen = jump(2, 52 * 24 - 2, 1_900_000);
    expect(moveOf(risen, 1).move).toMatchObject({ worstFallPct: '0.0000', doubtedSamples: 2, survived: true });
  });

  test('prices of zero and rates beyond the curve are left out', () => {
    const absurd = hourly(60 * 24).map((sample, hour) => {
      if (hour === 100) return { ...sample, price: 0n };
      if (hour === 200) return { ...sample, borrowRate: 10n ** 30n };
      return hour === 300 ? { ...sample, borrowRate: -1n } : sample;
    });
    const { move } = moveOf(absurd, 1);
    expect([move?.doubtedSamples, move?.survived, Number(move?.worstInterestPct) < 0.1]).toEqual([3, true, true]);
  });
});

/** Prices that wander by up to 2 % an hour, with changing rates and missing hours. */
const anyRecord = fc
  .array(
    fc.record({ step: fc.integer({ min: -200, max: 200 }), rate: fc.bigInt(0n, 20n * RATE), missing: fc.nat(30) }),
    { minLength: 60, maxLength: 200 },
  )
  .map((steps) => {
    let price = PRICE;
    let hour = 0;
    return steps.map(({ step, rate, missing }): RecordedSample => {
      price = (price * BigInt(10_000 + step)) / 10_000n;
      hour += missing === 0 ? 3 : 1;
      return { atMs: NOW_MS + hour * HOUR_MS, price, borrowRate: rate };
    });
  });

describe('survival', () => {
  test('property: the worst is the largest of all pairs within a window', () => {
    fc.assert(
      fc.property(anyRecord, (samples) => {
        const { worst } = windowOf(samples, 1);
        let [fall, rise] = [1, 1];
        for (const [i, from] of samples.entries()) {
          let owed = 1;
          for (let k = i + 1; k < samples.length; k += 1) {
            const [before, to] = [samples[k - 1], samples[k]];
            if (!before || !to || to.atMs - from.atMs > 24 * HOUR_MS) break;
            const rate = Number(MathLib.max(before.borrowRate, to.borrowRate)) / 1e18;
            owed *= Math.exp((rate * (to.atMs - before.atMs)) / 1_000);
            fall = Math.max(fall, Number(from.price) / Number(to.price));
            rise = Math.max(rise, (owed * Number(from.price)) / Number(to.price));
          }
        }
        if (!worst) return true;
        expect(pct(worst.fall)).toBeCloseTo((fall - 1) * 100, 6);
        expect(pct(worst.ltvRise)).toBeCloseTo((rise - 1) * 100, 6);
        return true;
      }),
      { numRuns: 30 },
    );
  });

  test('property: a leverage that survives more days survives fewer, and so does a lower leverage', () => {
    fc.assert(
      fc.property(anyRecord, fc.integer({ min: 110, max: 1_100 }), (samples, hundredths) => {
        const long = [...hourly(40 * 24).map((sample) => ({ ...sample, atMs: sample.atMs - HOUR_MS })), ...samples];
        const [one, seven, thirty] = recordOf(long).windows.map(({ worst }) => worst?.ltvRise);
        if (!one || !seven || !thirty) throw new Error('every window is known');
        const [high, low] = [hundredths / 100, Math.max(1, hundredths / 100 - 0.5)].map((leverage) =>
          opened(String(leverage), '100'),
        );
        if (!high || !low) throw new Error('two holdings');
        const of = (at: typeof high) => [one, seven, thirty].map((rise) => survives(at, rise));
        const isMonotone = (found: readonly boolean[]) => found.every((value, i) => i === 0 || !value || found[i - 1]);
        return isMonotone(of(high)) && isMonotone(of(low)) && of(high).every((value, i) => !value || of(low)[i]);
      }),
      { numRuns: 40 },
    );
  });

  test('property: it survives a fall exactly down to its lowest healthy price, and rises of the LTV are no better', () => {
    fc.assert(
      fc.property(anyHolding, fc.bigInt(1n, 10n ** 9n), (of, millionths) => {
        const fall = { numerator: 10n ** 9n, denominator: millionths };
        const after = (of.price * millionths) / 10n ** 9n;
        const lowest = lowestHealthyPrice(of);
        const isAlive = lowest === null ? !canBeLiquidated(of, after) : after >= lowest;
        return survives(of, fall) === isAlive;
      }),
    );
  });

  test('property: it survives at the highest leverage, and not at more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000_001, max: 1_300_000 }), (millionths) => {
        const rise = { numerator: BigInt(millionths), denominator: 1_000_000n };
        const most = maxLeverageThrough(holding, rise);
        const at = (leverage: Decimal) => survives(opened(leverage.toFixed(6, 1), '10'), rise);
        return at(most.minus('0.01')) && !at(most.plus('0.01'));
      }),
      { numRuns: 30 },
    );
  });

  test('of several positions: all have to survive, the worst values count, and a leverage does not apply', () => {
    const falling = recordOf(hourly(60 * 24, (hour) => 1_000_000 - 100 * Math.min(900, hour)));
    const calm = recordOf(hourly(50 * 24));
    const second = { ...opened('11', '100'), market: { ...market, oracle: `0x${'2'.repeat(40)}` as const } };
    const moves = recordedMoves([
      { holding, record: calm },
      { holding: second, record: falling },
    ]);
    expect(moves.map(({ survived }) => survived)).toEqual([true, false, false]);
    expect(moves[2]).toMatchObject({ maxLeverage: null, ltvPct: null, samples: 1_200, windows: 480 });
    expect(Number(moves[2]?.worstFallPct)).toBeGreaterThan(7);
    expect(moves[2]?.gaps.find(({ field }) => field === 'maxLeverage')?.reason).toBe('NOT_APPLICABLE');
    const half = recordedMoves([
      { holding, record: calm },
      { holding, record: undefined },
    ]);
    expect(half[0]).toMatchObject({ survived: null, worstFallPct: null, samples: 0, recordedFromMs: null });
    expect(recordedMoves([])).toEqual([]);
  });
});
