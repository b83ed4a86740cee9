import { MathLib } from '@morpho-org/blue-sdk';
import { gap } from '../../../domain/freshness/gaps.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import { collateralValueInLoan } from '../../../domain/leverage/flash-loan.ts';
import { leverageFromLtvPct } from '../../../domain/leverage/leveraged-apy.ts';
import { valueLtvPct } from '../../../domain/position/valuation.ts';
import { Decimal, formatPct, HUNDRED, ratio } from '../../../shared/decimal.ts';
import { canBeLiquidated } from './liquidation.ts';
import { type Fraction, type MarketRecord, MIN_WINDOWS, WINDOW_DAYS, type WorstMove } from './record.ts';
import type { StressHolding } from './types.ts';

/** The worst of the record within one window, and whether holdings would survive it from today on. */
export interface RecordedMove {
  readonly windowDays: number;
  readonly survived: boolean | null;
  readonly ltvPct: string | null;
  readonly worstFallPct: string | null;
  readonly worstInterestPct: string | null;
  readonly worstLtvRisePct: string | null;
  readonly maxLeverage: string | null;
  readonly worstFromMs: number | null;
  readonly worstToMs: number | null;
  /** Of several holdings the least. */
  readonly windows: number;
  readonly samples: number;
  /** Of several holdings the most. */
  readonly missingHours: number;
  readonly doubtedSamples: number;
  /** The time that all records have in common. */
  readonly recordedFromMs: number | null;
  readonly recordedToMs: number | null;
  readonly gaps: readonly Gap[];
}

/** A holding with the record of its market; `undefined` = the record cannot be read now. */
export interface RecordedHolding {
  readonly holding: StressHolding;
  readonly record: MarketRecord | undefined;
}

/** A move of an interest of hours is small. */
const MOVE_PLACES = 4;
const LEVERAGE_PLACES = 2;
const SEVERAL = 'The positions are on several markets.';

/** Hold the worst recorded moves against holdings, one entry per window; none without a holding. */
export function recordedMoves(held: readonly RecordedHolding[]): readonly RecordedMove[] {
  return held.length === 0 ? [] : WINDOW_DAYS.map((days) => moveOf(held, days));
}

/** Whether a holding survives a rise of its LTV: its price falls by as much, and the protocol compares. */
export function survives(holding: StressHolding, { numerator, denominator }: Fraction): boolean {
  return !canBeLiquidated(holding, MathLib.mulDivDown(holding.price, denominator, numerator));
}

/** The highest leverage that a rise of the LTV leaves at the liquidation LTV. */
export function maxLeverageThrough({ limits }: StressHolding, { numerator, denominator }: Fraction): Decimal {
  const ltvPct = limits.liquidationLtvPct.times(ratio(denominator, numerator));
  return leverageFromLtvPct(ltvPct);
}

function moveOf(held: readonly RecordedHolding[], windowDays: number): RecordedMove {
  const gaps: Gap[] = [];
  const missing = (found: Gap) => gaps.push(found);
  const judged = held.map(({ holding, record }): Judged => {
    const window = record?.windows.find(({ days }) => days === windowDays);
    const { windows = 0, worst, worstIfRight = worst } = window ?? {};
    return { holding, record, windows, worst, worstIfRight };
  });
  const unknown = whyUnknown(judged, windowDays);
  const survived = survivedAll(judged);
  if (survived === null)
    missing({ ...(judged.every(({ worst }) => worst) ? doubt(judged) : unknown), field: 'survived' });
  const records = judged.flatMap(({ record }) => (record?.fromMs === undefined ? [] : record));
  const isRecorded = records.length === judged.length;
  if (!isRecorded) for (const field of ['recordedFromAt', 'recordedToAt']) missing({ ...unknown, field });
  return {
    windowDays,
    survived,
    ...worstOfAll(judged, unknown, missing),
    windows: Math.min(...judged.map(({ windows }) => windows)),
    samples: Math.min(...judged.map(({ record }) => record?.samples ?? 0)),
    missingHours: Math.max(...judged.map(({ record }) => record?.missingHours ?? 0)),
    doubtedSamples: Math.max(...judged.map(({ record }) => record?.doubted ?? 0)),
    recordedFromMs: isRecorded ? Math.max(...records.map(({ fromMs = 0 }) => fromMs)) : null,
    recordedToMs: isRecorded ? Math.min(...records.map(({ toMs = 0 }) => toMs)) : null,
    gaps,
  };
}

/** A holding with the recorded move of its market in one window. */
interface Judged extends RecordedHolding {
  readonly windows: number;
  readonly worst: WorstMove | undefined;
  /** With the doubted samples. */
  readonly worstIfRight: WorstMove | undefined;
}

