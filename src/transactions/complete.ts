import type { Chain } from '../catalog/types.ts';
import { PLAN_EXPIRY_SEC } from '../shared/contract/plan-expiry.ts';
import { type Decimal, formatUnitsPlain } from '../shared/decimal.ts';
import type { AppError } from '../shared/errors.ts';
import type { Address } from '../shared/ids.ts';
import { NAMES } from '../shared/names.ts';
import type { BuilderDeps } from './deps.ts';
import { SimulationMismatchError, SimulationRevertedError } from './errors.ts';
import { formatAmount, instructionsOf } from './messages.ts';
import { type Fill, filledSwap } from './simulate/fills.ts';
import type { ObservedOutcome } from './simulate/outcome.ts';
import type { Overrides } from './simulate/steps.ts';
import { unsimulatedIssue } from './simulate/unsimulated.ts';
import type {
  BuiltCall,
  EffectiveSlippage,
  Issue,
  PayToken,
  PlanAction,
  PlannedSwap,
  Shortfall,
  TokenAmount,
} from './types.ts';

/**
 * Planned calls, the way their simulation is read, and the result of both. `O` is the outcome of the simulation,
 * `R` the part of the result that depends on it.
 */
export interface Draft<O extends { readonly fills: readonly Fill[] }, R extends { readonly notes: readonly string[] }> {
  readonly chain: Chain;
  readonly user: Address;
  readonly action: PlanAction | 'equity_deposit' | 'equity_exit';
  /** One transaction after its approvals, or one batch of calls. */
  readonly what: 'transaction' | 'batch';
  /** Shown apart from the other calls and signed before them. */
  readonly approvals: readonly BuiltCall[];
  readonly calls: readonly BuiltCall[];
  /** Of the wallet, wei. */
  readonly nativeBalance: bigint;
  readonly pays?: Payment | undefined;
  /** In the order in which they run. */
  readonly swaps: readonly PlannedSwap[];
  readonly slippage: EffectiveSlippage;
  readonly issues: readonly Issue[];
  /** Whether the position has less risk afterwards. */
  readonly lowersRisk: boolean;
  /** Whether a preview has to simulate it as well: a rule of the contract that is not known decides the outcome. */
  readonly needsOutcome?: boolean | undefined;
  /** State of the simulation that differs from that of the block; absent = none. */
  readonly overrides?: Overrides | undefined;
  /** Whether the caller accepts it without a simulation where no node can simulate; absent = no. */
  readonly allowUnsimulated?: boolean | undefined;
  readonly observed: ObservedOutcome<O>;
  /** Compare the outcome with the plan; `undefined` = nothing is missing. */
  shortfall(outcome: O): Shortfall | undefined;
  /** Find the cause of a revert; `undefined` = the revert itself is all that is known. */
  readonly explain?: ((error: SimulationRevertedError) => AppError<unknown> | undefined) | undefined;
  /** Take the result from the outcome, or without a simulation from the plan alone. */
  conclude(outcome: O | undefined): R;
  /** Query of the signing link, beside chain, action, wallet and bounds: the request itself, so that the app requests new quotes. */
  readonly link: Readonly<Record<string, string | undefined>>;
  /** Bounds that the caller set, for the signing link. */
  readonly bounds: { readonly maxSwapLossPct?: Decimal | undefined; readonly minAmountOut?: Decimal | undefined };
}

/** The token that the wallet pays with. Base units. */
export interface Payment {
  readonly token: PayToken;
  readonly amount: bigint;
  readonly balance: bigint;
  /** Allowance of the contract of the first call. */
  readonly allowance: bigint;
}

/** Calls that were simulated and are ready to be signed. */
export interface Completed {
  readonly user: Address;
  /** As filled in the simulation, in the order in which they run. */
  readonly swaps: readonly PlannedSwap[];
  readonly slippage: EffectiveSlippage;
  readonly issues: readonly Issue[];
  /** When the earliest quote expires, at most 60 s away, ms. */
  readonly expiresAtMs: number;
  /** Absent where no app is configured. */
  readonly signingUrl?: string | undefined;
  /** The steps of the signer. */
  readonly instructions: string;
  /** Gas of all calls; absent when they could not be simulated. */
  readonly gasUsed?: bigint | undefined;
}

/**
 * Simulate calls, compare the outcome with the plan, and list the issues and steps before signing. A preview is concluded from the
 * plan alone.
 * @throws SimulationRevertedError, SimulationMismatchError, NotSimulatedError, ChainReadError; as `explain` and `conclude`
 */
export async function complete<
  O extends { readonly fills: readonly Fill[] },
  R extends { readonly notes: readonly string[] },
