import type { EquityVault } from '../../catalog/types.ts';
import { yieldFeeOnReturn } from '../../domain/leverage/fees.ts';
import { type Decimal, fromUnits } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { type Cost, type CostedSwap, contractFees, costBasis, pricedCosts } from '../preview/costs.ts';
import { worstOutput } from '../quote/planned.ts';
import type { PlannedSwap } from '../types.ts';
import type { SoldLeg, SoldLoop } from './exit-sales.ts';

/** Costs of an exit, and its least payout. */
export interface ExitCosts {
  readonly costs: readonly Cost[];
  /** Loss of its sales, percent of the vault's equity; absent without equity. */
  readonly totalSwapCostPctOfEquity?: Decimal | undefined;
  /** Whole deposit tokens, when every sale gives its minimum only and the fees of the contract are paid; no LTV is left. */
  readonly worstCase: { readonly equity: Decimal; readonly paidOut: Decimal; readonly ltvPct: null };
}

export interface ExitLegs {
  readonly vault: EquityVault;
  /** Loops in the order in which they are closed. Base units of the deposit token. */
  readonly loops: readonly SoldLoop[];
  readonly stock: SoldLeg;
  /** Value of both legs at their oracles' prices, less their debts. */
  readonly equity: bigint;
  /** Rate in WAD; 0 on an uncorrelated market. */
  readonly yieldFee: bigint;
  usdOf(token: Address): Decimal | undefined;
}

/** Compute the costs of an exit. `kept` is the contract's fee in a simulation, base units; without one its published rule is used. */
export function exitCosts(
  { vault, loops, stock, equity, yieldFee, usdOf }: ExitLegs,
  simulatedFee?: bigint,
): ExitCosts {
  const { depositToken, yieldMarket } = vault;
  const feesOf = (output: (swap: PlannedSwap) => bigint, owed: (leg: SoldLeg) => bigint) =>
    loops.reduce((sum, leg) => sum + yieldFeeOnReturn(output(leg.swap) - owed(leg), leg.basis, yieldFee), 0n);
  const swaps: readonly CostedSwap[] = [
    ...loops.map(({ swap }) => ({ kind: 'EXIT_SWAP' as const, swap })),
    { kind: 'STOCK_SWAP', swap: stock.swap },
  ];
  const expectedFees = feesOf(
    ({ expectedOut }) => expectedOut,
    ({ debt }) => debt,
  );
  const fees = contractFees('YIELD_FEE', simulatedFee ?? expectedFees, yieldMarket);
  const basis = costBasis({ swaps, loan: depositToken, equity, fees });
  const { totalSwapCostPctOfEquity } = basis;
  const least = [...loops, stock].reduce((sum, { swap, debtLater }) => sum + worstOutput(swap) - debtLater, 0n);
  const leastFees = feesOf(worstOutput, ({ debtLater }) => debtLater);
  const paidOut = fromUnits(least - leastFees, depositToken.decimals);
  return {
    costs: pricedCosts(basis, usdOf, depositToken.address),
    totalSwapCostPctOfEquity,
    worstCase: { equity: paidOut, paidOut, ltvPct: null },
  };
}
