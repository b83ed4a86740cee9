import { erc20Abi } from '../../abi/erc20.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import { depositFeeOf } from '../../domain/leverage/fees.ts';
import type { Address } from '../../shared/ids.ts';
import { debtOf, interestOf, type LiveMarket, planMarket } from '../read/market-state.ts';
import { foldPlans, NO_READS, planOne, type ReadPlan, readOf, required } from '../read/reads.ts';
import type { Fill, SwapPlace } from '../simulate/fills.ts';
import type { OpenedPosition } from '../simulate/movements.ts';
import { type ObservedOutcome, observed } from '../simulate/outcome.ts';
import { positionShortfall, swapShortfall } from '../simulate/shortfall.ts';
import type { PositionState, Shortfall } from '../types.ts';
import type { EquityCall } from './batch.ts';
import type { DepositTerms, ExitTerms } from './types.ts';
import type { FoundVault } from './vault.ts';

/** Outcome of a simulated batch. Base units. */
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
  /** Contracts of the loops that are closed, in order. */
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

/** Plan the observations of a simulated batch, and their outcome. */
export function observeBatch(plan: BatchPlan): ObservedOutcome<BatchOutcome> {
  const { found, user, calls, swaps: places, opens, proxies = [] } = plan;
  const { chain, vault } = found;
  const { stockMarket, yieldMarket } = vault;
  const balances = planBalances(plan);
  const after = {
    row: planOne(readOf(chain.contracts.morphoBlue, morphoBlueAbi, 'position', [stockMarket.id, user])),
    stockMarket: planMarket(chain, stockMarket),
    yieldMarket: opens ? planMarket(chain, yieldMarket) : NO_READS,
  };
  return {
    observations: [
      ...balances.reads.map((read, afterCalls) => ({ afterCalls, read })),
      ...observed(calls.length, after),
    ],
    watched: {
      chain,
      user,
      places,
      opens: opens ? yieldMarket : undefined,
      // The loops are sold first, one after the other.
      repays: proxies.map((proxy, i) => ({ market: yieldMarket, proxy, callIndex: places[i]?.callIndex ?? -1 })),
    },
    fold({ answers, movements: { fills, repaid, opened }, timestamp }) {
      const read = foldPlans({ balances, ...after }, answers, { timestamp });
      const [first = 0n, ...rest] = read.balances();
      const live = { stock: read.stockMarket(), yield: read.yieldMarket() };
      const [, borrowShares, collateral] = required(read.row());
      return {
        fills,
        received: rest.map((balance, i) => balance - (rest[i - 1] ?? first)),
        repaid,
        stock: { collateral, debt: debtOf(live.stock, borrowShares) },
        stockMarket: live.stock,
        loop: live.yield && loopOf(live.yield, required(opened)),
      };
    },
  };
}

/** The wallet's deposit tokens before the first and after every call. */
function planBalances({ found: { vault }, user, calls }: BatchPlan): ReadPlan<readonly bigint[]> {
  return {
    reads: [null, ...calls].map(() => readOf(vault.depositToken.address, erc20Abi, 'balanceOf', [user])),
    fold: (answers) => (answers as readonly (bigint | undefined)[]).map(required),
  };
}

function loopOf(live: LiveMarket, { collateral, borrowShares }: OpenedPosition): PositionState {
  return { collateral, debt: debtOf(live, borrowShares) };
}

/** State before a deposit. */
interface StockLegRead {
  /** The wallet's stock leg before it; absent without one. */
  readonly stockBefore: PositionState | undefined;
  readonly stockMarket: LiveMarket;
  /** Loan base units per collateral base unit, scaled by 1e36. */
  readonly prices: { readonly stock: bigint; readonly yield: bigint };
}

/** Compare the outcome of a deposit with its terms; `undefined` = nothing is missing. `capped` as in `swapShortfall`. */
export function depositShortfall(
  { vault, swaps, stockBorrow, amountFlashLoan, depositFee, slippage }: DepositTerms,
  { stockBefore, stockMarket, prices }: StockLegRead,
  { fills, stock, stockMarket: simulatedMarket, loop }: BatchOutcome,
  capped: boolean,
): Shortfall | undefined {
  const before = stockBefore ?? { collateral: 0n, debt: 0n };
  // A node may simulate at its next block: the interest until then is no shortfall.
  const interest = interestOf(before.debt, stockMarket, simulatedMarket);
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
