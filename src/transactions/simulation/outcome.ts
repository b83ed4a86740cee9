import { isAddressEqual, parseEventLogs } from 'viem';
import { erc20Abi } from '../../abi/erc20.ts';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import { debtOf, foldMarket, type LiveMarket, type MarketAnswers, planMarket } from '../requirements/market-state.ts';
import { readOf, required } from '../requirements/reads.ts';
import type { Path, PlannedSwap, PositionState } from '../types.ts';
import { type Fill, fillsOf } from './fills.ts';
import type { Observation, SimulatedLog, Simulation } from './simulate.ts';

/** What the calls of one plan have left behind. */
export interface Outcome {
  /** In the order of the plan's swaps. */
  readonly fills: readonly Fill[];
  /** Base units; nothing of both = the position is gone. */
  readonly position: PositionState & { readonly id: number };
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
  readonly held?: { readonly id: number; readonly proxy: Address };
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
    ? readOf(morphoBlue, morphoBlueAbi, 'position', [market.id, held.proxy])
    : readOf(flashLeverage, flashLeverageAbi, 'getUserLeveragePositions', [user]);
  // One object per observation: answers are told apart by it.
  const after = [...balances.map((read) => ({ ...read })), position, ...planMarket(chain, market)];
  return [...balances.map((read) => ({ afterCalls: 0, read })), ...after.map((read) => ({ afterCalls: calls, read }))];
}

/** Fold the answers of `planOutcome`. @throws ChainReadError when the position or the market cannot be read */
export function foldOutcome(plan: OutcomePlan, simulation: Extract<Simulation, { simulated: true }>): Outcome {
  const { chain, market, user, held, swaps, path, calls } = plan;
  const { answers, logs, timestamp } = simulation;
  const [loanBefore, collateralBefore, loan, collateral] = answers
    .slice(0, 4)
    .map((answer) => required(answer as bigint | undefined));
  const live = foldMarket(market, answers.slice(5) as unknown as MarketAnswers, { timestamp });
  const position = held
    ? { id: held.id, ...heldPosition(answers[4] as PositionRow | undefined) }
    : openedPosition(chain, market, answers[4] as PositionArray | undefined, logs.flat());
  const { flashLeverage, flashLeverageRouter } = chain.contracts;
  const places = swaps.map((swap, i) => ({
    swap,
    executor: i === 0 && ROUTED.includes(path) ? flashLeverageRouter : flashLeverage,
    callIndex: calls - 1,
  }));
  return {
    fills: fillsOf(chain, user, places, logs),
    position: { id: position.id, collateral: position.collateral, debt: debtOf(live, position.borrowShares) },
    received: { loan: less(loan, loanBefore), collateral: less(collateral, collateralBefore) },
    repaid: held ? repaidIn(chain, market, held.proxy, logs.flat()) : 0n,
    live,
  };
}

/** A position as the lending protocol tells it: supply shares, borrow shares, collateral. */
export type PositionRow = readonly [bigint, bigint, bigint];
/** A wallet's positions, as far as they say where each is held. */
export type PositionArray = readonly { readonly userProxy: Address }[];

interface Shares {
  readonly collateral: bigint;
  readonly borrowShares: bigint;
}

function heldPosition(row: PositionRow | undefined): Shares {
  const [, borrowShares, collateral] = required(row);
  return { borrowShares, collateral };
}

/** The wallet's last position. Its contract did not exist before, so the protocol's events are all that it holds. */
export function openedPosition(
  chain: Chain,
  market: Market,
  positions: PositionArray | undefined,
  logs: readonly SimulatedLog[],
): Shares & { readonly id: number } {
  const id = required(positions).length - 1;
  const proxy = required(positions?.at(-1)?.userProxy);
  const events = parseEventLogs({
    abi: morphoBlueAbi,
    logs: logs.filter(({ address }) => address === chain.contracts.morphoBlue) as never[],
  });
  let [collateral, borrowShares] = [0n, 0n];
  for (const { eventName, args } of events) {
    if (args.id.toLowerCase() !== market.id || args.onBehalf !== proxy) continue;
    if (eventName === 'SupplyCollateral') collateral += args.assets;
    else if (eventName === 'WithdrawCollateral') collateral -= args.assets;
    else if (eventName === 'Borrow') borrowShares += args.shares;
    else borrowShares -= args.shares;
  }
  return { id, collateral, borrowShares };
}

/** What of a position's debt was repaid in these logs, loan base units. */
export function repaidIn(chain: Chain, market: Market, proxy: Address, logs: readonly SimulatedLog[]): bigint {
  const events = parseEventLogs({
    abi: morphoBlueAbi,
    eventName: 'Repay',
    logs: logs.filter(({ address }) => address === chain.contracts.morphoBlue) as never[],
  });
  return events.reduce(
    (sum, { args: { id, onBehalf, assets } }) =>
      id.toLowerCase() === market.id && isAddressEqual(onBehalf, proxy) ? sum + assets : sum,
    0n,
  );
}

function less(after: bigint | undefined, before: bigint | undefined): bigint {
  return (after ?? 0n) - (before ?? 0n);
}
