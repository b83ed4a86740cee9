import { erc20Abi } from '../../abi/erc20.ts';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import { debtOf, type LiveMarket, planMarket } from '../read/market-state.ts';
import { foldPlans, NO_READS, planOne, type ReadPlan, readOf, required } from '../read/reads.ts';
import type { Path, PlannedSwap, PositionState } from '../types.ts';
import type { Fill } from './fills.ts';
import type { Watched } from './movements.ts';
import type { Observation, Simulated } from './simulate.ts';

/** The observations of a simulation, and their outcome. */
export interface ObservedOutcome<O> {
  readonly observations: readonly Observation[];
  readonly watched: Watched;
  /** @throws ChainReadError when something of it cannot be read */
  fold(simulation: Simulated): O;
}

/** Outcome of a simulated transaction. */
export interface Outcome {
  /** In the order of the plan's swaps. */
  readonly fills: readonly Fill[];
  /** Base units; collateral and debt of zero = the position is closed. */
  readonly position: PositionState & { readonly id: number };
  /** Deposit basis as the contract reports it, loan base units. */
  readonly basis: bigint;
  /** Change of the wallet's balances, base units. */
  readonly received: { readonly loan: bigint; readonly collateral: bigint };
  /** Repaid debt of the managed position, loan base units; 0 on an open. */
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
  /** The managed position; absent on an open. */
  readonly held?: { readonly id: number; readonly proxy: Address } | undefined;
}

/** Paths whose first swap the router runs; every other swap runs inside FlashLeverage. */
const ROUTED: readonly Path[] = [
  'swapAndLeverage',
  'reallocateSwapAndLeverage',
  'swapAndSupplyCollateral',
  'swapAndRepay',
];

/** Plan the observations of a simulated transaction, and their outcome. */
export function observeOutcome(plan: OutcomePlan): ObservedOutcome<Outcome> {
  const { chain, market, user, calls, held } = plan;
  const { morphoBlue, flashLeverage } = chain.contracts;
  const before = { before: planBalances(plan) };
  const after = {
    balances: planBalances(plan),
    live: planMarket(chain, market),
    row: held ? planOne(readOf(morphoBlue, morphoBlueAbi, 'position', [market.id, held.proxy])) : NO_READS,
    terms: held
      ? planOne(readOf(flashLeverage, flashLeverageAbi, 'getUserLeveragePosition', [user, BigInt(held.id)]))
      : NO_READS,
  };
  return {
    observations: [...observed(0, before), ...observed(calls, after)],
    watched: watchedOf(plan),
    fold({ answers, movements: { fills, opened, repaid }, timestamp }) {
      const read = foldPlans({ ...before, ...after }, answers, { timestamp });
      const live = read.live();
      const position = held ? { id: held.id, ...heldPosition(read) } : required(opened);
      const [ended, started] = [read.balances(), read.before()];
      return {
        fills,
        position: { id: position.id, collateral: position.collateral, debt: debtOf(live, position.borrowShares) },
        basis: position.basis,
        received: { loan: ended.loan - started.loan, collateral: ended.collateral - started.collateral },
        repaid: repaid[0] ?? 0n,
        live,
      };
    },
  };
}

/** Place the reads of plans after so many of the calls. */
export function observed(
  afterCalls: number,
  plans: Readonly<Record<string, ReadPlan<unknown>>>,
): readonly Observation[] {
  return Object.values(plans).flatMap(({ reads }) => reads.map((read) => ({ afterCalls, read })));
}

function planBalances({ market, user }: OutcomePlan): ReadPlan<Record<'loan' | 'collateral', bigint>> {
  return {
    reads: [market.loan, market.collateral].map(({ address }) => readOf(address, erc20Abi, 'balanceOf', [user])),
    fold: (answers) => {
      const [loan, collateral] = answers as readonly (bigint | undefined)[];
      return { loan: required(loan), collateral: required(collateral) };
    },
  };
}

/** The movements of interest of a transaction. */
function watchedOf({ chain, market, user, path, swaps, calls, held }: OutcomePlan): Watched {
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

function heldPosition(read: {
  row(): readonly [bigint, bigint, bigint] | undefined;
  terms(): { readonly amountDepositedInLoanToken: bigint } | undefined;
}) {
  const [, borrowShares, collateral] = required(read.row());
  return { borrowShares, collateral, basis: required(read.terms()).amountDepositedInLoanToken };
}