>(deps: BuilderDeps, draft: Draft<O, R>): Promise<Omit<R, keyof Completed> & Completed> {
  const { user, slippage } = draft;
  const { outcome, gasUsed, lacking } =
    deps.previews && !draft.needsOutcome ? NOTHING_SIMULATED : await simulated(deps, draft);
  const shortfall = outcome && draft.shortfall(outcome);
  if (shortfall) throw new SimulationMismatchError(shortfall, draft.chain.chainId);
  const result = draft.conclude(outcome);
  const swaps = outcome ? outcome.fills.map(filledSwap) : draft.swaps;
  const issues = [
    ...fundingIssues(draft),
    ...approvalIssues(draft),
    ...draft.issues,
    ...(lacking ? [unsimulatedIssue(draft, lacking)] : []),
  ];
  const expiresAtMs = Math.min(
    deps.clock.now() + PLAN_EXPIRY_SEC * 1_000,
    ...swaps.map(({ quote }) => quote.expiresAtMs),
  );
  const completed = { user, swaps, slippage, issues, expiresAtMs, signingUrl: signingUrlOf(deps.appUrl, draft) };
  const { what, approvals, calls } = draft;
  const counts = { what, approvals: approvals.length, calls: calls.length };
  return {
    ...result,
    ...completed,
    gasUsed,
    instructions: instructionsOf({ ...completed, ...counts, notes: result.notes }),
  };
}

/** The amounts that the wallet gains; a token that it pays with is left out. */
export function positiveAmounts(amounts: readonly TokenAmount[]): readonly TokenAmount[] {
  return amounts.filter(({ amount }) => amount > 0n);
}

interface SimulatedDraft<O> {
  readonly outcome?: O | undefined;
  readonly gasUsed?: bigint | undefined;
  readonly lacking?: 'token' | 'node' | undefined;
}

const NOTHING_SIMULATED: SimulatedDraft<never> = {};

async function simulated<
  O extends { readonly fills: readonly Fill[] },
  R extends { readonly notes: readonly string[] },
>(deps: BuilderDeps, draft: Draft<O, R>): Promise<SimulatedDraft<O>> {
  const { chain, user, approvals, calls, nativeBalance, pays, overrides, observed } = draft;
  const simulation = await deps
    .node(chain.chainId)
    .simulator.simulate({ user, calls: [...approvals, ...calls], nativeBalance, pays, overrides, ...observed })
    .catch((error: unknown) => {
      throw (error instanceof SimulationRevertedError && draft.explain?.(error)) || error;
    });
  if (!simulation.simulated) return { lacking: simulation.lacking };
  return { gasUsed: simulation.gasUsed, outcome: observed.fold(simulation) };
}

type Priced = Pick<Draft<never, never>, 'chain' | 'approvals' | 'calls' | 'nativeBalance' | 'pays'>;

function fundingIssues({ chain, calls, nativeBalance, pays }: Priced): readonly Issue[] {
  const lacking = (token: Pick<PayToken, 'address' | 'symbol' | 'decimals'>, required: bigint, available: bigint) => {
    if (available >= required) return [];
    // The exact price of gas is the wallet's business.
    const gas = token.address === chain.native.address ? ' Keep some of the native token for gas.' : '';
    const message = `The wallet holds ${formatAmount(available, token)} and this takes ${formatAmount(required, token)}: fund it first.${gas}`;
    return [{ kind: 'INSUFFICIENT_BALANCE' as const, ...amountsOf(token, required, available), message }];
  };
  const value = calls.reduce((sum, call) => sum + call.value, 0n);
  return [
    ...(pays && !pays.token.isNative ? lacking(pays.token, pays.amount, pays.balance) : []),
    ...lacking(chain.native, value, nativeBalance),
  ];
}

function approvalIssues({ pays, approvals, calls: [call] }: Priced): readonly Issue[] {
  if (approvals.length === 0 || !pays || !call) return [];
  const { token, amount, allowance } = pays;
  const message = `${call.to} may not take ${formatAmount(amount, token)} yet: ${NAMES.plan.allowance} allows exactly that.`;
  return [{ kind: 'APPROVAL_NEEDED', ...amountsOf(token, amount, allowance), message }];
}

function amountsOf({ address, decimals }: Pick<PayToken, 'address' | 'decimals'>, required: bigint, available: bigint) {
  return {
    token: address,
    required: formatUnitsPlain(required, decimals),
    available: formatUnitsPlain(available, decimals),
  };
}

function signingUrlOf(
  appUrl: string | undefined,
  {
    chain,
    action,
    user,
    link,
    slippage,
    bounds,
  }: Pick<Draft<never, never>, 'chain' | 'action' | 'user' | 'link' | 'slippage' | 'bounds'>,
): string | undefined {
  if (appUrl === undefined) return undefined;
  const query = {
    chainId: String(chain.chainId),
    action,
    userAddress: user,
    ...link,
    slippage: (slippage.tightenedFrom ?? slippage.value).toFixed(),
    maxSwapLossPct: bounds.maxSwapLossPct?.toFixed(),
    minAmountOut: bounds.minAmountOut?.toFixed(),
  };
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${appUrl.replace(/\/+$/, '')}/sign?${new URLSearchParams(given)}`;
}
