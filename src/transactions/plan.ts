import type { Market } from '../catalog/types.ts';
import { depositFeeOf } from '../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../domain/leverage/flash-loan.ts';
import type { Decimal } from '../shared/decimal.ts';
import type { Address } from '../shared/ids.ts';
import { type Completed, complete, type Draft, positiveAmounts } from './complete.ts';
import type { BuilderDeps } from './deps.ts';
import { countsIncentive, incentiveNote } from './messages.ts';
import type { CostItem } from './preview/costs.ts';
import { previewSimulated } from './preview/position.ts';
import { interestOf, type LiveMarket } from './read/market-state.ts';
import type { WalletState } from './read/wallet.ts';
import { filledSwap } from './simulate/fills.ts';
import { type Outcome, observeOutcome } from './simulate/outcome.ts';
import { positionShortfall, swapShortfall } from './simulate/shortfall.ts';
import type {
  AmountRange,
  BuiltCall,
  OpenTerms,
  Path,
  PayToken,
  PlanAction,
  PlannedSwap,
  PositionPreview,
  PositionState,
  Shortfall,
  TokenAmount,
} from './types.ts';

type Shared =
  | 'chain'
  | 'user'
  | 'approvals'
  | 'swaps'
  | 'slippage'
  | 'issues'
  | 'allowUnsimulated'
  | 'explain'
  | 'link'
  | 'bounds'
  | 'overrides'
  | 'needsOutcome';

/** A transaction that was decided on; `completePlan` simulates and completes it. */
export interface PlanDraft extends Pick<Draft<never, never>, Shared> {
  readonly market: Market;
  readonly action: PlanAction;
  readonly path: Path;
  readonly tx: BuiltCall;
  readonly live: LiveMarket;
  readonly wallet: WalletState;
  readonly pays?: { readonly token: PayToken; readonly amount: bigint } | undefined;
  /** The position as it stands; absent on an open. */
  readonly before?: PositionState | undefined;
  /** Its APY at the borrow rate of now, percent; absent = not measured, or no equity. */
  readonly apyBeforePct?: Decimal | undefined;
  /** Its deposit basis as it stands, loan base units; absent on an open. */
  readonly basisBefore?: bigint | undefined;
  /** Which position it is, and the contract that holds it; absent on an open. */
  readonly held?: { readonly id: number; readonly proxy: Address } | undefined;
  /** As planned, then as the simulation ended. Absent where no position is left. */
  readonly preview?: PositionPreview | undefined;
  /** Loan base units. */
  readonly amountFlashLoan?: bigint | undefined;
  /** Change of the position's debt, loan base units; negative = repays; absent = none. */
  readonly debtChange?: bigint | undefined;
  /** Liquidity that a reallocation moves into the market first, loan base units. */
  readonly moved?: bigint | undefined;
  /** The amounts that would pass; absent = the action takes none. */
  readonly amounts?: AmountRange | undefined;
  /** Fees of the contract when a position is managed; an open has them in its terms. */
  readonly fees?: readonly CostItem[] | undefined;
  /** The least that the action pays out of the position, the contract's fees taken off, in loan base units at the oracle's price. */
  readonly leastPaidOut?: bigint | undefined;
  readonly notes: readonly string[];
  readonly terms?: OpenTerms | undefined;
  /** Replace planned numbers that only the outcome shows. */
  readonly conclude?:
    | ((
        outcome: Outcome,
      ) => Partial<Pick<PlanDraft, 'preview' | 'notes' | 'debtChange' | 'amountFlashLoan' | 'fees' | 'leastPaidOut'>>)
    | undefined;
}

/** A transaction that was simulated and is ready to be signed. */
export interface Plan extends PlanDraft, Omit<Completed, 'expiresAtMs'> {
  /** Absent when nothing is swapped: nothing else in it expires. */
  readonly expiresAtMs?: number | undefined;
  /** The wallet's gains; empty = none, absent = it could not be simulated. */
  readonly received?: readonly TokenAmount[] | undefined;
}

/** Actions that leave a position with less risk than before. */
const LOWERING_RISK: readonly PlanAction[] = ['close', 'repay', 'add_collateral'];

