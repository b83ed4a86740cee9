import { AdaptiveCurveIrmLib, MathLib } from '@morpho-org/blue-sdk';
import { CONFIRMING_READINGS, isSuspectPrice } from '../../../domain/plausibility/suspect.ts';
import { Decimal } from '../../../shared/decimal.ts';

/** Oracle price and borrow rate of a market at one time. */
export interface RecordedSample {
  readonly atMs: number;
  /** Scaled by 1e36. */
  readonly price: bigint;
  /** Per second in WAD. */
  readonly borrowRate: bigint;
}

/** An exact positive fraction. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** The worst moves between two samples of one window. Each value is 1 or more, and may be of another time. */
export interface WorstMove {
  /** The price before a fall by the price after it. */
  readonly fall: Fraction;
  /** A debt after its interest by the debt before. */
  readonly interest: Fraction;
  /** The LTV after by the LTV before, of unchanged collateral and a debt that only accrues: fall and interest together. */
  readonly ltvRise: Fraction;
  /** The samples of `ltvRise`, ms; absent: the LTV never rose. */
  readonly between?: { readonly fromMs: number; readonly toMs: number } | undefined;
}

/** The moves of a record over windows of some days. */
export interface RecordedWindow {
  /** One of `WINDOW_DAYS`. */
  readonly days: number;
  /** Number of whole windows in the record. They overlap: one begins with each sample. */
  readonly windows: number;
  /** Of the samples that count. Absent: there are fewer whole windows than `MIN_WINDOWS`. */
  readonly worst?: WorstMove | undefined;
  /** The same if the doubted samples are right: a larger move. Absent: it is the same. */
  readonly worstIfRight?: WorstMove | undefined;
}

