import { collateralValueInLoan, increaseFlashLoan } from '../../domain/leverage/flash-loan.ts';
import { leverageFromLtvPct, ltvPctFromLeverage } from '../../domain/leverage/leveraged-apy.ts';
import { Decimal } from '../../shared/decimal.ts';
import { swapDataOf } from '../build/call.ts';
import { buildIncreaseLeverage } from '../build/flash-leverage.ts';
import type { LargestInput } from '../errors.ts';
import { requireUnmatured } from '../guards.ts';
import { requestedOf, targetLtvPct } from '../input.ts';
import {
  borrowingFlows,
  type LiquidityNeed,
  largestCovered,
  liquidityNeeds,
  liquidityOf,
  requireCovered,
} from '../liquidity.ts';
import { loanInCollateral } from '../preview/ltv.ts';
import { buyImpactPct, previewPosition, withinMaxLtv } from '../preview/position.ts';
import { withFloor } from '../quote/floor.ts';
import { worstOutput } from '../quote/planned.ts';
import { MAX_TOTAL_LOSS_PCT, requireLossWithin } from '../quote/refuse-costly-swaps.ts';
import { quoteSwap } from '../quote/request.ts';
import { sizeLoan } from '../quote/size.ts';
import { heldSlippage, slippageIssues } from '../quote/slippage.ts';
import { nothingToIncrease } from './lower.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/**
 * Borrow more through a flash loan and swap it into collateral until the target LTV is reached.
 * @throws NotEligibleError when the position is there already; InsufficientLiquidityError, LimitExceededError
 */
export async function increaseLeverage(context: ManageContext): Promise<VerbDraft> {
  const { chain, market, position, live, limits, input, rates } = context;
  requireUnmatured(market, context.deps.clock.now());
  const target = targetLtvPct(input, limits);
  const collateralValue = collateralValueInLoan(position.collateral, live.price);
  if (increaseFlashLoan({ collateralValue, debt: position.debt, targetLtvPct: target }) === 0n) {
    throw nothingToIncrease(market, position, live.price, target, context.deployment.depositFee);
  }
  const sized = await sizeLoan({
    chainId: market.chainId,
    collateral: position.collateral,
    debt: position.debt,
    price: live.price,
    targetLtvPct: target,
    feeBps: 0,
    sizeAt: (returned) => {
      const amount = increaseFlashLoan({ collateralValue, debt: position.debt, targetLtvPct: target, returned });
      // Managing brings no liquidity in: the market itself has to lend it.
      const needs = liquidityNeeds([borrowingFlows(market, amount)], [liquidityOf(market, live)]);
      requireCovered(needs, (all) => largestTarget(context, amount, all));
      return amount;
    },
    quoteAt: (amountIn) => {
      const executor = chain.contracts.flashLeverage;
      const wanted = { tokenIn: market.loan, tokenOut: market.collateral, amountIn, executor, feeBps: 0 };
      return quoteSwap(context.deps, context, wanted, loanInCollateral(amountIn, live.price));
    },
  });
  const { amount: amountFlashLoan, swap: before } = sized;
  const quoted = withFloor(before, input.minAmountOut);
  const { expectedOut } = quoted;
  const requested = requestedOf(input);
  const priceImpactPct = buyImpactPct(amountFlashLoan, expectedOut, live.price);
  requireLossWithin({
    swaps: [{ swap: quoted, outPrice: live.price }],
    equity: collateralValue - position.debt,
    maxTotalPct: MAX_TOTAL_LOSS_PCT.adding,
    maxSwapLossPct: context.maxSwapLossPct,
    largestPct: context.largestPct,
    requested,
  });
  const debt = position.debt + amountFlashLoan;
  const swap = withinMaxLtv(quoted, {
    collateral: position.collateral,
    debt: debt + context.interest,
    price: live.price,
    slippage: context.slippage,
    maxLtvPct: limits.maxLtvPct,
    requested,
  });
  const slippage = heldSlippage(context.slippage, [{ before, after: swap }]);
  return {
    path: 'increaseLeverage',
    approvals: [],
    tx: buildIncreaseLeverage(chain.contracts, {
      positionId: BigInt(position.id),
      amountFlashLoan,
      swapData: swapDataOf(swap),
      minTokenOut: swap.minOut,
    }),
    swaps: [swap],
    slippage,
    issues: slippageIssues(heldSlippage(context.slippage, [{ before: quoted, after: swap }])),
    amountFlashLoan,
    debtChange: amountFlashLoan,
    preview: previewPosition({
      price: live.price,
      after: { collateral: position.collateral + expectedOut, debt },
      worst: { collateral: position.collateral + worstOutput(swap), debt },
      basis: position.basis,
      requestedLtvPct: target,
      rates,
      swap: { source: swap.quote.source, priceImpactPct },
    }),
  };
}

/** The highest target that liquidity covers: the largest borrow, swapped without a loss, on top of the position. */
function largestTarget(
  { position, live }: Pick<ManageContext, 'position' | 'live'>,
  amountFlashLoan: bigint,
  needs: readonly LiquidityNeed[],
): LargestInput {
  const more = largestCovered(amountFlashLoan, needs);
  const held = collateralValueInLoan(position.collateral, live.price);
  const exact = new Decimal((position.debt + more).toString()).times(100).div((held + more).toString());
  if (more === 0n || exact.gte(100)) return {};
  const maxLtvPct = exact.decimalPlaces(2, Decimal.ROUND_DOWN);
  const maxLeverage = leverageFromLtvPct(exact).decimalPlaces(2, Decimal.ROUND_DOWN);
  const isHigher = (targetLtvPct: Decimal) =>
    increaseFlashLoan({ collateralValue: held, debt: position.debt, targetLtvPct }) > 0n;
  // A rounded target that the position has reached already would be refused.
  if (!isHigher(maxLtvPct) || !isHigher(ltvPctFromLeverage(maxLeverage))) return {};
  return { maxLeverage: maxLeverage.toFixed(2), maxLtvPct: maxLtvPct.toFixed(2) };
}