/** Compare the outcome of a simulation with its draft; `undefined` = nothing is missing. `capped` as in `swapShortfall`. */
export function shortfallOf(draft: PlanDraft, outcome: Outcome, capped: boolean): Shortfall | undefined {
  const { market, live, preview, before, swaps, slippage } = draft;
  const { fills, position } = outcome;
  const short = swapShortfall(fills, slippage.value, capped);
  if (short || !preview || swaps.length === 0) return short;
  const swapped = swaps.reduce(
    (sum, { tokenOut, expectedOut }) =>
      sum +
      (tokenOut.address === market.collateral.address ? collateralValueInLoan(expectedOut, live.price) : expectedOut),
    0n,
  );
  const { collateral, debt } = preview.after;
  // A node may simulate at its next block: the interest until then is no shortfall.
  const interest = before && debt > 0n ? interestOf(before.debt, live, outcome.live) : 0n;
  return positionShortfall({
    planned: { collateral, debt: debt + interest },
    simulated: position,
    price: live.price,
    loan: market.loan,
    swapped,
    slippage: slippage.value,
  });
}

/** Simulate a draft and complete it. @throws as `complete` */
export async function completePlan(deps: BuilderDeps, draft: PlanDraft): Promise<Plan> {
  const { approvals, tx, wallet, pays } = draft;
  const { expiresAtMs, ...completed } = await complete(deps, {
    ...draft,
    what: 'transaction',
    calls: [tx],
    nativeBalance: wallet.native,
    pays: pays && { ...pays, balance: wallet.balance, allowance: wallet.allowances.get(tx.to) ?? 0n },
    lowersRisk: LOWERING_RISK.includes(draft.action),
    observed: observeOutcome({ ...draft, calls: approvals.length + 1 }),
    shortfall: (outcome) => shortfallOf(draft, outcome, deps.quoter.capped),
    conclude: (outcome) => withIncentiveNote(outcome ? concluded(draft, outcome) : draft),
  });
  return { ...completed, expiresAtMs: completed.swaps.length === 0 ? undefined : expiresAtMs };
}

function withIncentiveNote<D extends PlanDraft>(draft: D): D {
  // An opening names no change of a debt.
  const isNewDebt = draft.debtChange === undefined ? draft.before === undefined : draft.debtChange > 0n;
  return { ...draft, notes: [...draft.notes, ...incentiveNote(countsIncentive(draft.preview), isNewDebt)] };
}

/** The draft with the outcome of its simulation in place of the planned numbers. */
function concluded(planned: PlanDraft, outcome: Outcome): PlanDraft & Pick<Plan, 'received'> {
  const { market, preview, live, terms, conclude } = planned;
  const { collateral, debt } = outcome.position;
  const draft = { ...planned, received: receivedBy(market, outcome) };
  if (!preview || (collateral === 0n && debt > 0n)) return { ...draft, ...conclude?.(outcome) };
  const swaps = outcome.fills.map(filledSwap);
  const last = swaps.at(-1);
  const lossPct = last?.lossPct;
  const simulated = previewSimulated(preview, {
    after: { collateral, debt },
    basis: outcome.basis,
    price: live.price,
    lossPct,
  });
  return {
    ...draft,
    preview: simulated,
    terms: terms && last ? termsAsFilled(terms, swaps, last, simulated) : terms,
    ...conclude?.(outcome),
  };
}

function receivedBy({ loan, collateral }: Market, { received }: Outcome): readonly TokenAmount[] {
  return positiveAmounts([
    { token: loan, amount: received.loan },
    { token: collateral, amount: received.collateral },
  ]);
}

function termsAsFilled(
  terms: OpenTerms,
  [first]: readonly PlannedSwap[],
  leverageSwap: PlannedSwap,
  preview: PositionPreview,
): OpenTerms {
  const entered =
    terms.entrySwap && first
      ? { entrySwap: first, depositFee: depositFeeOf(first.expectedOut, terms.depositFeeRate) }
      : {};
  return { ...terms, ...entered, leverageSwap, preview };
}
