import { MarketUtils, MathLib } from '@morpho-org/blue-sdk';
import type { Market } from '../../catalog/types.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { Decimal, HUNDRED, toFixedHalfUp, ZERO } from '../../shared/decimal.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';
import { LimitExceededError } from '../errors.ts';
import type { Issue, PlannedSwap } from '../types.ts';
import { MAX_SWAP_LOSS_PCT, VENUE_ROUNDING } from './loss.ts';

/**
 * The most that a plan may cost by default, percent of the equity: all swaps and fees of an opening or increase, and all sales of
 * a close, a part of it or an exit.
 */
export const MAX_TOTAL_LOSS_PCT: Readonly<Record<'adding' | 'leaving', Decimal>> = {
  adding: new Decimal(2),
  leaving: new Decimal(5),
};
/** The loss of all sales from which on an issue names it, percent of the equity. */
const HIGH_COST_PCT: Decimal = new Decimal(2);
const PRINTED_PLACES = 2;

/** One swap of a plan, with the price of its output. */
export interface JudgedSwap {
  readonly swap: PlannedSwap;
  /** Oracle price of the output, loan base units per base unit, scaled by 1e36; absent where the output is the loan token. */
  readonly outPrice?: bigint | undefined;
  /** The most that it may lose by default, percent of its value; absent = 1. */
  readonly maxLossPct?: Decimal | undefined;
}

export interface LossInput {
  readonly swaps: readonly JudgedSwap[];
  /** Other costs of the bundle, loan base units. */
  readonly fees?: bigint | undefined;
  /** The measure of the costs, loan base units. */
  readonly equity: bigint;
  /** The most that all costs together may be by default, percent of the equity; absent = only each swap is bounded. */
  readonly maxTotalPct?: Decimal | undefined;
  /** The bound of the request in place of both, percent of the equity. */
  readonly maxSwapLossPct?: Decimal | undefined;
  /** The most that it may allow. */
  readonly largestPct: Decimal;
  /** The input that a refusal names. */
  readonly requested: { readonly field: string; readonly value: string };
  /** The costs in whole USD, for refusals; absent = the refusal is in percent only. */
  usdOf?(costs: bigint): Decimal | undefined;
}

/** One lending position that is left, loan base units. */
export interface LeftPosition {
  readonly market: Pick<Market, 'lltv'>;
  /** Of its collateral at the oracle's price. */
  readonly value: bigint;
  readonly debt: bigint;
  readonly maxLtvPct: Decimal;
}

/** The default bounds of leaving, percent. */
export interface LeavingBounds {
  /** Of the value of a sale of each position, in their order. */
  readonly eachPct: readonly Decimal[];
  /** Of the equity, for all sales together. */
  readonly totalPct: Decimal;
}

/**
 * The default bounds of leaving positions: 1 % of each sale and 5 % of the equity together. Of a position above its max LTV they
 * are never below the cost of a liquidation, which may come any time: nobody is kept in for it.
 */
export function leavingBounds(positions: readonly LeftPosition[]): LeavingBounds {
  const equityOf = ({ value, debt }: LeftPosition) => value - debt;
  const percent = (part: bigint, whole: bigint) =>
    whole > 0n ? new Decimal(part.toString()).times(HUNDRED).div(whole.toString()) : ZERO;
  const equity = positions.reduce((sum, position) => sum + equityOf(position), 0n);
  const total = positions.reduce((sum, position) => {
    const usual = MAX_TOTAL_LOSS_PCT.leaving.times(equityOf(position).toString()).shiftedBy(-2);
    return sum.plus(Decimal.max(usual, liquidationCost(position).toString()));
  }, ZERO);
  return {
    eachPct: positions.map((position) =>
      Decimal.max(MAX_SWAP_LOSS_PCT, percent(liquidationCost(position), position.value)),
    ),
    totalPct:
      equity > 0n
        ? Decimal.max(MAX_TOTAL_LOSS_PCT.leaving, total.times(HUNDRED).div(equity.toString()))
        : MAX_TOTAL_LOSS_PCT.leaving,
  };
}

/** The cost of a liquidation of the whole debt, of a position above its max LTV, at most its equity; 0 at or below it. */
function liquidationCost({ market, value, debt, maxLtvPct }: LeftPosition): bigint {
  const equity = value - debt;
  const isAbove = new Decimal(debt.toString()).times(HUNDRED).gt(maxLtvPct.times(value.toString()));
  if (equity <= 0n || !isAbove) return 0n;
  const incentive = MarketUtils.getLiquidationIncentiveFactor(market) - MathLib.WAD;
  return MathLib.min(equity, MathLib.wMulDown(debt, incentive));
}

/**
 * Loss of a swap against its reference, loan base units, rounded down; 0 where the pair has no reference price, and for the rounding
 * of a sale into the loan token.
 */
function lossInLoan({ swap, outPrice }: JudgedSwap): bigint {
  const { reference, expectedOut } = swap;
  if (reference === undefined || reference <= expectedOut) return 0n;
  const lost = reference - expectedOut;
  if (outPrice !== undefined) return collateralValueInLoan(lost, outPrice);
  return lost > VENUE_ROUNDING ? lost : 0n;
}

/** Cost as a percentage of the equity, rounded up to 2 places; `undefined` without equity. */
function lossOfEquityPct(lost: bigint, equity: bigint): Decimal | undefined {
  if (equity <= 0n) return undefined;
  const pct = new Decimal(lost.toString()).times(HUNDRED).div(equity.toString());
  return pct.decimalPlaces(PRINTED_PLACES, Decimal.ROUND_UP);
}

