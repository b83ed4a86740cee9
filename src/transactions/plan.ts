import type { Chain, Market } from '../catalog/types.ts';
import { depositFeeOf } from '../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../domain/leverage/flash-loan.ts';
import type { ComposedMarket } from '../domain/market/types.ts';
import { formatUnitsPlain } from '../shared/decimal.ts';
import type { AppError } from '../shared/errors.ts';
import type { Address } from '../shared/ids.ts';
import { type BuilderDeps, composedMarket } from './deps.ts';
import { SimulationMismatchError, SimulationRevertedError } from './errors.ts';
import type { EffectiveSlippage } from './input.ts';
import { countsIncentive, formatAmount, incentiveNote, instructionsOf } from './messages.ts';
import type { CostItem } from './preview/costs.ts';
import { previewSimulated } from './preview/position.ts';
import { interestOf, type LiveMarket } from './read/market-state.ts';
import type { WalletState } from './read/wallet.ts';
import { filledSwap } from './simulate/fills.ts';
import { foldOutcome, type Outcome, type OutcomePlan, planOutcome, watchedOf } from './simulate/outcome.ts';
import { positionShortfall, type Shortfall, swapShortfall } from './simulate/shortfall.ts';
import { unsimulatedIssue } from './simulate/unsimulated.ts';
import type {
  BuiltCall,
  Issue,
  OpenTerms,
  Path,
  PayToken,
  PlanAction,
  PlannedSwap,
  PositionPreview,
  PositionState,
  TokenAmount,
} from './types.ts';

/** What a verb decided; `completePlan` simulates it and says what to do with it. */
export interface PlanDraft {
  readonly chain: Chain;
  readonly market: Market;
  readonly user: Address;
  readonly action: PlanAction;
  readonly path: Path;
  readonly approvals: readonly BuiltCall[];
  readonly tx: BuiltCall;
  readonly live: LiveMarket;
  readonly wallet: WalletState;
  readonly pays?: { readonly token: PayToken; readonly amount: bigint };
  /** Whether the caller takes it untried where no node can try it out, and it takes risk back; absent = no. */
  readonly allowUnsimulated?: boolean | undefined;
  /** In the order in which they run; the last one is the one that `minTokenOut` speaks of. */
  readonly swaps: readonly PlannedSwap[];
  readonly slippage: EffectiveSlippage;
  /** The position as it stands; absent on an open. */
  readonly before?: PositionState;
  /** Its deposit basis as it stands, loan base units; absent on an open. */
  readonly basisBefore?: bigint;
  /** Which position it is, and the contract that holds it; absent on an open. */
  readonly held?: { readonly id: number; readonly proxy: Address };
  /** As planned, then as the simulation ended. Absent where no position is left. */
  readonly preview?: PositionPreview;
  /** Loan base units. */
  readonly amountFlashLoan?: bigint;
  /** What the action adds to the position's debt, loan base units; negative = repays; absent = leaves it. */
  readonly debtChange?: bigint;
  /** What a reallocation moves into the market first, loan base units. */
  readonly moved?: bigint;
  /** What the contract takes when a position is managed; an open has them in its terms. */
  readonly fees?: readonly CostItem[];
  /** The least that the action pays out of the position, the contract's fees taken off, in loan base units at the oracle's price. */
  readonly leastPaidOut?: bigint;
  readonly notes: readonly string[];
  readonly issues: readonly Issue[];
  /** Query of the signing link: the request itself, so that the app quotes afresh. */
  readonly link: Readonly<Record<string, string>>;
  readonly terms?: OpenTerms;
  /** What is only known once the calls have run. */
  readonly conclude?: (
    outcome: Outcome,
  ) => Partial<Pick<PlanDraft, 'preview' | 'notes' | 'debtChange' | 'amountFlashLoan' | 'fees' | 'leastPaidOut'>>;
  /** What a revert of its simulation means; `undefined` = no more than it says itself. */
  readonly explain?: (error: SimulationRevertedError) => AppError<unknown> | undefined;
}

/** A bundle that was executed in simulation and is ready to be signed. */
export interface Plan extends PlanDraft {
  readonly composed?: ComposedMarket;
  /** Earliest expiry of the quotes inside, ms; absent when nothing is swapped. */
  readonly expiresAtMs?: number;
  readonly signingUrl?: string;
  readonly instructions: string;
  /** Gas that the simulation used; absent when it could not be run. */
  readonly gasUsed?: bigint;
  /** What the simulation ended with; absent when it could not be run. */
  readonly outcome?: Outcome;
  /** What the wallet had more in the end; absent when it could not be simulated. */
  readonly received?: readonly TokenAmount[];
}

const MAX_LIFE_MS = 60_000;
/** What leaves a position with less risk than before. */
const TAKING_RISK_BACK: readonly PlanAction[] = ['close', 'repay', 'add_collateral'];
/** Asked for beside what is paid; the exact price of gas is the wallet's business. */
const CALLS_COST_GAS = 'Keep some of the native token for gas.';

/** What executing a draft came to. */
export type SimulatedDraft =
  | { readonly gasUsed: bigint; readonly outcome: Outcome; readonly because?: never }
  /** It was not executed: the wallet cannot be lent what it lacks, or no node can. */
  | { readonly outcome?: never; readonly because: 'token' | 'node' };

