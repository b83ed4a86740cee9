import { formatUnitsPlain } from '../../shared/decimal.ts';
import { LimitExceededError } from '../errors.ts';
import { formatAmount } from '../messages.ts';
import type { PlannedSwap } from '../types.ts';
import { UNDER_WATER_WAYS, underWaterFact } from '../under-water.ts';

/**
 * Insist that a sale inside a flash loan is quoted at no less than the debt that it repays: the contracts revert below it.
 * @param held the debt, and the value of its collateral at the oracle's price, base units of the output; and whether the debt can be
 * repaid in part by itself
 * @param sale the sale as the refusal names it, e.g. `Selling all collateral`
 * @throws LimitExceededError with both numbers
 */
export function requireCoversDebt(
  { quote, tokenOut }: PlannedSwap,
  held: { readonly debt: bigint; readonly value: bigint; readonly isRepayable?: boolean },
  sale: string,
  requested: { readonly field: string; readonly value: string },
): void {
  const { debt, value } = held;
  if (quote.amountOut >= debt) return;
  const { decimals, symbol } = tokenOut;
  const excess = debt - value;
  const next =
    excess > 0n
      ? `${underWaterFact({ debt, collateralValue: value, excess }, tokenOut)} ${UNDER_WATER_WAYS}`
      : `The collateral is worth ${formatAmount(value, tokenOut)} at the oracle's price: try again when the venues pay more${held.isRepayable ? `, or repay at least ${formatAmount(debt - quote.amountOut, tokenOut)} first` : ''}.`;
  const limit = { proceeds: formatUnitsPlain(quote.amountOut, decimals), debt: formatUnitsPlain(debt, decimals) };
  throw new LimitExceededError(
    `${sale} would give ${limit.proceeds} ${symbol}, less than the debt of ${limit.debt} ${symbol}. ${next}`,
    { ...requested, limit },
  );
}
