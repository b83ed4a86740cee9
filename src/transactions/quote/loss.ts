import { MathLib } from '@morpho-org/blue-sdk';
import { Decimal, HUNDRED, ZERO } from '../../shared/decimal.ts';
import { leastOutput } from '../input.ts';

/** The most that one swap may lose against its reference by default, percent of its value. */
export const MAX_SWAP_LOSS_PCT: Decimal = new Decimal(1);

/** Base units of its output by which a venue may round a swap down: no loss. */
export const VENUE_ROUNDING = 2n;

/** The expected part of a quoted output: no more than the reference. Base units. */
export function expectedOutput(quoted: bigint, reference: bigint | undefined): bigint {
  return reference !== undefined && quoted > reference ? reference : quoted;
}

/** Percent of a value that is lost; negative = gained. */
export function lossPct(valueIn: bigint, valueOut: bigint): Decimal {
  if (valueIn === 0n) return ZERO;
  return new Decimal((valueIn - valueOut).toString()).times(HUNDRED).div(valueIn.toString());
}

export interface MinimumInput {
  /** Output of the quote, base units. */
  readonly quoted: bigint;
  readonly reference: bigint | undefined;
  /** Ratio. */
  readonly slippage: Decimal;
  /** Percent of its value that the swap may lose. */
  readonly allowedLossPct: Decimal;
  /** Whether a quote above its reference counts as the reference: its minimum could not be reached otherwise. */
  readonly capped: boolean;
}

/**
 * The least accepted output, base units: quote × (1 − slippage), and never below reference × (1 − allowed loss − slippage) but
 * for the rounding of a venue, however low the quote is.
 */
export function minimumOutput({ quoted, reference, slippage, allowedLossPct, capped }: MinimumInput): bigint {
  const least = leastOutput(capped ? expectedOutput(quoted, reference) : quoted, slippage);
  if (reference === undefined) return least;
  const floor = leastOutput(reference, Decimal.min(1, slippage.plus(allowedLossPct.shiftedBy(-2))));
  return MathLib.max(least, floor - VENUE_ROUNDING);
}