/** The record of a market as stress tables need it. */
export interface MarketRecord {
  /** Number of samples that count, and of those that were left out as implausible. */
  readonly samples: number;
  readonly doubted: number;
  /** Hours between the first and the last sample without one. */
  readonly missingHours: number;
  /** Times of the first and the last sample, ms; absent without any. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly windows: readonly RecordedWindow[];
}

export const WINDOW_DAYS = [1, 7, 30] as const;
/** Age of the oldest sample that is used. */
export const RECORD_DAYS = 90;
/** Fewer whole windows than this tell nothing about the worst of them. */
export const MIN_WINDOWS = 24;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Part of the hours of a whole window that have a sample, percent. */
const WHOLE_PCT = 90;
/** One in the index of a debt. Its steps are rounded up. */
const INDEX_SCALE = 10n ** 36n;
/** The highest rate of the protocol's curve; a higher one was misread. */
const MAX_RATE = MathLib.wMulDown(AdaptiveCurveIrmLib.MAX_RATE_AT_TARGET, AdaptiveCurveIrmLib.CURVE_STEEPNESS);

/** Summarize the samples of a market, oldest first. */
export function recordOf(given: readonly RecordedSample[]): MarketRecord {
  const possible = given.filter(isPossible);
  const samples = confirmed(possible);
  const [first] = samples;
  const last = samples.at(-1);
  const points = pointsOf(samples);
  const allPoints = samples.length < possible.length ? withDoubted(points, possible) : undefined;
  return {
    samples: samples.length,
    doubted: given.length - samples.length,
    missingHours: first && last ? hourOf(last.atMs) - hourOf(first.atMs) + 1 - hoursOf(samples) : 0,
    fromMs: first?.atMs,
    toMs: last?.atMs,
    windows: WINDOW_DAYS.map((days): RecordedWindow => {
      const windows = wholeWindows(samples, days * DAY_MS);
      if (windows < MIN_WINDOWS) return { days, windows };
      const worst = worstOf(points, days * DAY_MS);
      return { days, windows, worst, worstIfRight: allPoints && worseOf(worst, worstOf(allPoints, days * DAY_MS)) };
    }),
  };
}

/** Whether a market can have been in that state: another one was misread for certain. */
function isPossible({ price, borrowRate }: RecordedSample): boolean {
  return price > 0n && borrowRate >= 0n && borrowRate <= MAX_RATE;
}

/** Whether a move is larger with more samples; it is never smaller. */
function worseOf(counted: WorstMove, all: WorstMove): WorstMove | undefined {
  const isWorse = isLess(counted.ltvRise, all.ltvRise) || isLess(counted.fall, all.fall);
  return isWorse ? { ...all, interest: counted.interest } : undefined;
}

/**
 * Leave out readings that their successors do not confirm: by the rule of prices, one that is far from the last good one has to
 * be repeated, and so do the first ones. Confirmed readings count from the first of them on: an oracle that fell and stayed
 * there did fall.
 */
function confirmed(given: readonly RecordedSample[]): RecordedSample[] {
  const good: RecordedSample[] = [];
  let pending: RecordedSample[] = [];
  for (const sample of given) {
    if (isNear(sample, good.at(-1))) {
      pending = [];
      good.push(sample);
      continue;
    }
    pending = isNear(sample, pending.at(-1)) ? [...pending, sample] : [sample];
    if (pending.length < CONFIRMING_READINGS) continue;
    good.push(...pending);
    pending = [];
  }
  return good;
}

function isNear({ price }: RecordedSample, other: RecordedSample | undefined): boolean {
  if (!other) return false;
  return !isSuspectPrice(new Decimal(price), { pegged: false, lastGood: new Decimal(other.price) });
}

/** A sample with the index of a debt: the growth of one unit owed since the first sample, times `INDEX_SCALE`. */
interface Point {
  readonly atMs: number;
  readonly price: bigint;
  readonly index: bigint;
}

/** Between two samples a debt grows by the higher of their two rates, compounded as the protocol does. */
function pointsOf(samples: readonly RecordedSample[]): Point[] {
  let index = INDEX_SCALE;
  return samples.map(({ atMs, price, borrowRate }, i) => {
    const before = samples[i - 1];
    if (before) {
      const elapsed = BigInt(Math.ceil((atMs - before.atMs) / 1_000));
      const growth = MathLib.wTaylorCompounded(MathLib.max(borrowRate, before.borrowRate), elapsed);
      index += MathLib.wMulUp(index, growth);
    }
    return { atMs, price, index };
  });
}

/** Add the doubted samples, at the debt of the next one that counts: their rates are doubted too. */
function withDoubted(points: readonly Point[], all: readonly RecordedSample[]): Point[] {
  let next = 0;
  return all.map(({ atMs, price }) => {
    const point = points[next] ?? points.at(-1);
    if (point && point.atMs === atMs) next += 1;
    return { atMs, price, index: point?.index ?? INDEX_SCALE };
  });
}

function worstOf(points: readonly Point[], windowMs: number): WorstMove {
  const rise = largestRise(points, windowMs, ({ price, index }) => ({ numerator: index, denominator: price }));
  return {
    fall: largestRise(points, windowMs, ({ price }) => ({ numerator: 1n, denominator: price })).rise,
    interest: largestRise(points, windowMs, ({ index }) => ({ numerator: index, denominator: 1n })).rise,
    ltvRise: rise.rise,
    between: rise.between,
  };
}

/**
 * Find the largest ratio of a later value to an earlier one within a window; 1 where values only fall. Every pair counts that
 * is not further apart, also across missing hours and at the ends of the record, so that a longer window is never better.
 */
function largestRise(
  points: readonly Point[],
  windowMs: number,
  read: (point: Point) => Fraction,
): { readonly rise: Fraction; readonly between?: WorstMove['between'] } {
  let worst: { rise: Fraction; between?: WorstMove['between'] } = { rise: { numerator: 1n, denominator: 1n } };
  // Candidates for the lowest earlier value: their values rise, so that the first one is the lowest.
  const lowest: { readonly atMs: number; readonly value: Fraction }[] = [];
  let head = 0;
  for (const point of points) {
    const { atMs } = point;
    const value = read(point);
    while (head < lowest.length && (lowest[head]?.atMs ?? 0) < atMs - windowMs) head += 1;
    const earlier = lowest[head];
    if (earlier) {
      const rise = divided(value, earlier.value);
      if (isLess(worst.rise, rise)) worst = { rise, between: { fromMs: earlier.atMs, toMs: atMs } };
    }
    while (lowest.length > head && !isLess(lowest.at(-1)?.value ?? value, value)) lowest.pop();
    lowest.push({ atMs, value });
  }
  return worst;
}

function divided(a: Fraction, b: Fraction): Fraction {
  return { numerator: a.numerator * b.denominator, denominator: a.denominator * b.numerator };
}

function isLess(a: Fraction, b: Fraction): boolean {
  return a.numerator * b.denominator < b.numerator * a.denominator;
}

/** Count the samples from which a whole window begins: it ends within the record, and nearly all of its hours were sampled. */
function wholeWindows(samples: readonly RecordedSample[], windowMs: number): number {
  const last = samples.at(-1);
  const needed = Math.ceil(((windowMs / HOUR_MS) * WHOLE_PCT) / 100);
  let count = 0;
  let end = 0;
  for (const [i, { atMs }] of samples.entries()) {
    if (!last || atMs + windowMs > last.atMs) break;
    while (end < samples.length && (samples[end]?.atMs ?? 0) <= atMs + windowMs) end += 1;
    if (end - i - 1 >= needed) count += 1;
  }
  return count;
}

function hourOf(atMs: number): number {
  return Math.floor(atMs / HOUR_MS);
}

function hoursOf(samples: readonly RecordedSample[]): number {
  return new Set(samples.map(({ atMs }) => hourOf(atMs))).size;
}
