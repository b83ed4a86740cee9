import { depositFeeOf } from '../../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { type Decimal, formatPct, formatUnitsPlain, HUNDRED, toFixedHalfUp } from '../../shared/decimal.ts';
import { type CostedSwap, contractFees, costBasis, pricedCosts } from '../preview/costs.ts';
import { liquidationOf } from '../preview/economics.ts';
import { ltvPctOf } from '../preview/ltv.ts';
import { worstOutput } from '../quote/planned.ts';
import type { VaultPrices } from './sizing.ts';
import type { DepositCosts, DepositTerms } from './types.ts';

/** Compute the costs of a deposit, its value after the worst fill, and the liquidation of its stock leg. */
export function depositCosts(
  terms: Omit<DepositTerms, 'preview' | 'router'> & { readonly prices: VaultPrices },
  loanUsd: Decimal | undefined,
): DepositCosts {
  const { vault, amountIn, swaps, prices, stockBorrow, amountFlashLoan, depositFee } = terms;
  const { depositToken, stockMarket, yieldMarket } = vault;
  const feeOf = (collateral: bigint) => depositFeeOf(collateral, depositFee);
  const judged: readonly CostedSwap[] = [
    { kind: 'STOCK_SWAP', swap: swaps.stock, outPrice: prices.stock },
    { kind: 'ENTRY_SWAP', swap: swaps.zap, outPrice: prices.yield },
    { kind: 'LEVERAGE_SWAP', swap: swaps.leverage, outPrice: prices.yield },
  ];
  const fees = contractFees('DEPOSIT_FEE', feeOf(swaps.zap.expectedOut), yieldMarket, prices.yield);
  const basis = costBasis({ swaps: judged, loan: depositToken, equity: amountIn, fees });
  const usdOf = (token: string) => (token === depositToken.address ? loanUsd : undefined);
  const worstZap = worstOutput(swaps.zap);
  const worst = {
    stock: { collateral: worstOutput(swaps.stock), debt: stockBorrow },
    yield: { collateral: worstZap - feeOf(worstZap) + worstOutput(swaps.leverage), debt: amountFlashLoan },
  };
  const worth =
    collateralValueInLoan(worst.stock.collateral, prices.stock) -
    worst.stock.debt +
    collateralValueInLoan(worst.yield.collateral, prices.yield) -
    worst.yield.debt;
  const expected = { collateral: swaps.stock.expectedOut, debt: stockBorrow };
  const liquidation = liquidationOf(stockMarket, expected, prices.stock);
  const total = basis.totalSwapCostPctOfEquity;
  return {
    costs: pricedCosts(basis, usdOf, depositToken.address).map(({ kind, token, symbol, amount, usd, pctOfEquity }) => ({
      kind,
      token,
      symbol,
      amount: amount.toFixed(),
      usd: usd && toFixedHalfUp(usd, 2),
      pctOfEquity: pctOfEquity && formatPct(pctOfEquity),
    })),
    totalSwapCostPctOfEquity: total && formatPct(total),
    worstCase: {
      equity: formatUnitsPlain(worth, depositToken.decimals),
      ltv: formatPct(ltvPctOf(worst.stock, prices.stock) ?? HUNDRED),
      yieldLtv: formatPct(ltvPctOf(worst.yield, prices.yield) ?? HUNDRED),
    },
    liquidation: liquidation && {
      price: liquidation.price.precision(12).toFixed(),
      dropPct: formatPct(liquidation.dropPct),
    },
  };
}
