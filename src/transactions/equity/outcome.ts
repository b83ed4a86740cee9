import { erc20Abi } from '../../abi/erc20.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import { depositFeeOf } from '../../domain/leverage/fees.ts';
import type { Address } from '../../shared/ids.ts';
import {
  debtOf,
  foldMarket,
  interestOf,
  type LiveMarket,
  type MarketAnswers,
  planMarket,
} from '../read/market-state.ts';
import { readOf, required } from '../read/reads.ts';
import type { Fill, SwapPlace } from '../simulate/fills.ts';
import type { Watched } from '../simulate/movements.ts';
import type { PositionRow } from '../simulate/outcome.ts';
import { positionShortfall, swapShortfall } from '../simulate/shortfall.ts';
import type { Observation, Simulated } from '../simulate/simulate.ts';
import type { PositionState, Shortfall } from '../types.ts';
import type { EquityCall } from './batch.ts';
import type { DepositTerms, ExitTerms } from './types.ts';
import type { FoundVault } from './vault.ts';

/** What the calls of a batch have left behind. Base units. */
export interface BatchOutcome {
  /** In the order in which the swaps run. */
  readonly fills: readonly Fill[];
  /** Deposit tokens that the wallet gains by each call; negative = pays. */
  readonly received: readonly bigint[];
  /** Debt of each of `proxies` that was repaid. */
  readonly repaid: readonly bigint[];
  /** The wallet's stock leg after all of them. */
  readonly stock: PositionState;
  /** The stock market in the block of the simulation. */
  readonly stockMarket: LiveMarket;
  /** The loop that a deposit opens. */
  readonly loop?: PositionState | undefined;
}

export interface BatchPlan {
  readonly found: FoundVault;
  readonly user: Address;
  readonly calls: readonly EquityCall[];
  readonly swaps: readonly SwapPlace[];
  /** Whether a loop is opened. */
  readonly opens: boolean;
  /** What holds the loops that are closed, in order. */
  readonly proxies?: readonly Address[] | undefined;
}

/** Where the swaps of a deposit run: two in the router, the last inside the flash loan, all in one call. */
export function depositPlaces(
  { chain, router }: FoundVault,
  { swaps }: DepositTerms,
  calls: readonly EquityCall[],
): readonly SwapPlace[] {
  const callIndex = calls.findIndex(({ action }) => action.type === 'equityEntry');
  return [
    { swap: swaps.stock, executor: router, callIndex },
    { swap: swaps.zap, executor: router, callIndex },
    { swap: swaps.leverage, executor: chain.contracts.flashLeverage, callIndex },
  ];
}

/** Where the swaps of an exit run: each loop's in a call of its own, the stock's in the router. */
export function exitPlaces(
  { chain, router }: FoundVault,
  { loops, stockSwap }: ExitTerms,
  calls: readonly EquityCall[],
): readonly SwapPlace[] {
  const closings = calls.flatMap(({ action }, i) => (action.type === 'deleverage' ? [i] : []));
  return [
    ...loops.map(({ swap }, i) => ({
      swap,
      executor: chain.contracts.flashLeverage,
      callIndex: closings[i] ?? -1,
    })),
    { swap: stockSwap, executor: router, callIndex: calls.findIndex(({ action }) => action.type === 'equityExit') },
  ];
}

/** Plan what is read: the wallet's deposit tokens before the first and after every call, and its positions at the end. */
export function planBatchOutcome({ found: { chain, vault }, user, calls, opens }: BatchPlan): readonly Observation[] {
  const { morphoBlue } = chain.contracts;
  const balance = () => readOf(vault.depositToken.address, erc20Abi, 'balanceOf', [user]);
  return [
    ...Array.from({ length: calls.length + 1 }, (_, afterCalls) => ({ afterCalls, read: balance() })),
    ...[
      readOf(morphoBlue, morphoBlueAbi, 'position', [vault.stockMarket.id, user]),
      ...planMarket(chain, vault.stockMarket),
      ...(opens ? planMarket(chain, vault.yieldMarket) : []),
    ].map((read) => ({ afterCalls: calls.length, read })),
  ];
}

