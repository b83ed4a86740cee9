import { Decimal } from '../../shared/decimal.ts';
import type { Suspect } from '../facts.ts';

/** Readings of one source that confirm a value that nothing else confirms. */
export const CONFIRMING_READINGS = 3;

/** A stablecoin held at one dollar is expected within these bounds. */
const PEG_MIN_USD = new Decimal('0.9');
const PEG_MAX_USD = new Decimal('1.1');
/** A price that differs by more than this part from what was known is asked for again. */
const PRICE_JUMP = new Decimal('0.2');
/** Two sources agree on a value within this part. */
const AGREEMENT = new Decimal('0.02');
/** Two readings of one source tell the same thing within this part: what falls goes on falling between them. */
const MOVEMENT = new Decimal('0.2');
/** A rate that changes by less than so many points, or by less than this factor, is no jump. */
const RATE_JUMP_POINTS = new Decimal('0.1');
const RATE_JUMP_FACTOR = new Decimal(3);
/** A yield without a last good one is asked for again above so many percent. */
const UNKNOWN_RATE_MAX = new Decimal(100);

/** Say whether a stablecoin's price is outside 0.9–1.1 USD. */
export function isOffPeg(usd: Decimal): boolean {
  return usd.lt(PEG_MIN_USD) || usd.gt(PEG_MAX_USD);
}

/** Say by which part the larger of two positive values is above the smaller. */
export function apart(a: Decimal, b: Decimal): Decimal {
  const [low, high] = a.lt(b) ? [a, b] : [b, a];
  return low.gt(0) ? high.minus(low).div(low) : new Decimal(Number.POSITIVE_INFINITY);
}

/** Say whether two sources tell the same value. */
export function agree(a: Decimal, b: Decimal): boolean {
  return isWithin(a, b, AGREEMENT);
}

function isWithin(a: Decimal, b: Decimal, part: Decimal): boolean {
  if (a.eq(b)) return true;
  return a.times(b).gt(0) && apart(a.abs(), b.abs()).lte(part);
}

export interface PriceReferences {
  /** Whether the token is held at one dollar. */
  readonly pegged: boolean;
  /** The last good price. */
  readonly lastGood?: Decimal | undefined;
  /** What the oracle of a market says that it is worth, in USD. */
  readonly oracle?: Decimal | undefined;
}

/**
 * Say whether a price has to be asked for again before it is published: off its peg, or far from the last good one; without a
 * last good one, far from the oracle.
 */
export function isSuspectPrice(usd: Decimal, { pegged, lastGood, oracle }: PriceReferences): boolean {
  // Once the peg is known to be lost, the price moves as any other.
  if (pegged && isOffPeg(usd) && (lastGood === undefined || !isOffPeg(lastGood)))
    return lastGood === undefined || !agree(usd, lastGood);
  const reference = lastGood ?? oracle;
  return reference !== undefined && apart(usd, reference).gt(PRICE_JUMP);
}

/**
 * Say whether a yield has to be asked for again before it is published: far from the last good one, or without one far from
 * the newest point of its own history in the same answer, or above 100 %: a source that is off by a factor is so in its
 * history as well. Percent.
 */
export function isSuspectRate(pct: Decimal, lastGood: Decimal | undefined, ownHistory: Decimal | undefined): boolean {
  const reference = lastGood ?? ownHistory;
  if (lastGood === undefined && pct.abs().gt(UNKNOWN_RATE_MAX)) return true;
  if (reference === undefined) return false;
  if (pct.minus(reference).abs().lte(RATE_JUMP_POINTS)) return false;
  const [low, high] = pct.abs().lt(reference.abs()) ? [pct.abs(), reference.abs()] : [reference.abs(), pct.abs()];
  return pct.times(reference).lt(0) || low.times(RATE_JUMP_FACTOR).lt(high);
}

/** Count a further reading of a suspect value: one that is not near the one before begins anew. */
export function nextReading(told: Decimal, before: Suspect | undefined): Suspect {
  return { value: told, readings: before && isWithin(told, before.value, MOVEMENT) ? before.readings + 1 : 1 };
}
