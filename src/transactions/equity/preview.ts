import { equityNetApyPct, stockLiquidationPrice } from '../../domain/equity/compose.ts';
import { depositFeeOf } from '../../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { exactApyPctAtLtv, formatLeverage } from '../../domain/leverage/leveraged-apy.ts';
import { limitsOf } from '../../domain/market/statics.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import { formatPrice, wholePrice } from '../../domain/position/valuation.ts';
import {
  type Decimal,
  formatPct,
  formatUnitsPlain,
  fromUnits,
  HUNDRED,
  toFixedHalfUp,
  ZERO,
} from '../../shared/decimal.ts';
import type { StrategyId } from '../../shared/ids.ts';
import { ltvPctOf } from '../preview/ltv.ts';
import { buyImpactPct } from '../preview/position.ts';
import type { BeforeAfter } from '../preview/rates.ts';
import { worstOutput } from '../quote/planned.ts';
import type { PricedAt } from '../read/market-state.ts';
import type { PlannedSwap, PositionState } from '../types.ts';
import { depositCosts } from './costs.ts';
import { stockCapPct, type VaultPrices } from './sizing.ts';
import type { CombinedStock, DepositFees, DepositPreview, DepositTerms } from './types.ts';

export interface PreviewInput extends Omit<DepositTerms, 'preview' | 'router'> {
  readonly prices: VaultPrices;
  readonly stock: ComposedMarket;
  readonly yieldMarket: ComposedMarket;
  /** The wallet's stock leg before it, base units; absent without a wallet. */
  readonly held?: PositionState | undefined;
  /** Borrow APY of both markets now and once this deposit has borrowed, percent. */
  readonly borrowApyPct: { readonly stock: BeforeAfter; readonly yield: BeforeAfter };
  /** Where debts and prices of both markets were read. */
  readonly priced: { readonly stock: PricedAt; readonly yield: PricedAt };
}

/**
 * Preview a deposit: the position as it is shown once every swap has filled at its quote. Every APY is the one at the rates of
 * both markets after the deposit's own borrow.
 */
export function previewDeposit(input: PreviewInput): DepositPreview {
  const { vault, amountIn, swaps, prices, stock, yieldMarket, fees } = input;
  const { depositToken, stockMarket } = vault;
  const { liquidationLtvPct } = limitsOf(stockMarket);
  const ltvPct = ltvOf({ collateral: swaps.stock.expectedOut, debt: input.stockBorrow }, prices.stock);
  const loanUsd = stock.loanPrice?.value.usd;
  const priceUsd = loanUsd && wholePrice(prices.stock, stockMarket).times(loanUsd);
  const legLtvPct = yieldLtvPct(input);
  const rates = input.borrowApyPct;
  const incentivePct = (market: ComposedMarket) => market.borrowApyPct.minus(market.netBorrowApyPct);
  const legApyPct = (rate: Decimal) =>
    exactApyPctAtLtv(yieldMarket.effectiveCollateralApyPct, rate.minus(incentivePct(yieldMarket)), legLtvPct);
  const leg = { before: legApyPct(rates.yield.before), after: legApyPct(rates.yield.after) };
  const netApyPct = (legPct: Decimal, rate: Decimal) =>
    equityNetApyPct(ltvPct, legPct, rate.minus(incentivePct(stock)));
  const net = {
    before: netApyPct(leg.before, rates.stock.before),
    after: netApyPct(leg.after, rates.stock.after),
  };
  const usdg = (units: bigint) => formatUnitsPlain(units, depositToken.decimals);
  const yieldDecimals = vault.yieldMarket.collateral.decimals;
  return {
    chainId: vault.chainId,
    strategyId: vault.id,
    depositAmount: usdg(amountIn),
    stock: {
      symbol: vault.stock.symbol,
      priceUsd: priceUsd && formatPrice(priceUsd),
      expectedReceived: formatUnitsPlain(swaps.stock.expectedOut, vault.stock.decimals),
      minReceived: formatUnitsPlain(worstOutput(swaps.stock), vault.stock.decimals),
      requestedLtvPct: formatPct(input.stockLtvPct),
      ltvPct: formatPct(ltvPct),
      maxLtvPct: formatPct(stockCapPct(vault)),
      liquidationLtvPct: formatPct(liquidationLtvPct),
      liquidationPriceUsd: priceUsd && formatPrice(stockLiquidationPrice(priceUsd, ltvPct, liquidationLtvPct)),
      priceDropToLiquidationPct: formatPct(priceDropPct(ltvPct, liquidationLtvPct)),
      combined: input.held ? combinedStock(input, input.held, priceUsd) : undefined,
      borrowUsdg: usdg(input.stockBorrow),
      borrowApyPct: formatPct(rates.stock.after),
      borrowApyBeforePct: formatPct(rates.stock.before),
      swapSource: swaps.stock.quote.source,
      priceImpactPct: formatPct(buyImpactPct(amountIn, swaps.stock.expectedOut, prices.stock)),
    },
    yieldLeg: {
      strategyId: vault.yieldMarket.id as string as StrategyId,
      collateralIn: formatUnitsPlain(swaps.zap.expectedOut, yieldDecimals),
      minCollateralIn: formatUnitsPlain(worstOutput(swaps.zap), yieldDecimals),
      leverage: formatLeverage(legLtvPct),
      ltvPct: formatPct(legLtvPct),
      liquidationLtvPct: formatPct(limitsOf(vault.yieldMarket).liquidationLtvPct),
      amountFlashLoan: usdg(input.amountFlashLoan),
      depositBasis: usdg(collateralValueInLoan(zapped(input), prices.yield)),
      leverageApyPct: formatPct(leg.after),
      leverageApyBeforePct: formatPct(leg.before),
      swapSource: swaps.leverage.quote.source,
      priceImpactPct: formatPct(legImpactPct(input)),
      ...priceAsOf(input.priced.yield),
    },
    netApyPct: formatPct(net.after),
    netApyBeforePct: formatPct(net.before),
    fees: {
      stockLegBps: fees.stockLegBps,
      yieldLegBps: fees.yieldLegBps,
      estimatedFeeUsd: loanUsd && toFixedHalfUp(feeOf(input, fees, depositToken.decimals).times(loanUsd), 2),
    },
    ...depositCosts(input, loanUsd),
    ...input.priced.stock,
  };
}

