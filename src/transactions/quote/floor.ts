import { MathLib } from '@morpho-org/blue-sdk';
import { type Decimal, formatUnitsPlain } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { LimitExceededError } from '../errors.ts';
import { baseUnits } from '../input.ts';
import { formatAmount } from '../messages.ts';
import type { PlannedSwap } from '../types.ts';
import { withMinimum } from './planned.ts';

const FIELD = 'minAmountOut';

/**
 * Raise the minimum of a swap to the caller's own, whole tokens of its output. Where nothing prices the pair it is the only
 * bound of the swap, and required.
 * @throws BadRequestError when nothing else bounds the swap; LimitExceededError above the venue's offer
 */
export function withFloor(swap: PlannedSwap, minAmountOut: Decimal | undefined): PlannedSwap {
  const { tokenIn, tokenOut, quote } = swap;
  if (minAmountOut === undefined) {
    if (swap.reference !== undefined) return swap;
    const offered = formatUnitsPlain(quote.amountOut, tokenOut.decimals);
    throw new BadRequestError(
      `${FIELD} is missing. The service has no price of ${tokenIn.symbol} in ${tokenOut.symbol} to check a quote with: send the least ${tokenOut.symbol} that this swap may give. ${quote.source} offers ${offered} now, unconfirmed.`,
      { field: FIELD, limit: { required: true, offered, symbol: tokenOut.symbol } },
    );
  }
  return raise(swap, baseUnits(minAmountOut, tokenOut, FIELD));
}

/**
 * Raise the minimums of several sales into one token to the caller's own for all together, whole tokens, each in proportion to
 * its quote.
 * @throws LimitExceededError above the venues' offers
 */
export function withSharedFloor(
  swaps: readonly PlannedSwap[],
  minAmountOut: Decimal | undefined,
): readonly PlannedSwap[] {
  const [first] = swaps;
  if (minAmountOut === undefined || !first) return swaps;
  const floor = baseUnits(minAmountOut, first.tokenOut, FIELD);
  const offered = swaps.reduce((sum, { quote }) => sum + quote.amountOut, 0n);
  if (floor > offered) throw tooMuch(floor, offered, first);
  return swaps.map((swap) => raise(swap, MathLib.mulDivUp(floor, swap.quote.amountOut, offered)));
}

/** Refuse a minimum where nothing is swapped. */
export function nothingSwapped(symbol: string): BadRequestError {
  return new BadRequestError(`${FIELD} has no meaning here: paid with ${symbol}, nothing is swapped. Leave it out.`, {
    field: FIELD,
  });
}

function raise(swap: PlannedSwap, floor: bigint): PlannedSwap {
  if (floor > swap.quote.amountOut) throw tooMuch(floor, swap.quote.amountOut, swap);
  return withMinimum(swap, floor);
}

function tooMuch(floor: bigint, offered: bigint, { tokenOut }: PlannedSwap): LimitExceededError {
  const most = formatUnitsPlain(offered, tokenOut.decimals);
  return new LimitExceededError(
    `${FIELD} ${formatAmount(floor, tokenOut)} is above the venues' offers now: ${most}. Send at most that, or try again later.`,
    { field: FIELD, value: formatUnitsPlain(floor, tokenOut.decimals), limit: { maxAmountOut: most } },
  );
}