/**
 * Refuse a plan whose swaps cost too much: a swap that loses more of its value than its bound, 1 % as a rule, or costs of more
 * than `maxTotalPct` of the equity together. `maxSwapLossPct` replaces both.
 * @throws LimitExceededError naming the `maxSwapLossPct` that would pass
 */
export function requireLossWithin(input: LossInput): void {
  const { swaps, fees = 0n, equity, maxTotalPct, maxSwapLossPct } = input;
  const total = totalLoss(swaps) + fees;
  const isWithin = (limit: Decimal) =>
    new Decimal(total.toString()).times(HUNDRED).lte(limit.times(equity > 0n ? equity.toString() : 0));
  if (maxSwapLossPct) {
    if (isWithin(maxSwapLossPct)) return;
    throw refusal(input, total, `${allOf(input)} ${formatCost(input, total)}`, {
      maxTotalLossPct: maxSwapLossPct.toFixed(),
    });
  }
  const worst = swaps.find(exceedsItsBound);
  if (worst?.swap.lossPct) {
    const { tokenIn, tokenOut, lossPct } = worst.swap;
    const lost = lossPct.toFixed(PRINTED_PLACES, Decimal.ROUND_UP);
    throw refusal(
      input,
      total,
      `The swap of ${tokenIn.symbol} into ${tokenOut.symbol} loses ${lost} % of its value against the reference price (all costs are ${formatCost(input, total)})`,
      { maxPriceImpactPct: limitText(worst.maxLossPct ?? MAX_SWAP_LOSS_PCT) },
    );
  }
  if (maxTotalPct && !isWithin(maxTotalPct)) {
    throw refusal(input, total, `${allOf(input)} ${formatCost(input, total)}`, {
      maxTotalLossPct: limitText(maxTotalPct),
    });
  }
}

/** Whether a swap loses more of its value than it may by default. */
export function exceedsItsBound(judged: JudgedSwap): boolean {
  const { swap, maxLossPct = MAX_SWAP_LOSS_PCT } = judged;
  const isRounding = judged.outPrice === undefined && lossInLoan(judged) === 0n;
  return !isRounding && (swap.lossPct?.gt(maxLossPct) ?? false);
}

/** Losses of all swaps against their references, loan base units. */
function totalLoss(swaps: readonly JudgedSwap[]): bigint {
  return swaps.reduce((sum, swap) => sum + lossInLoan(swap), 0n);
}

/** Report sales that lose 2 % of the equity or more together; nothing otherwise. */
export function highCostIssues(
  swaps: readonly JudgedSwap[],
  equity: bigint,
  usdOf: (costs: bigint) => Decimal | undefined,
): readonly Issue[] {
  const lost = totalLoss(swaps);
  const isHigh = new Decimal(lost.toString()).times(HUNDRED).gte(HIGH_COST_PCT.times(equity.toString()));
  if (lost === 0n || !isHigh) return [];
  const pct = lossOfEquityPct(lost, equity);
  const usd = usdOf(lost);
  const amount = usd === undefined ? '' : ` (${toFixedHalfUp(usd, 2)} USD)`;
  return [
    {
      kind: 'HIGH_COST',
      costPctOfEquity: pct?.toFixed(),
      costUsd: usd && toFixedHalfUp(usd, 2),
      message: `What is sold is expected to lose ${formatPctOf(pct)}${amount} against the oracle's price: leverage multiplies the loss of a sale.`,
    },
  ];
}

/** Show a bound in percent: of a liquidation it has any number of places, and is rounded down. */
function limitText(limit: Decimal): string {
  return limit.decimalPlaces(PRINTED_PLACES, Decimal.ROUND_DOWN).toFixed();
}

function allOf({ usdOf }: LossInput): string {
  return usdOf ? 'All sales together lose' : 'All swaps and fees together cost';
}

function formatCost(input: LossInput, total: bigint): string {
  const usd = input.usdOf?.(total);
  return `${formatPctOf(lossOfEquityPct(total, input.equity))}${usd ? `, ${toFixedHalfUp(usd, 2)} USD` : ''}`;
}

function formatPctOf(pct: Decimal | undefined): string {
  return pct ? `${pct.toFixed(PRINTED_PLACES)} % of the equity` : 'more than the equity';
}

function refusal(
  { requested, largestPct, equity, usdOf }: LossInput,
  total: bigint,
  what: string,
  bound: Readonly<Record<string, string>>,
): LimitExceededError {
  const [limit] = Object.values(bound);
  const needed = lossOfEquityPct(total, equity);
  const usd = usdOf?.(total);
  const passes = needed?.lte(largestPct) ? needed.toFixed() : undefined;
  const less = usdOf ? 'Try' : 'Ask for less at once, try';
  const way = passes
    ? `${less} again when the venues pay more, or accept it with maxSwapLossPct ${passes}${usdOf ? ' in the same request' : ''}.`
    : `${usdOf ? 'Try' : 'Ask for less at once, or try'} again when the venues pay more: not even the largest maxSwapLossPct, ${largestPct.toFixed()}, would allow it.`;
  return new LimitExceededError(`${what}, and at most ${limit} % is accepted. ${way}`, {
    ...requested,
    limit: withoutUndefined({ ...bound, maxSwapLossPct: passes, costUsd: usd && toFixedHalfUp(usd, 2) }),
  });
}