function priceAsOf({ oraclePriceAsOfMs }: PricedAt): Pick<PricedAt, 'oraclePriceAsOfMs'> {
  return oraclePriceAsOfMs === undefined ? {} : { oraclePriceAsOfMs };
}

/** The wallet's stock leg with the deposit at its expected fill. */
function combinedStock(
  { vault, swaps, stockBorrow, prices }: PreviewInput,
  held: PositionState,
  priceUsd: Decimal | undefined,
): CombinedStock {
  const { liquidationLtvPct } = limitsOf(vault.stockMarket);
  const collateral = held.collateral + swaps.stock.expectedOut;
  const debt = held.debt + stockBorrow;
  const ltvPct = ltvOf({ collateral, debt }, prices.stock);
  return {
    collateral: formatUnitsPlain(collateral, vault.stock.decimals),
    debtUsdg: formatUnitsPlain(debt, vault.depositToken.decimals),
    ltvPct: formatPct(ltvPct),
    liquidationPriceUsd: priceUsd && formatPrice(stockLiquidationPrice(priceUsd, ltvPct, liquidationLtvPct)),
    priceDropToLiquidationPct: formatPct(priceDropPct(ltvPct, liquidationLtvPct)),
  };
}

/** How far the stock may fall before it can be liquidated, percent: `(1 − ltv / liquidationLtv) × 100`. */
function priceDropPct(ltvPct: Decimal, liquidationLtvPct: Decimal): Decimal {
  return HUNDRED.minus(ltvPct.div(liquidationLtvPct).times(HUNDRED));
}

/** The collateral of the loop that was bought, without the deposit fee. */
function zapped({ swaps: { zap }, depositFee }: Pick<PreviewInput, 'swaps' | 'depositFee'>): bigint {
  return zap.expectedOut - depositFeeOf(zap.expectedOut, depositFee);
}

/** The loop of the yield leg at the expected fill. */
function loopOf(input: Pick<PreviewInput, 'swaps' | 'depositFee' | 'amountFlashLoan'>): PositionState {
  return { collateral: zapped(input) + input.swaps.leverage.expectedOut, debt: input.amountFlashLoan };
}

function yieldLtvPct(input: PreviewInput): Decimal {
  return ltvOf(loopOf(input), input.prices.yield);
}

/** Loss of both swaps of the yield leg. */
function legImpactPct({ swaps, prices, stockBorrow, amountFlashLoan }: PreviewInput): Decimal {
  const out = swaps.zap.expectedOut + swaps.leverage.expectedOut;
  return buyImpactPct(stockBorrow + amountFlashLoan, out, prices.yield);
}

/** Whole deposit tokens that the swaps give to the referral. */
function feeOf({ swaps }: PreviewInput, fees: DepositFees, decimals: number): Decimal {
  const share = ({ quote }: PlannedSwap, bps: number) => fromUnits(quote.amountIn, decimals).times(bps).shiftedBy(-4);
  return share(swaps.stock, fees.stockLegBps)
    .plus(share(swaps.zap, fees.yieldLegBps))
    .plus(share(swaps.leverage, fees.yieldLegBps));
}

/** LTV in percent; 0 where the collateral is worth nothing. */
function ltvOf(position: PositionState, price: bigint): Decimal {
  return ltvPctOf(position, price) ?? ZERO;
}
