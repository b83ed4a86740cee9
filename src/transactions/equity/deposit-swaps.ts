import type { EquityVault } from '../../catalog/types.ts';
import { depositFeeOf } from '../../domain/leverage/fees.ts';
import { type Decimal, formatUnitsPlain } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { Address } from '../../shared/ids.ts';
import { type BuilderDeps, referralFeeBps } from '../deps.ts';
import { leastOutput } from '../input.ts';
import {
  borrowingFlows,
  type Flow,
  type LiquidityNeed,
  largestSwapped,
  liquidityNeeds,
  liquidityOf,
  type MarketLiquidity,
  requireCovered,
} from '../liquidity.ts';
import { loanInCollateral } from '../preview/ltv.ts';
import { worstOutput } from '../quote/planned.ts';
import { quoteSwap, type SwapBounds } from '../quote/request.ts';
import { sizeLoan } from '../quote/size.ts';
import type { PlannedSwap } from '../types.ts';
import type { LiveVault } from './read.ts';
import { sizeFlashLoan, sizeStockBorrow, yieldTargetLtvPct } from './sizing.ts';
import type { DepositSwaps } from './types.ts';
import type { FoundVault } from './vault.ts';

/** A deposit request, checked and in base units. */
export interface DepositOrder extends FoundVault, SwapBounds {
  readonly amountIn: bigint;
  readonly stockLtvPct: Decimal;
}

export interface SizedDeposit {
  /** As quoted. */
  readonly swaps: DepositSwaps;
  readonly stockBorrow: bigint;
  /** The least collateral that the loop opens with, before the flash loan's. */
  readonly minCollateral: bigint;
  readonly amountFlashLoan: bigint;
}

/**
 * Quote the three swaps of a deposit one after the other: each is sized on the least output of the one before.
 * @throws BadRequestError, InsufficientLiquidityError, NoRouteError, UpstreamUnavailableError
 */
export async function sizeDeposit(deps: BuilderDeps, order: DepositOrder, live: LiveVault): Promise<SizedDeposit> {
  const { chain, router, vault, amountIn, stockLtvPct, slippage } = order;
  const { depositToken, stock, stockMarket, yieldMarket } = vault;
  const { limits, depositFee } = live.deployment;
  const targetLtvPct = yieldTargetLtvPct(limits, slippage.value);
  const prices = { stock: live.stock.price, yield: live.yieldMarket.price };
  const feeBps = { stock: referralFeeBps(deps, stockMarket), yield: referralFeeBps(deps, yieldMarket) };
  const liquidity = [liquidityOf(stockMarket, live.stock), liquidityOf(yieldMarket, live.yieldMarket)];
  const largest = () => ({
    maxAmount: formatUnitsPlain(largestDeposit(order, live, feeBps.yield, liquidity), depositToken.decimals),
  });
  const buy = (leg: 'stock' | 'yield', tokenOut: PlannedSwap['tokenOut'], amount: bigint, executor: Address) =>
    quoteSwap(
      deps,
      order,
      { tokenIn: depositToken, tokenOut, amountIn: amount, executor, feeBps: feeBps[leg] },
      loanInCollateral(amount, prices[leg]),
    );

  const stockSwap = await buy('stock', stock, amountIn, router);
  const stockBorrow = sizeStockBorrow(worstOutput(stockSwap), prices.stock, stockLtvPct);
  requirePositive(stockBorrow, order);
  // Before the rest is quoted: above the liquidity of the stock market there may be no quote at all.
  requireCovered(liquidityNeeds([[{ kind: 'borrow', market: stockMarket, amount: stockBorrow }]], liquidity), largest);

  const zap = await buy('yield', yieldMarket.collateral, stockBorrow, router);
  const minCollateral = worstOutput(zap) - depositFeeOf(worstOutput(zap), depositFee);
  const { amount: amountFlashLoan, swap: leverage } = await sizeLoan({
    chainId: vault.chainId,
    collateral: minCollateral,
    price: prices.yield,
    targetLtvPct,
    feeBps: feeBps.yield,
    sizeAt: (returned) => {
      const amount = sizeFlashLoan(targetLtvPct, minCollateral, prices.yield, returned);
      requirePositive(amount, order);
      requireCovered(depositNeeds(vault, stockBorrow, amount, liquidity), largest);
      return amount;
    },
    quoteAt: (amount) => buy('yield', yieldMarket.collateral, amount, chain.contracts.flashLeverage),
  });
  return { swaps: { stock: stockSwap, zap, leverage }, stockBorrow, minCollateral, amountFlashLoan };
}

/** The largest deposit that is covered, as if its swaps lost the slippage and the referral fee only: smaller ones get better prices. */
function largestDeposit(
  { vault, amountIn, stockLtvPct, slippage }: DepositOrder,
  { stock, yieldMarket, deployment }: LiveVault,
  feeBps: number,
  liquidity: readonly MarketLiquidity[],
): bigint {
  const least = (amount: bigint, price: bigint) => leastOutput(loanInCollateral(amount, price), slippage.value);
  const borrow = sizeStockBorrow(least(amountIn, stock.price), stock.price, stockLtvPct);
  const returned = { numerator: 10_000n - BigInt(feeBps), denominator: 10_000n };
  const { price } = yieldMarket;
  const targetLtvPct = yieldTargetLtvPct(deployment.limits, slippage.value);
  const loan = sizeFlashLoan(targetLtvPct, least(borrow, price), price, returned);
  return largestSwapped(amountIn, depositNeeds(vault, borrow, loan, liquidity));
}

/** The stock leg borrows before the flash loan of the yield leg, and both are out when the yield leg borrows. */
function depositNeeds(
  { stockMarket, yieldMarket }: EquityVault,
  stockBorrow: bigint,
  amountFlashLoan: bigint,
  liquidity: readonly MarketLiquidity[],
): readonly LiquidityNeed[] {
  const flows: readonly Flow[] = [
    { kind: 'borrow', market: stockMarket, amount: stockBorrow },
    ...borrowingFlows(yieldMarket, amountFlashLoan),
  ];
  return liquidityNeeds([flows], liquidity);
}

function requirePositive(borrowed: bigint, { vault: { depositToken }, amountIn }: DepositOrder): void {
  if (borrowed > 0n) return;
  throw new BadRequestError('amount is too small: not one unit would be borrowed on it. Send more.', {
    field: 'amount',
    value: formatUnitsPlain(amountIn, depositToken.decimals),
  });
}
