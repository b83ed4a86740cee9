import type { Market } from '../../catalog/types.ts';
import { depositFeeOf } from '../../domain/leverage/fees.ts';
import { collateralValueInLoan, openFlashLoan, type Returned } from '../../domain/leverage/flash-loan.ts';
import type { LtvLimits } from '../../domain/leverage/limits.ts';
import { type Decimal, formatUnitsPlain } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { StrategyId } from '../../shared/ids.ts';
import { LARGEST_LOSS_PCT, leastOutput } from '../input.ts';
import {
  borrowingFlows,
  largestSwapped,
  lendsWithRoom,
  liquidityNeeds,
  liquidityOf,
  requireCovered,
} from '../liquidity.ts';
import { buyImpactPct, previewPosition, withinMaxLtv } from '../preview/position.ts';
import type { MarketRates } from '../preview/rates.ts';
import { worstOutput } from '../quote/planned.ts';
import { MAX_TOTAL_LOSS_PCT, requireLossWithin } from '../quote/refuse-costly-swaps.ts';
import type { SwapBounds } from '../quote/request.ts';
import { heldSlippage } from '../quote/slippage.ts';
import type { AllocatorSource } from '../read/allocator.ts';
import type { LiveMarket } from '../read/market-state.ts';
import { planReallocation, reallocatable } from '../reallocation.ts';
import type { OpenTerms, PayToken, PlannedSwap, Reallocation } from '../types.ts';

/** An open request, checked and in base units. */
export interface OpenRequest extends SwapBounds {
  readonly market: Market;
  readonly limits: LtvLimits;
  readonly payToken: PayToken;
  readonly amountIn: bigint;
  readonly targetLtvPct: Decimal;
  /** The least collateral that the swap of the pay token may give, whole tokens. */
  readonly minAmountOut?: Decimal | undefined;
  /** The input that set the target, for refusals. */
  readonly requested: { readonly field: string; readonly value: string };
  readonly feeBps: number;
  /** Share of the collateral that the contract takes first, in WAD. */
  readonly depositFee: bigint;
}

/** Base units: rounding alone may cost a swap of fewer more than the 1 % that the contracts accept. */
const LEAST_LOAN = 100n;

export interface OpenSize {
  /** The least collateral that is paid in. */
  readonly amountCollateral: bigint;
  /** The same after the deposit fee: the least that the position opens with. */
  readonly netCollateral: bigint;
  readonly amountFlashLoan: bigint;
}

/**
 * Size the flash loan on the least collateral that the entry swap may give, and on the share of its value that its own swap returns.
 * @throws BadRequestError for an amount so small that next to nothing is borrowed
 */
export function sizeOpen(
  request: OpenRequest,
  entry: PlannedSwap | undefined,
  price: bigint,
  returned?: Returned,
): OpenSize {
  const amountCollateral = entry ? worstOutput(entry) : request.amountIn;
  const netCollateral = amountCollateral - depositFeeOf(amountCollateral, request.depositFee);
  const value = collateralValueInLoan(netCollateral, price);
  const amountFlashLoan = openFlashLoan(value, request.targetLtvPct, returned);
  if (amountFlashLoan < LEAST_LOAN) {
    const { loan } = request.market;
    throw new BadRequestError(
      `amount is too small: at this leverage only ${formatUnitsPlain(amountFlashLoan, loan.decimals)} ${loan.symbol} would be borrowed. Send more, or ask for more leverage.`,
      { field: 'amount', value: formatUnitsPlain(request.amountIn, request.payToken.decimals) },
    );
  }
  return { amountCollateral, netCollateral, amountFlashLoan };
}

/** The largest leverage of an amount: its swaps lose only the slippage of the entry and the referral fee. */
export function mostLoan(request: OpenRequest, entry: PlannedSwap | undefined, price: bigint): bigint {
  const { amountIn, targetLtvPct, slippage, feeBps } = request;
  const best = entry && leastOutput(entry.reference ?? entry.quote.amountOut, slippage.value);
  const returned = { numerator: 10_000n - BigInt(feeBps), denominator: 10_000n };
  return openFlashLoan(collateralValueInLoan(best ?? amountIn, price), targetLtvPct, returned);
}

/**
 * Decide whether the market lends the flash loan itself (with something left over) or needs a reallocation first, and whether
 * the protocol holds enough of the loan token. `largestLoan` is the largest loan that the amount could lead to: a smaller amount
 * is swapped at better prices, and the largest amount of a refusal has to be covered then as well.
 * @throws InsufficientLiquidityError with needed, available and the largest amount that is covered
 */