/** What the calls of a batch are watched for. */
export function watchedOfBatch({ found: { chain, vault }, user, swaps, opens, proxies = [] }: BatchPlan): Watched {
  return {
    chain,
    user,
    places: swaps,
    opens: opens ? vault.yieldMarket : undefined,
    // The loops are sold first, one after the other.
    repays: proxies.map((proxy, i) => ({
      market: vault.yieldMarket,
      proxy,
      callIndex: swaps[i]?.callIndex ?? -1,
    })),
  };
}

/** Fold the answers of `planBatchOutcome`. @throws ChainReadError when the positions cannot be read */
export function foldBatchOutcome(
  { found: { chain, vault }, calls, opens }: BatchPlan,
  { answers, movements, timestamp }: Simulated,
): BatchOutcome {
  const balances = answers.slice(0, calls.length + 1).map((answer) => required(answer as bigint | undefined));
  const [row, ...rest] = answers.slice(calls.length + 1);
  const markets = planMarket(chain, vault.stockMarket).length;
  const stockMarket = foldMarket(vault.stockMarket, rest.slice(0, markets) as unknown as MarketAnswers, { timestamp });
  const [, borrowShares, collateral] = required(row as PositionRow | undefined);
  const { fills, repaid, opened } = movements;
  return {
    fills,
    received: calls.map((_, i) => (balances[i + 1] ?? 0n) - (balances[i] ?? 0n)),
    repaid,
    stock: { collateral, debt: debtOf(stockMarket, borrowShares) },
    stockMarket,
    loop: opens ? openedLoop(rest.slice(markets)) : undefined,
  };

  function openedLoop(yieldMarketAnswers: readonly unknown[]): PositionState {
    const live = foldMarket(vault.yieldMarket, yieldMarketAnswers as unknown as MarketAnswers, { timestamp });
    const { collateral: held, borrowShares: shares } = required(opened);
    return { collateral: held, debt: debtOf(live, shares) };
  }
}

/** What a deposit was planned by. */
interface StockLegRead {
  /** The wallet's stock leg before it; absent without one. */
  readonly stockBefore: PositionState | undefined;
  readonly stockMarket: LiveMarket;
  /** Loan base units per collateral base unit, scaled by 1e36. */
  readonly prices: { readonly stock: bigint; readonly yield: bigint };
}

/** Compare what a deposit ended with with its terms; `undefined` = nothing is missing. `capped` as in `swapShortfall`. */
export function depositShortfall(
  { vault, swaps, stockBorrow, amountFlashLoan, depositFee, slippage }: DepositTerms,
  { stockBefore, stockMarket, prices }: StockLegRead,
  { fills, stock, stockMarket: simulatedMarket, loop }: BatchOutcome,
  capped: boolean,
): Shortfall | undefined {
  const before = stockBefore ?? { collateral: 0n, debt: 0n };
  // A node may simulate at its next block: the interest until then is no shortfall.
  const interest = before.debt > 0n ? interestOf(before.debt, stockMarket, simulatedMarket) : 0n;
  const loan = vault.depositToken;
  const zapped = swaps.zap.expectedOut - depositFeeOf(swaps.zap.expectedOut, depositFee);
  return (
    swapShortfall(fills, slippage, capped) ??
    positionShortfall({
      planned: { collateral: before.collateral + swaps.stock.expectedOut, debt: before.debt + interest + stockBorrow },
      simulated: stock,
      price: prices.stock,
      loan,
      swapped: swaps.stock.quote.amountIn,
      slippage,
    }) ??
    (loop &&
      positionShortfall({
        planned: { collateral: zapped + swaps.leverage.expectedOut, debt: amountFlashLoan },
        simulated: loop,
        price: prices.yield,
        loan,
        swapped: stockBorrow + amountFlashLoan,
        slippage,
      }))
  );
}