/** Execute a draft in simulation. @throws SimulationRevertedError, ChainReadError */
export async function simulateDraft(deps: BuilderDeps, draft: PlanDraft): Promise<SimulatedDraft> {
  const { chain, user, wallet, pays, approvals, tx } = draft;
  const calls = [...approvals, tx];
  const plan: OutcomePlan = { ...draft, calls: calls.length };
  const simulation = await deps
    .node(chain.chainId)
    .simulator.simulate({
      user,
      calls,
      nativeBalance: wallet.native,
      observations: planOutcome(plan),
      watched: watchedOf(plan),
      ...(pays ? { pays: { ...pays, balance: wallet.balance } } : {}),
    })
    .catch((error: unknown) => {
      throw (error instanceof SimulationRevertedError && draft.explain?.(error)) || error;
    });
  if (!simulation.simulated) return { because: simulation.because };
  return { gasUsed: simulation.gasUsed, outcome: foldOutcome(plan, simulation) };
}

/** Compare what a simulation ended with with its draft; `undefined` = nothing is missing. `capped` as in `swapShortfall`. */
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

/**
 * Simulate a draft, compare the result with it and complete it.
 * @throws SimulationRevertedError, SimulationMismatchError, NotSimulatedError, ChainReadError
 */
export async function completePlan(deps: BuilderDeps, planned: PlanDraft): Promise<Plan> {
  const { because, ...simulated } = await simulateDraft(deps, planned);
  const { outcome } = simulated;
  const shortfall = outcome && shortfallOf(planned, outcome, deps.quoter.capped);
  if (shortfall) throw new SimulationMismatchError(shortfall);
  const draft = outcome ? concluded(planned, outcome) : planned;
  const { market, user, pays, swaps, approvals } = draft;
  const expiresAtMs = expiryOf(swaps, deps.clock.now());
  const signingUrl = signingUrlOf(deps.appUrl, draft);
  const issues = [...draft.issues, ...fundingIssues(draft), ...approvalIssues(draft)];
  if (because) {
    issues.push(
      unsimulatedIssue({
        chainId: draft.chain.chainId,
        what: 'transaction',
        because,
        token: pays?.token,
        takesRiskBack: TAKING_RISK_BACK.includes(draft.action),
        isAllowed: draft.allowUnsimulated === true,
      }),
    );
  }
  const composed = composedMarket(deps, market);
  return {
    ...draft,
    issues,
    ...(composed ? { composed } : {}),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    ...(signingUrl === undefined ? {} : { signingUrl }),
    ...simulated,
    ...(outcome ? { received: receivedBy(market, outcome) } : {}),
    instructions: instructionsOf({
      user,
      approvals: approvals.length,
      swaps,
      slippage: draft.slippage,
      notes: [...draft.notes, ...incentiveNote(countsIncentive(draft.preview))],
      issues,
      expiresAtMs,
      signingUrl,
    }),
  };
}

/** The draft as the simulation ended: nothing is previewed that was not seen. */
function concluded(planned: PlanDraft, outcome: Outcome): PlanDraft {
  const draft = { ...planned, swaps: outcome.fills.map(filledSwap) };
  const { preview, live, terms, swaps } = draft;
  const { collateral, debt } = outcome.position;
  const last = swaps.at(-1);
  if (!preview || (collateral === 0n && debt > 0n)) return { ...draft, ...draft.conclude?.(outcome) };
  const seen = { ...previewSimulated(preview, { collateral, debt }, live.price, last?.lossPct), basis: outcome.basis };
  return {
    ...draft,
    preview: seen,
    ...(terms && last ? { terms: termsAsFilled(terms, swaps, last, seen) } : {}),
    ...draft.conclude?.(outcome),
  };
}

function receivedBy({ loan, collateral }: Market, { received }: Outcome): readonly TokenAmount[] {
  return [
    { token: loan, amount: received.loan },
    { token: collateral, amount: received.collateral },
  ].filter(({ amount }) => amount > 0n);
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

/** The earliest expiry of the quotes, at most 60 s away; `undefined` when nothing is swapped. */
export function expiryOf(swaps: readonly PlannedSwap[], nowMs: number): number | undefined {
  if (swaps.length === 0) return undefined;
  return Math.min(nowMs + MAX_LIFE_MS, ...swaps.map(({ quote }) => quote.expiresAtMs));
}

function fundingIssues({ pays, wallet, tx, chain }: PlanDraft): Issue[] {
  const issues: Issue[] = [];
  const lacking = (token: Pick<PayToken, 'address' | 'symbol' | 'decimals'>, required: bigint, available: bigint) => {
    if (available >= required) return;
    issues.push({
      kind: 'INSUFFICIENT_BALANCE',
      token: token.address,
      required: formatUnitsPlain(required, token.decimals),
      available: formatUnitsPlain(available, token.decimals),
      message: `The wallet holds ${formatAmount(available, token)} and this takes ${formatAmount(required, token)}: fund it first.${token.address === chain.native.address ? ` ${CALLS_COST_GAS}` : ''}`,
    });
  };
  if (pays && !pays.token.isNative) lacking(pays.token, pays.amount, wallet.balance);
  if (tx.value > 0n) lacking(chain.native, tx.value, wallet.native);
  return issues;
}

function approvalIssues({ pays, approvals, tx, wallet }: PlanDraft): Issue[] {
  if (approvals.length === 0 || !pays) return [];
  const { token, amount } = pays;
  return [
    {
      kind: 'APPROVAL_NEEDED',
      token: token.address,
      required: formatUnitsPlain(amount, token.decimals),
      available: formatUnitsPlain(wallet.allowances.get(tx.to) ?? 0n, token.decimals),
      message: `${tx.to} may not take ${formatAmount(amount, token)} yet: "approvals" allows exactly that.`,
    },
  ];
}

function signingUrlOf(appUrl: string | undefined, { chain, user, action, link }: PlanDraft): string | undefined {
  if (appUrl === undefined) return undefined;
  const query = new URLSearchParams({ chainId: String(chain.chainId), action, userAddress: user, ...link });
  return `${appUrl.replace(/\/+$/, '')}/sign?${query}`;
}
