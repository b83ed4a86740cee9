import type { Chain, Market } from '../../catalog/types.ts';
import { collateralValueInLoan, openFlashLoan } from '../../domain/leverage/flash-loan.ts';
import type { LtvLimits } from '../../domain/leverage/limits.ts';
import { type Decimal, formatUnitsPlain } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { StrategyId } from '../../shared/ids.ts';
import type { SwapQuote } from '../../upstreams/types.ts';
import { LARGEST_LOSS_PCT } from '../input.ts';
import { borrowingFlows, largestSwapped, liquidityNeeds, liquidityOf, requireCovered } from '../liquidity.ts';
import { loanInCollateral } from '../preview/ltv.ts';
import { buyImpactPct, leastLeverageOutput, type MarketRates, previewPosition } from '../preview/position.ts';
import { requireLossWithin } from '../quoting/bounds.ts';
import { planSwap, withMinimum, worstOutput } from '../quoting/planned.ts';
import { planReallocation, reallocatable } from '../reallocation.ts';
import type { AllocatorSource } from '../requirements/allocator.ts';
import type { LiveMarket } from '../requirements/market-state.ts';
import type { OpenTerms, PayToken, PlannedSwap, Reallocation } from '../types.ts';

/** What was asked for, checked and in base units. */
export interface OpenRequest {
  readonly chain: Chain;
  readonly market: Market;
  readonly limits: LtvLimits;
  readonly payToken: PayToken;
  readonly amountIn: bigint;
  readonly targetLtvPct: Decimal;
  readonly slippage: Decimal;
  /** The input that set the target, for refusals. */
  readonly requested: { readonly field: string; readonly value: string };
  readonly feeBps: number;
}

/** The swap of the pay token into collateral, as quoted. */
export function planEntrySwap(request: OpenRequest, quote: SwapQuote, reference: bigint | undefined): PlannedSwap {
  const { payToken, market, slippage } = request;
  return planSwap({ tokenIn: payToken, tokenOut: market.collateral, quote, reference, slippage });
}

/** Base units: rounding alone may cost a swap of fewer more than the 1 % that the contracts accept. */
const LEAST_LOAN = 100n;

export interface OpenSize {
  /** The least collateral that the position opens with. */
  readonly amountCollateral: bigint;
  readonly amountFlashLoan: bigint;
}

/**
 * Size the flash loan on the least collateral that the entry swap may give, so that the target holds in the worst fill.
 * @throws BadRequestError for an amount so small that as good as nothing is borrowed
 */
export function sizeOpen(request: OpenRequest, entry: PlannedSwap | undefined, price: bigint): OpenSize {
  const amountCollateral = entry ? worstOutput(entry) : request.amountIn;
  const amountFlashLoan = openFlashLoan(collateralValueInLoan(amountCollateral, price), request.targetLtvPct);
  if (amountFlashLoan < LEAST_LOAN) {
    const { loan } = request.market;
    throw new BadRequestError(
      `amount is too small: at this leverage only ${formatUnitsPlain(amountFlashLoan, loan.decimals)} ${loan.symbol} would be borrowed. Send more, or ask for more leverage.`,
      { field: 'amount', value: formatUnitsPlain(request.amountIn, request.payToken.decimals) },
    );
  }
  return { amountCollateral, amountFlashLoan };
}

/**
 * Decide whether the market lends the flash loan itself (strictly more than it is there) or needs a reallocation first, and
 * whether the protocol holds enough of the loan token.
 * @throws InsufficientLiquidityError with needed, available and the largest amount that would do
 */
export function planLiquidity(
  { market, chain, amountIn, payToken }: Pick<OpenRequest, 'market' | 'chain' | 'amountIn' | 'payToken'>,
  amountFlashLoan: bigint,
  live: Pick<LiveMarket, 'liquidity' | 'idle'>,
  sources: readonly AllocatorSource[],
): { readonly reallocations: readonly Reallocation[]; readonly moved: bigint } {
  const isShort = amountFlashLoan >= live.liquidity && chain.contracts.publicAllocator !== undefined;
  const plan = isShort ? planReallocation(sources, live.liquidity, amountFlashLoan) : undefined;
  const moved = plan?.moved ?? (isShort ? reallocatable(sources) : 0n);
  const needs = liquidityNeeds([borrowingFlows(market, amountFlashLoan)], [liquidityOf(market, live, moved)]);
  requireCovered(needs, (all) => ({
    maxAmount: formatUnitsPlain(largestSwapped(amountIn, all), payToken.decimals),
  }));
  return plan ?? { reallocations: [], moved: 0n };
}

/** Bring everything together: path, minimums and preview. @throws LimitExceededError when the fill would end above the limit */
export function openTerms(input: {
  readonly request: OpenRequest;
  readonly price: bigint;
  readonly entry: PlannedSwap | undefined;
  readonly size: OpenSize;
  readonly quote: SwapQuote;
  readonly reallocations: readonly Reallocation[];
  readonly rates: MarketRates | undefined;
}): OpenTerms {
  const { request, price, entry, size, quote, reallocations, rates } = input;
  const { chain, market, payToken, amountIn, slippage, limits, targetLtvPct, requested } = request;
  const { amountCollateral, amountFlashLoan } = size;
  const { loan, collateral } = market;
  const reference = loanInCollateral(amountFlashLoan, price);
  const planned = planSwap({ tokenIn: loan, tokenOut: collateral, quote, reference, slippage });
  const { expectedOut } = planned;
  requireLossWithin({
    swaps: [...(entry ? [entry] : []), planned].map((swap) => ({ swap, outPrice: price })),
    equity: collateralValueInLoan(entry ? (entry.reference ?? entry.expectedOut) : amountIn, price),
    boundsTotal: true,
    largestPct: LARGEST_LOSS_PCT.adding,
    requested,
  });
  const minOut = leastLeverageOutput({
    expectedOut,
    slippage,
    collateral: amountCollateral,
    debt: amountFlashLoan,
    price,
    maxLtvPct: limits.maxLtvPct,
    requested,
  });
  const leverageSwap = withMinimum(planned, minOut);
  const expectedCollateral = entry ? entry.expectedOut : amountCollateral;
  return {
    chainId: chain.chainId,
    strategyId: market.id as string as StrategyId,
    path: pathOf(entry !== undefined, reallocations.length > 0),
    payToken,
    amountIn,
    ...(entry ? { entrySwap: entry } : {}),
    amountCollateral,
    amountFlashLoan,
    leverageSwap,
    reallocations,
    slippage,
    preview: previewPosition({
      price,
      after: { collateral: expectedCollateral + expectedOut, debt: amountFlashLoan },
      worst: { collateral: amountCollateral + worstOutput(leverageSwap), debt: amountFlashLoan },
      requestedLtvPct: targetLtvPct,
      rates,
      swap: { source: quote.source, priceImpactPct: buyImpactPct(amountFlashLoan, expectedOut, price) },
    }),
  };
}

function pathOf(isSwapped: boolean, isReallocated: boolean): OpenTerms['path'] {
  if (isReallocated) return isSwapped ? 'reallocateSwapAndLeverage' : 'reallocateAndLeverage';
  return isSwapped ? 'swapAndLeverage' : 'leverage';
}
