import { formatUnitsPlain } from '../../shared/decimal.ts';
import { buildDeleverage } from '../build/deleverage.ts';
import { LimitExceededError } from '../errors.ts';
import { closingFlows, liquidityNeeds, liquidityOf, requireCovered } from '../liquidity.ts';
import { swapDataOf } from '../open/build.ts';
import { requireWithinCap, sellImpactPct } from '../preview/position.ts';
import { payTokenOf } from '../requirements/tokens.ts';
import { shownAmount, shownPct } from '../words.ts';
import { quoteSwap, withMinimum } from './swap.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/**
 * Sell all collateral, repay all debt, and send the rest to the user. The swap gives at least the debt, or nothing happens.
 * @throws InsufficientLiquidityError when the protocol does not hold the whole debt; LimitExceededError
 */
export async function closePosition(context: ManageContext): Promise<VerbDraft> {
  const { chain, market, position, live } = context;
  const { contracts } = chain;
  requireCovered(liquidityNeeds([closingFlows(market, position.debt)], [liquidityOf(market, live)]));
  const quoted = await quoteSwap(context, {
    tokenIn: payTokenOf(market.collateral),
    tokenOut: payTokenOf(market.loan),
    amountIn: position.collateral,
    executor: contracts.flashLeverage,
    feeBps: 0,
  });
  const { quote } = quoted.swap;
  if (quote.amountOut < position.debt) {
    const { decimals } = market.loan;
    throw new LimitExceededError(
      `Selling all collateral would give ${shownAmount(quote.amountOut, market.loan)}, less than the debt of ${shownAmount(position.debt, market.loan)}. Repay some debt first.`,
      {
        field: 'action',
        value: 'close',
        limit: {
          proceeds: formatUnitsPlain(quote.amountOut, decimals),
          debt: formatUnitsPlain(position.debt, decimals),
        },
      },
    );
  }
  const swap = withMinimum(quoted.swap, position.debt);
  const impact = sellImpactPct(position.collateral, quote.amountOut, live.price);
  requireWithinCap(impact, { field: 'action', value: 'close' });
  return {
    path: 'deleverage',
    approvals: [],
    tx: buildDeleverage(contracts, {
      positionId: BigInt(position.id),
      amountCollateral: 0n,
      swapData: swapDataOf(quote),
      minTokenOut: swap.minOut,
    }),
    swaps: [swap],
    ...(position.debt > 0n ? { amountFlashLoan: position.debt, debtChange: -position.debt } : {}),
    notes: [
      `The swap loses ${shownPct(impact)} against the oracle's price. After repaying ${shownAmount(position.debt, market.loan)} about ${shownAmount(quote.amountOut - position.debt, market.loan)} is paid out.`,
    ],
  };
}
