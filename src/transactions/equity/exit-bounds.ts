import type { Decimal } from '../../shared/decimal.ts';
import { NAMES } from '../../shared/names.ts';
import { LimitExceededError } from '../errors.ts';
import { LARGEST_LOSS_PCT } from '../input.ts';
import {
  exceedsItsBound,
  highCostIssues,
  type LeavingBounds,
  requireLossWithin,
} from '../quote/refuse-costly-swaps.ts';
import type { Issue } from '../types.ts';
import type { SoldLeg, SoldLegs, SoldLoop } from './exit-sales.ts';

export interface JudgedExit {
  readonly sold: SoldLegs;
  /** Those of the loops in order, then that of the stock. */
  readonly bounds: LeavingBounds;
  /** The bound of the request in place of them, percent of the equity. */
  readonly maxSwapLossPct: Decimal | undefined;
  /** Value of base units of the deposit token in USD. */
  usdOf(units: bigint): Decimal | undefined;
}

/**
 * Hold the sales of an exit against their bounds. One leg beyond its own refuses all of them.
 * @returns the equity of the vault, and the issue about a high cost
 * @throws LimitExceededError naming the leg
 */
export function requireExitWithin({ sold, bounds, maxSwapLossPct, usdOf }: JudgedExit): {
  readonly equity: bigint;
  readonly issues: readonly Issue[];
} {
  const sales = [...sold.loops, sold.stock];
  const equity = sales.reduce((sum, leg) => sum + leg.value - leg.debt, 0n);
  const judged = sales.map((leg, i) => ({ leg, swap: leg.swap, maxLossPct: bounds.eachPct[i] }));
  const over = maxSwapLossPct ? undefined : judged.find(exceedsItsBound)?.leg;
  try {
    requireLossWithin({
      swaps: judged,
      equity,
      maxTotalPct: bounds.totalPct,
      maxSwapLossPct,
      largestPct: LARGEST_LOSS_PCT.leaving,
      requested: (over ?? sold.stock).requested,
      usdOf,
    });
  } catch (error) {
    throw error instanceof LimitExceededError && over ? withOthers(error, sold.loops, over) : error;
  }
  return { equity, issues: highCostIssues(judged, equity, usdOf) };
}

/** Name the loops that can be closed without the one whose sale is refused: they are of one batch. */
function withOthers(refused: LimitExceededError, loops: readonly SoldLoop[], over: SoldLeg): LimitExceededError {
  const { details, message } = refused;
  const others = loops.filter((loop) => loop !== over).map(({ id }) => id);
  if (!details || others.length === loops.length || others.length === 0) return refused;
  return new LimitExceededError(
    `${message} Or leave that loop open: nothing of the vault is sold without it unless ${NAMES.input('yieldPositionIds')} names the others, ${others.join(', ')}.`,
    details,
  );
}
