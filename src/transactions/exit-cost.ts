import type { SwapSource } from '../catalog/schema.ts';
import type { Chain, Market } from '../catalog/types.ts';
import { collateralValueInLoan } from '../domain/leverage/flash-loan.ts';
import { AppError } from '../shared/errors.ts';
import type { BuilderDeps } from './deps.ts';
import { DEFAULT_SLIPPAGE } from './input.ts';
import { expectedOutput } from './quote/loss.ts';
import { requestQuote } from './quote/request.ts';

/** Loss of selling all collateral of a position now. */
export type ExitCost =
  | { readonly ok: true; readonly lostLoan: bigint; readonly amountOut: bigint; readonly source: SwapSource }
  /** Stable code of the reason, e.g. `no_route`. */
  | { readonly ok: false; readonly reason: string };

/** Quote the sale of `collateral` base units, without any fee of ours. Never throws an expected error. */
export async function exitCost(
  deps: BuilderDeps,
  chain: Chain,
  market: Market,
  collateral: bigint,
  price: bigint,
): Promise<ExitCost> {
  const value = collateralValueInLoan(collateral, price);
  const sale = { tokenIn: market.collateral, tokenOut: market.loan, amountIn: collateral, feeBps: 0 };
  const executor = chain.contracts.flashLeverage;
  try {
    const quote = await requestQuote(deps, { chain, slippage: { value: DEFAULT_SLIPPAGE } }, { ...sale, executor });
    const amountOut = expectedOutput(quote.amountOut, value);
    return { ok: true, lostLoan: value - amountOut, amountOut, source: quote.source };
  } catch (error) {
    if (error instanceof AppError) return { ok: false, reason: error.code };
    throw error;
  }
}
