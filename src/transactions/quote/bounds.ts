import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { Decimal, HUNDRED } from '../../shared/decimal.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';
import { LimitExceededError } from '../errors.ts';
import type { PlannedSwap } from '../types.ts';
import { MAX_SWAP_LOSS_PCT } from './loss.ts';

/** The most that all swaps and fees of an opening or increase may cost by default, percent of the equity. */
export const MAX_TOTAL_LOSS_PCT: Decimal = new Decimal(2);
const PRINTED_PLACES = 2;

/** One swap of a plan, with the price of its output. */
export interface JudgedSwap {
  readonly swap: PlannedSwap;
  /** Oracle price of the output, loan base units per base unit, scaled by 1e36; absent where the output is the loan token. */
  readonly outPrice?: bigint | undefined;
}

export interface LossInput {
  readonly swaps: readonly JudgedSwap[];
  /** Other costs of the bundle, loan base units. */
  readonly fees?: bigint | undefined;
  /** The measure of the costs, loan base units. */
  readonly equity: bigint;
  /** Whether all costs together are bounded as well: where risk is added. */
  readonly boundsTotal: boolean;
  /** The bound of the request in place of both, percent of the equity. */
  readonly maxSwapLossPct?: Decimal | undefined;
  /** The most that it may allow. */
  readonly largestPct: Decimal;
  /** The input that a refusal names. */
  readonly requested: { readonly field: string; readonly value: string };
}

/** Loss of a swap against its reference, loan base units, rounded down; 0 where the pair has no reference price. */
function lossInLoan({ swap, outPrice }: JudgedSwap): bigint {
  const { reference, expectedOut } = swap;
  if (reference === undefined || reference <= expectedOut) return 0n;
  const lost = reference - expectedOut;
  return outPrice === undefined ? lost : collateralValueInLoan(lost, outPrice);
}

/** Cost as a percentage of the equity, rounded up to 2 places; `undefined` without equity. */
function lossOfEquityPct(lost: bigint, equity: bigint): Decimal | undefined {
  if (equity <= 0n) return undefined;
  const pct = new Decimal(lost.toString()).times(HUNDRED).div(equity.toString());
  return pct.decimalPlaces(PRINTED_PLACES, Decimal.ROUND_UP);
}

/**
 * Refuse a plan whose swaps cost too much: a swap that loses more than 1 % of its value, or, where risk is added, costs of
 * more than 2 % of the equity together. `maxSwapLossPct` replaces both.
 * @throws LimitExceededError naming the `maxSwapLossPct` that would pass
 */
export function requireLossWithin(input: LossInput): void {
  const { swaps, fees = 0n, equity, boundsTotal, maxSwapLossPct } = input;
  const total = swaps.reduce((sum, swap) => sum + lossInLoan(swap), fees);
  const ofEquity = lossOfEquityPct(total, equity);
  const isWithin = (limit: Decimal) =>
    new Decimal(total.toString()).times(HUNDRED).lte(limit.times(equity > 0n ? equity.toString() : 0));
  if (maxSwapLossPct) {
    if (isWithin(maxSwapLossPct)) return;
    throw refusal(input, ofEquity, `All swaps and fees together cost ${formatPctOf(ofEquity)}`, {
      maxTotalLossPct: maxSwapLossPct.toFixed(),
    });
  }
  const worst = swaps.map(({ swap }) => swap).find(({ lossPct }) => lossPct?.gt(MAX_SWAP_LOSS_PCT));
  if (worst?.lossPct) {
    const { tokenIn, tokenOut, lossPct } = worst;
    const lost = lossPct.toFixed(PRINTED_PLACES, Decimal.ROUND_UP);
    throw refusal(
      input,
      ofEquity,
      `The swap of ${tokenIn.symbol} into ${tokenOut.symbol} loses ${lost} % of its value against the reference price (all costs are ${formatPctOf(ofEquity)})`,
      { maxPriceImpactPct: MAX_SWAP_LOSS_PCT.toFixed() },
    );
  }
  if (boundsTotal && !isWithin(MAX_TOTAL_LOSS_PCT)) {
    throw refusal(input, ofEquity, `All swaps and fees together cost ${formatPctOf(ofEquity)}`, {
      maxTotalLossPct: MAX_TOTAL_LOSS_PCT.toFixed(),
    });
  }
}

function formatPctOf(pct: Decimal | undefined): string {
  return pct ? `${pct.toFixed(PRINTED_PLACES)} % of the equity` : 'more than the equity';
}

function refusal(
  { requested, largestPct }: LossInput,
  needed: Decimal | undefined,
  what: string,
  bound: Readonly<Record<string, string>>,
): LimitExceededError {
  const [limit] = Object.values(bound);
  const passes = needed?.lte(largestPct) ? needed.toFixed() : undefined;
  const way = passes
    ? `Ask for less at once, try again when the venues pay more, or accept it with maxSwapLossPct ${passes}.`
    : `Ask for less at once, or try again when the venues pay more: not even the largest maxSwapLossPct, ${largestPct.toFixed()}, would allow it.`;
  return new LimitExceededError(`${what}, and at most ${limit} % is accepted. ${way}`, {
    ...requested,
    limit: withoutUndefined({ ...bound, maxSwapLossPct: passes }),
  });
}