export function planLiquidity(
  { market, chain, amountIn, payToken }: Pick<OpenRequest, 'market' | 'chain' | 'amountIn' | 'payToken'>,
  amountFlashLoan: bigint,
  live: Pick<LiveMarket, 'liquidity' | 'idle'>,
  sources: readonly AllocatorSource[],
  largestLoan = amountFlashLoan,
): { readonly reallocations: readonly Reallocation[]; readonly moved: bigint } {
  const isShort = chain.contracts.publicAllocator !== undefined && !lendsWithRoom(live.liquidity, amountFlashLoan);
  const plan = isShort ? planReallocation(sources, live.liquidity, amountFlashLoan) : undefined;
  const moved = plan?.moved ?? (isShort ? reallocatable(sources) : 0n);
  const needs = liquidityNeeds([borrowingFlows(market, amountFlashLoan)], [liquidityOf(market, live, moved)]);
  requireCovered(needs, () => {
    const most = liquidityNeeds([borrowingFlows(market, largestLoan)], [liquidityOf(market, live, moved)]);
    return { maxAmount: formatUnitsPlain(largestSwapped(amountIn, most), payToken.decimals) };
  });
  return plan ?? { reallocations: [], moved: 0n };
}

/** Join path, minimums and preview. @throws LimitExceededError when the fill would end above the limit */
export function openTerms(input: {
  readonly request: OpenRequest;
  readonly price: bigint;
  readonly entry: PlannedSwap | undefined;
  readonly size: OpenSize;
  /** The swap of the flash loan, as quoted. */
  readonly loanSwap: PlannedSwap;
  readonly reallocations: readonly Reallocation[];
  /** Their fee, loan base units; absent where nothing prices it. */
  readonly reallocationFee?: bigint | undefined;
  readonly rates: MarketRates | undefined;
}): OpenTerms {
  const { request, price, entry, size, loanSwap, reallocations, reallocationFee, rates } = input;
  const { chain, market, payToken, amountIn, limits, targetLtvPct, requested, maxSwapLossPct } = request;
  const { amountCollateral, netCollateral, amountFlashLoan } = size;
  const { expectedOut } = loanSwap;
  requireLossWithin({
    swaps: [...(entry ? [entry] : []), loanSwap].map((swap) => ({ swap, outPrice: price })),
    fees: collateralValueInLoan(amountCollateral - netCollateral, price) + (reallocationFee ?? 0n),
    equity: collateralValueInLoan(entry ? (entry.reference ?? entry.expectedOut) : amountIn, price),
    maxTotalPct: MAX_TOTAL_LOSS_PCT.adding,
    maxSwapLossPct,
    largestPct: LARGEST_LOSS_PCT.adding,
    requested,
  });
  const limit = { collateral: netCollateral, debt: amountFlashLoan, price, maxLtvPct: limits.maxLtvPct };
  const leverageSwap = withinMaxLtv(loanSwap, { ...limit, slippage: request.slippage, requested });
  const slippage = heldSlippage(request.slippage, [{ before: loanSwap, after: leverageSwap }]);
  const paidIn = entry ? entry.expectedOut : amountCollateral;
  const depositFee = depositFeeOf(paidIn, request.depositFee);
  const expectedCollateral = paidIn - depositFee;
  return {
    chainId: chain.chainId,
    strategyId: market.id as string as StrategyId,
    path: pathOf(entry !== undefined, reallocations.length > 0),
    payToken,
    amountIn,
    entrySwap: entry,
    amountCollateral,
    depositFee,
    depositFeeRate: request.depositFee,
    amountFlashLoan,
    leverageSwap,
    reallocations,
    movingFee: reallocationFee ?? null,
    slippage,
    preview: previewPosition({
      price,
      after: { collateral: expectedCollateral + expectedOut, debt: amountFlashLoan },
      worst: { collateral: netCollateral + worstOutput(leverageSwap), debt: amountFlashLoan },
      basis: collateralValueInLoan(expectedCollateral, price),
      requestedLtvPct: targetLtvPct,
      rates,
      swap: { source: leverageSwap.quote.source, priceImpactPct: buyImpactPct(amountFlashLoan, expectedOut, price) },
    }),
  };
}

function pathOf(isSwapped: boolean, isReallocated: boolean): OpenTerms['path'] {
  if (isReallocated) return isSwapped ? 'reallocateSwapAndLeverage' : 'reallocateAndLeverage';
  return isSwapped ? 'swapAndLeverage' : 'leverage';
}
