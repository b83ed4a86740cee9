import { erc20Abi } from '../../abi/erc20.ts';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import { debtOf, foldMarket, type LiveMarket, type MarketAnswers, planMarket } from '../read/market-state.ts';
import { readOf, required } from '../read/reads.ts';
import type { Path, PlannedSwap, PositionState } from '../types.ts';
import type { Fill } from './fills.ts';
import type { Watched } from './movements.ts';
import type { Observation, Simulated } from './simulate.ts';

/** What the calls of one plan have left behind. */
export interface Outcome {
  /** In the order of the plan's swaps. */
  readonly fills: readonly Fill[];
  /** Base units; nothing of both = the position is gone. */
  readonly position: PositionState & { readonly id: number };
  /** Deposit basis as the contract tells it, loan base units. */
  readonly basis: bigint;
  /** What the wallet has more than before, base units; negative = less. */
  readonly received: { readonly loan: bigint; readonly collateral: bigint };
  /** What of the debt of the position at hand was repaid, loan base units; 0 on an open. */
  readonly repaid: bigint;
  /** The market after the calls, at the simulated block. */
  readonly live: LiveMarket;
}

export interface OutcomePlan {
  readonly chain: Chain;
  readonly market: Market;
  readonly user: Address;
  readonly path: Path;
  readonly swaps: readonly PlannedSwap[];
  /** How many calls there are; the transaction is the last one. */
  readonly calls: number;
  /** The position at hand; absent on an open, which makes one. */
  readonly held?: { readonly id: number; readonly proxy: Address } | undefined;
}

/** Paths whose first swap the router runs; every other swap runs inside FlashLeverage. */
const ROUTED: readonly Path[] = [
  'swapAndLeverage',
  'reallocateSwapAndLeverage',
  'swapAndSupplyCollateral',
  'swapAndRepay',
];

/** Plan what is read of the wallet before the calls, and of wallet, position and market after them. */
export function planOutcome({ chain, market, user, calls, held }: OutcomePlan): readonly Observation[] {
  const { morphoBlue, flashLeverage } = chain.contracts;
  const balances = [market.loan, market.collateral].map(({ address }) =>
    readOf(address, erc20Abi, 'balanceOf', [user]),
  );
  const position = held
    ? [
        readOf(morphoBlue, morphoBlueAbi, 'position', [market.id, held.proxy]),
        readOf(flashLeverage, flashLeverageAbi, 'getUserLeveragePosition', [user, BigInt(held.id)]),
      ]
    : [];
  // One object per observation: answers are told apart by it.
  const after = [...balances.map((read) => ({ ...read })), ...planMarket(chain, market), ...position];
  return [...balances.map((read) => ({ afterCalls: 0, read })), ...after.map((read) => ({ afterCalls: calls, read }))];
}

/** What the calls of a plan are watched for. */
export function watchedOf({ chain, market, user, path, swaps, calls, held }: OutcomePlan): Watched {
  const { flashLeverage, flashLeverageRouter } = chain.contracts;
  const callIndex = calls - 1;
  const places = swaps.map((swap, i) => ({
    swap,
    executor: i === 0 && ROUTED.includes(path) ? flashLeverageRouter : flashLeverage,
    callIndex,
  }));
  return {
    chain,
    user,
    places,
    opens: held ? undefined : market,
    repays: held ? [{ market, proxy: held.proxy, callIndex }] : [],
  };
}

/** Fold the answers of `planOutcome`. @throws ChainReadError when the position or the market cannot be read */
export function foldOutcome(plan: OutcomePlan, simulation: Simulated): Outcome {
  const { chain, market, held } = plan;
  const { answers, movements, timestamp } = simulation;
  const [loanBefore, collateralBefore, loan, collateral] = answers
    .slice(0, 4)
    .map((answer) => required(answer as bigint | undefined));
  const marketEnd = 4 + planMarket(chain, market).length;
  const live = foldMarket(market, answers.slice(4, marketEnd) as unknown as MarketAnswers, { timestamp });
  const position = held
    ? { id: held.id, ...heldPosition(answers[marketEnd] as PositionRow | undefined) }
    : required(movements.opened);
  return {
    fills: movements.fills,
    position: { id: position.id, collateral: position.collateral, debt: debtOf(live, position.borrowShares) },
    basis: held
      ? required(answers[marketEnd + 1] as PositionTerms | undefined).amountDepositedInLoanToken
      : required(movements.opened).basis,
    received: { loan: less(loan, loanBefore), collateral: less(collateral, collateralBefore) },
    repaid: movements.repaid[0] ?? 0n,
    live,
  };
}

/** A position as the contract keeps it, as far as it is read. */
interface PositionTerms {
  readonly amountDepositedInLoanToken: bigint;
}

/** A position as the lending protocol tells it: supply shares, borrow shares, collateral. */
export type PositionRow = readonly [bigint, bigint, bigint];

interface Shares {
  readonly collateral: bigint;
  readonly borrowShares: bigint;
}

function heldPosition(row: PositionRow | undefined): Shares {
  const [, borrowShares, collateral] = required(row);
  return { borrowShares, collateral };
}

function less(after: bigint | undefined, before: bigint | undefined): bigint {
  return (after ?? 0n) - (before ?? 0n);
}
