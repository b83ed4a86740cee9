import { VerificationError } from './errors.ts';
import type { OwnMoney, SwapAtLeast } from './numbers.ts';
import { amountOf, type Proof } from './proof.ts';
import { proveTotalLoss } from './swaps.ts';
import type { TotalLimits } from './types.ts';

/** The sale of a leg of a position. Loan base units. */
export interface Sale extends SwapAtLeast {
  readonly index: number;
  /** Of the whole leg. */
  readonly equity: bigint;
}

/**
 * Prove the output and the loss of all sales of a plan together: each of them may be within its own bounds, and their sum not.
 * @throws VerificationError
 */
export function proveSales(
  proof: Proof,
  limits: TotalLimits,
  token: string,
  sales: readonly Sale[],
  defaults?: OwnMoney['defaults'],
): void {
  const sum = (read: (sale: Sale) => bigint) => sales.reduce((total, sale) => total + read(sale), 0n);
  const index = sales.at(-1)?.index ?? 0;
  const minimum = sum((sale) => sale.minimum);
  if (limits.minAmountOut !== undefined && minimum < limits.minAmountOut) {
    const [given, asked] = [minimum, limits.minAmountOut].map((units) => amountOf(proof, token, units).text);
    const message = `the sales may give as little as ${given}, and minAmountOut of the intent is ${asked}.`;
    throw new VerificationError('minimum', message, index);
  }
  const equity = sum((sale) => sale.equity);
  proveTotalLoss(proof, index, limits, sales, { token, equity, isLeaving: true, defaults });
}
