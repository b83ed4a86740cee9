import { Decimal } from '../../shared/decimal.ts';
import type { Suspect } from '../facts.ts';

/** Consecutive observations of one source that confirm a value without another source. */
export const CONFIRMING_READINGS = 3;

/** Bounds of a pegged stablecoin's price, USD. */
const PEG_MIN_USD = new Decimal('0.9');
const PEG_MAX_USD = new Decimal('1.1');
/** A price that differs from the last good one by more than this part needs confirmation. */
const PRICE_JUMP = new Decimal('0.2');
/** Two sources agree on a value within this part. */
const AGREEMENT = new Decimal('0.02');
/** Two readings of one source agree within this part. It is wider, because a falling price falls on between them. */
const MOVEMENT = new Decimal('0.2');
/** A rate change below this many points, or below this factor, needs no confirmation. */
const RATE_JUMP_POINTS = new Decimal('0.1');
const RATE_JUMP_FACTOR = new Decimal(3);
/** A yield without a last good one needs confirmation above this, percent. */
const UNKNOWN_RATE_MAX = new Decimal(100);

/** Check whether a stablecoin's price is outside 0.9–1.1 USD. */
export function isOffPeg(usd: Decimal): boolean {
  return usd.lt(PEG_MIN_USD) || usd.gt(PEG_MAX_USD);
}

/** Return the relative distance of two positive values: larger / smaller − 1. */
export function apart(a: Decimal, b: Decimal): Decimal {
  const [low, high] = a.lt(b) ? [a, b] : [b, a];
  return low.gt(0) ? high.minus(low).div(low) : new Decimal(Number.POSITIVE_INFINITY);
}

export function agree(a: Decimal, b: Decimal): boolean {
  return isWithin(a, b, AGREEMENT);
}

function isWithin(a: Decimal, b: Decimal, part: Decimal): boolean {
  if (a.eq(b)) return true;
  return a.times(b).gt(0) && apart(a.abs(), b.abs()).lte(part);
}

export interface PriceReferences {
  /** Whether the token is pegged to one dollar. */
  readonly pegged: boolean;
  readonly lastGood?: Decimal | undefined;
  /** The token's value in USD by the oracle of a market. */
  readonly oracle?: Decimal | undefined;
}

/**
 * Check whether a price needs confirmation before it is published: off its peg, or far from the last good one; without a last
 * good one, far from the oracle.
 */
export function isSuspectPrice(usd: Decimal, { pegged, lastGood, oracle }: PriceReferences): boolean {
  // Once the peg is lost, the price is judged like any other.
  if (pegged && isOffPeg(usd) && (lastGood === undefined || !isOffPeg(lastGood)))
    return lastGood === undefined || !agree(usd, lastGood);
  const reference = lastGood ?? oracle;
  return reference !== undefined && apart(usd, reference).gt(PRICE_JUMP);
}

/**
 * Check whether a yield in percent needs confirmation before it is published: far from the last good one, or without one far
 * from the newest point of the history in the same answer, or above 100 %. The history helps against a single wrong value; a
 * source with a wrong unit has it in its history as well.
 */
export function isSuspectRate(pct: Decimal, lastGood: Decimal | undefined, ownHistory: Decimal | undefined): boolean {
  const reference = lastGood ?? ownHistory;
  if (lastGood === undefined && pct.abs().gt(UNKNOWN_RATE_MAX)) return true;
  if (reference === undefined) return false;
  // The last known yield of a strategy keeps it in the list.
  if (lastGood?.gt(0) && pct.lte(0)) return true;
  if (pct.minus(reference).abs().lte(RATE_JUMP_POINTS)) return false;
  const [low, high] = pct.abs().lt(reference.abs()) ? [pct.abs(), reference.abs()] : [reference.abs(), pct.abs()];
  return pct.times(reference).lt(0) || low.times(RATE_JUMP_FACTOR).lt(high);
}

/** A reading of a suspect value. */
export interface SuspectReading {
  readonly value: Decimal;
  /** Time of the request, ms. */
  readonly atMs: number;
  /** Time of the value by its source, ms; absent = the source gives none. */
  readonly measuredMs?: number | undefined;
}

/**
 * Count a reading of a suspect value, if it is an observation of its own: the source dates it later than the one before, or a
 * whole cadence has passed since. A cached answer that is read again is the same observation, however its body changes. A value
 * that is not near the one before restarts the count.
 */
export function nextReading(reading: SuspectReading, before: Suspect | undefined, cadenceMs: number): Suspect {
  if (before === undefined || !isWithin(reading.value, before.value, MOVEMENT)) return { ...reading, readings: 1 };
  if (before.atMs === undefined) return { ...reading, readings: before.readings };
  const isLater = (reading.measuredMs ?? 0) > (before.measuredMs ?? Number.POSITIVE_INFINITY);
  const isNew = isLater || reading.atMs - before.atMs >= cadenceMs;
  return isNew ? { ...reading, readings: before.readings + 1 } : before;
}
