import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import { buildDeleverage } from '../build/deleverage.ts';
import { LimitExceededError } from '../errors.ts';
import { closingFlows, liquidityNeeds, liquidityOf, requireCovered } from '../liquidity.ts';
import { swapDataOf } from '../open/build.ts';
import { sellImpactPct } from '../preview/position.ts';
import { requireLossWithin } from '../quoting/bounds.ts';
import { withMinimum } from '../quoting/planned.ts';
import { heldSlippage, slippageIssues } from '../quoting/slippage.ts';
import { payTokenOf } from '../requirements/tokens.ts';
import { shownAmount, shownPct } from '../words.ts';
import { quoteSwap } from './swap.ts';
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
  const { quote, expectedOut } = quoted.swap;
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
  const slippage = heldSlippage(context.slippage, [{ before: quoted.swap, after: swap }]);
  const impact = sellImpactPct(position.collateral, expectedOut, live.price);
  requireLossWithin({
    swaps: [{ swap: quoted.swap }],
    equity: collateralValueInLoan(position.collateral, live.price) - position.debt,
    boundsTotal: false,
    maxSwapLossPct: context.maxSwapLossPct,
    largestPct: context.largestPct,
    requested: { field: 'action', value: 'close' },
  });
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
    slippage,
    issues: slippageIssues(slippage),
    ...(position.debt > 0n ? { amountFlashLoan: position.debt, debtChange: -position.debt } : {}),
    notes: [
      `The swap loses ${shownPct(impact)} against the oracle's price. After repaying ${shownAmount(position.debt, market.loan)} about ${shownAmount(expectedOut > position.debt ? expectedOut - position.debt : 0n, market.loan)} is paid out.`,
    ],
  };
}