/** One holding that certainly does not survive decides; without a debt, or beyond the limit today, no record is needed. */
function survivedAll(of: readonly Judged[]): boolean | null {
  const each = of.map(({ holding, worst, worstIfRight }) => {
    if (holding.debt === 0n) return true;
    if (canBeLiquidated(holding, holding.price)) return false;
    if (!worst || !worstIfRight) return null;
    if (!survives(holding, worst.ltvRise)) return false;
    return survives(holding, worstIfRight.ltvRise) ? true : null;
  });
  if (each.includes(false)) return false;
  return each.includes(null) ? null : true;
}

/** Why the worst is not known: a record that cannot be read, or the shortest one. */
function whyUnknown(judged: readonly Judged[], days: number): Gap {
  if (judged.some(({ record }) => !record))
    return gap('', 'SOURCE_FAILED', 'The record of the market cannot be read now.');
  const size = Math.min(...judged.map(({ windows }) => windows));
  const message = `The record has ${size} whole windows of ${days} days; at least ${MIN_WINDOWS} are needed.`;
  return gap('', 'TOO_SHORT', message);
}

/** Samples that nothing confirms may be misread or a short fall of the oracle, which does liquidate. */
function doubt(judged: readonly Judged[]): Gap {
  const count = Math.max(...judged.map(({ record }) => record?.doubted ?? 0));
  const message = `The record has ${count} doubted samples; if they are right the market moved further.`;
  return gap('', 'IMPLAUSIBLE', message);
}

function worstOfAll(judged: readonly Judged[], unknown: Gap, missing: (gap: Gap) => void): Worst {
  const worst = judged.flatMap((of) => of.worst ?? []);
  if (worst.length < judged.length) {
    for (const field of WORST_FIELDS) missing({ ...unknown, field });
    return UNKNOWN;
  }
  const ifRight = judged.flatMap((of) => of.worstIfRight ?? []);
  const largest = (field: string, of: (worst: WorstMove) => Decimal) => {
    const value = Decimal.max(...worst.map(of));
    if (Decimal.max(...ifRight.map(of)).eq(value)) return formatPct(value, MOVE_PLACES);
    missing({ ...doubt(judged), field });
    return null;
  };
  const moves = {
    worstFallPct: largest('worstFallPct', ({ fall }) => HUNDRED.minus(pctOf(inverse(fall)))),
    worstInterestPct: largest('worstInterestPct', ({ interest }) => pctOf(interest).minus(HUNDRED)),
    worstLtvRisePct: largest('worstLtvRisePct', ({ ltvRise }) => pctOf(ltvRise).minus(HUNDRED)),
  };
  const [first] = judged;
  if (judged.length > 1 || !first?.worst) {
    for (const field of SINGLE_FIELDS) missing(gap(field, 'NOT_APPLICABLE', SEVERAL));
    return { ...UNKNOWN, ...moves };
  }
  if (moves.worstLtvRisePct !== null) return { ...moves, ...ofSingle(first.holding, first.worst, missing) };
  for (const field of SINGLE_FIELDS) missing({ ...doubt(judged), field });
  return { ...UNKNOWN, ...moves };
}

type Single = Pick<RecordedMove, 'ltvPct' | 'maxLeverage' | 'worstFromMs' | 'worstToMs'>;
type Worst = Single & Pick<RecordedMove, 'worstFallPct' | 'worstInterestPct' | 'worstLtvRisePct'>;

function ofSingle(holding: StressHolding, { ltvRise, between }: WorstMove, missing: (gap: Gap) => void): Single {
  const { collateral, debt, price } = holding;
  const ltvPct = valueLtvPct(debt, collateralValueInLoan(collateral, price));
  if (ltvPct === null) missing(gap('ltvPct', 'NOT_APPLICABLE', 'The oracle values the collateral at zero.'));
  if (!between)
    for (const field of ['worstFromAt', 'worstToAt'])
      missing(gap(field, 'NONE', 'The LTV never rose within a window.'));
  return {
    ltvPct: ltvPct && formatPct(ltvPct.times(pctOf(ltvRise)).div(HUNDRED)),
    maxLeverage: maxLeverageThrough(holding, ltvRise).toFixed(LEVERAGE_PLACES, Decimal.ROUND_DOWN),
    worstFromMs: between?.fromMs ?? null,
    worstToMs: between?.toMs ?? null,
  };
}

const SINGLE_FIELDS = ['ltvPct', 'maxLeverage', 'worstFromAt', 'worstToAt'];
const WORST_FIELDS = [...SINGLE_FIELDS, 'worstFallPct', 'worstInterestPct', 'worstLtvRisePct'];

const UNKNOWN: Worst = {
  ltvPct: null,
  worstFallPct: null,
  worstInterestPct: null,
  worstLtvRisePct: null,
  maxLeverage: null,
  worstFromMs: null,
  worstToMs: null,
};

function inverse({ numerator, denominator }: Fraction): Fraction {
  return { numerator: denominator, denominator: numerator };
}

function pctOf({ numerator, denominator }: Fraction): Decimal {
  return ratio(numerator, denominator).times(HUNDRED);
}
