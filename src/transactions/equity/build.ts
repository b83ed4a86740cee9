import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { EquityPosition } from '../../domain/equity/position.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import type { BuilderDeps } from '../deps.ts';
import { SimulationMismatchError } from '../errors.ts';
import type { EffectiveSlippage } from '../input.ts';
import { formatAmount, receivedNote } from '../messages.ts';
import { withVenues } from '../quote/attempts.ts';
import { slippageIssues } from '../quote/slippage.ts';
import type { PricedAt } from '../read/market-state.ts';
import { type Read, readOf, required } from '../read/reads.ts';
import { payTokenOf } from '../read/tokens.ts';
import { foldWallet, planWallet } from '../read/wallet.ts';
import { filledSwap, type SwapPlace } from '../simulate/fills.ts';
import { type Shortfall, swapShortfall } from '../simulate/shortfall.ts';
import { unsimulatedIssue } from '../simulate/unsimulated.ts';
import type { Issue, PayToken, TokenAmount } from '../types.ts';
import { buildDepositBatch, buildExitBatch, type EquityCall } from './batch.ts';
import { type DepositRequest, type PlannedDeposit, planDeposit } from './deposit.ts';
import { type ExitRequest, planExit, type WalletReading } from './exit.ts';
import { type ExitCosts, type ExitLegs, exitCosts } from './exit-costs.ts';
import { batchInstructions, leftoverNote } from './messages.ts';
import {
  type BatchOutcome,
  type BatchPlan,
  depositPlaces,
  depositShortfall,
  exitPlaces,
  foldBatchOutcome,
  planBatchOutcome,
  watchedOfBatch,
} from './outcome.ts';
import type { DepositTerms, ExitTerms } from './types.ts';
import type { FoundVault } from './vault.ts';

/** A batch of unsigned calls, executed once in a simulation before it is handed out. */
export interface BuiltBatch {
  readonly user: Address;
  /** In order; the last one revokes what one before it grants. */
  readonly calls: readonly EquityCall[];
  readonly issues: readonly Issue[];
  readonly slippage: EffectiveSlippage;
  /** When the first of its quotes lapses, ms. */
  readonly expiresAtMs: number;
  readonly signingUrl?: string;
  readonly instructions: string;
  /** Of the whole batch; absent when it could not be simulated. */
  readonly gasUsed?: bigint;
}

export interface BuiltDeposit extends BuiltBatch {
  readonly terms: DepositTerms;
}

export interface BuiltExit extends BuiltBatch, ExitCosts {
  readonly terms: ExitTerms;
  /** The vault that is left, as it stands. */
  readonly position: EquityPosition;
  /** Where the debts and the stock's price that the sales are judged by were read. */
  readonly priced: PricedAt;
  /** What the wallet had more in the end; absent when it could not be simulated. */
  readonly received?: readonly TokenAmount[];
}

/**
 * Build the batch of a deposit for the wallet that signs it. A wallet without the deposit token gets its batch as well,
 * with the issue beside it.
 * @throws everything that `planDeposit` throws, and SimulationRevertedError, SimulationMismatchError
 */
export function buildDeposit(
  deps: BuilderDeps,
  found: FoundVault,
  request: DepositRequest & { readonly user: Address },
): Promise<BuiltDeposit> {
  return withVenues(deps, (attempt) => depositOnce(attempt, found, request));
}

async function depositOnce(
  deps: BuilderDeps,
  found: FoundVault,
  request: DepositRequest & { readonly user: Address },
): Promise<BuiltDeposit> {
  const { chain, router, vault } = found;
  const { user } = request;
  const token = payTokenOf(vault.depositToken);
  // Ahead of its use, which waits for it and tells if it fails.
  deps
    .node(chain.chainId)
    .simulator.prepare(token)
    .catch(() => undefined);
  const reads = [authorizationOf(found, user), ...planWallet(chain, user, token, [router])];
  const planned = await planDeposit(deps, found, request, reads);
  const { terms, slippage, issues, answers } = planned;
  const [answer, ...rest] = answers as readonly [boolean | undefined, ...(bigint | undefined)[]];
  const isAuthorized = required(answer);
  const wallet = foldWallet(token, [router], rest);
  const allowance = wallet.allowances.get(router) ?? 0n;
  const pays = { token, amount: terms.amountIn, balance: wallet.balance };
  const calls = buildDepositBatch(chain.contracts, terms, { allowance, isAuthorized });
  const { outcome, ...batch } = await completeBatch(deps, found, {
    action: 'equity_deposit',
    user,
    calls,
    swaps: depositPlaces(found, terms, calls),
    opens: true,
    shortfall: (seen) => depositShortfall(terms, planned, seen, deps.quoter.capped),
    slippage,
    nativeBalance: wallet.native,
    pays,
    issues: [...fundingIssues(pays), ...issues, ...slippageIssues(slippage)],
    notes: [...leftoverNote(isAuthorized, vault), ...planned.notes],
    link: { amount: formatUnitsPlain(terms.amountIn, token.decimals), stockLtvPct: terms.stockLtvPct.toFixed() },
  });
  return { ...batch, terms: outcome ? asFilled(terms, planned.previewOf, outcome) : terms };
}

/** The terms as the simulation ended: nothing is previewed that was not seen. */
function asFilled(terms: DepositTerms, previewOf: PlannedDeposit['previewOf'], { fills }: BatchOutcome): DepositTerms {
  const [stock, zap, leverage] = fills.map(filledSwap);
  if (!stock || !zap || !leverage) return terms;
  const swaps = { stock, zap, leverage };
  return { ...terms, swaps, preview: previewOf(swaps) };
}

/**
 * Build the batch that closes the chosen loops of a vault and takes its stock leg apart.
 * @throws everything that `planExit` throws, and SimulationRevertedError, SimulationMismatchError
 */
export function buildExit(
  deps: BuilderDeps,
  found: FoundVault,
  request: ExitRequest,
  wallet: WalletReading,
): Promise<BuiltExit> {
  return withVenues(deps, (attempt) => exitOnce(attempt, found, request, wallet));
}

async function exitOnce(
  deps: BuilderDeps,
  found: FoundVault,
  request: ExitRequest,
  wallet: WalletReading,
): Promise<BuiltExit> {
  const user = wallet.holdings.wallet;
  const { chain, vault } = found;
  const reads = [authorizationOf(found, user), ...planWallet(chain, user, undefined, [])];
  const { legs, notes, terms, position, priced, slippage, issues, answers } = await planExit(
    deps,
    found,
    request,
    wallet,
    reads,
  );
  const [answer, native] = answers as readonly [boolean | undefined, bigint | undefined];
  const isAuthorized = required(answer);
  const ids = terms.loops.map(({ positionId }) => positionId);
  const calls = buildExitBatch(chain.contracts, terms, { isAuthorized });
  const places = exitPlaces(found, terms, calls);
  const { outcome, ...batch } = await completeBatch(deps, found, {
    action: 'equity_exit',
    user,
    calls,
    swaps: places,
    opens: false,
    proxies: terms.loops.map(({ proxy }) => proxy),
    shortfall: ({ fills }) => swapShortfall(fills, terms.slippage, deps.quoter.capped),
    notesOf: (seen) => [receivedNote(receivedBy(found, seen))],
    slippage,
    nativeBalance: required(native),
    allowUnsimulated: request.allowUnsimulated,
    issues,
    notes: [closingNote(ids), ...leftoverNote(isAuthorized, vault), ...notes],
    link: ids.length === 0 ? {} : { yieldPositionIds: ids.join(',') },
  });
  const costs = outcome ? costsAsFilled(legs, places, outcome) : exitCosts(legs);
  return {
    ...batch,
    ...costs,
    terms,
    position,
    priced,
    ...(outcome ? { received: [receivedBy(found, outcome)] } : {}),
  };
}

/** The costs as the simulation ended: what of a loop's sale neither repaid its debt nor reached the wallet is the fee. */
function costsAsFilled(legs: ExitLegs, places: readonly SwapPlace[], outcome: BatchOutcome): ExitCosts {
  const { fills, repaid, received } = outcome;
  const loops = legs.loops.map((loop, i) => ({ ...loop, swap: fills[i] ? filledSwap(fills[i]) : loop.swap }));
  const sold = fills[loops.length];
  const stock = { ...legs.stock, swap: sold ? filledSwap(sold) : legs.stock.swap };
  const kept = loops.reduce((sum, { swap }, i) => {
    const paid = received[places[i]?.callIndex ?? -1] ?? 0n;
    return sum + swap.expectedOut - (repaid[i] ?? 0n) - paid;
  }, 0n);
  return exitCosts({ ...legs, loops, stock }, kept);
}

function receivedBy({ vault }: FoundVault, { received }: BatchOutcome): TokenAmount {
  return { token: vault.depositToken, amount: received.reduce((sum, amount) => sum + amount, 0n) };
}

interface BatchDraft {
  readonly action: 'equity_deposit' | 'equity_exit';
  readonly user: Address;
  readonly calls: readonly EquityCall[];
  /** In the order in which they run. */
  readonly swaps: readonly SwapPlace[];
  /** Whether it opens a loop. */
  readonly opens: boolean;
  /** What holds the loops that it closes. */
  readonly proxies?: readonly Address[];
  /** What of it fell short; `undefined` = nothing. */
  readonly shortfall: (outcome: BatchOutcome) => Shortfall | undefined;
  /** What is only known once the calls have run. */
  readonly notesOf?: (outcome: BatchOutcome) => readonly string[];
  readonly slippage: EffectiveSlippage;
  readonly nativeBalance: bigint;
  /** Whether the caller takes it untried where no node can try it out; absent = no. */
  readonly allowUnsimulated?: boolean | undefined;
  readonly pays?: { readonly token: PayToken; readonly amount: bigint; readonly balance: bigint };
  readonly issues: readonly Issue[];
  readonly notes: readonly string[];
  /** Query of the signing link: the request itself, so that the app quotes afresh. */
  readonly link: Readonly<Record<string, string>>;
}

/**
 * Execute the whole batch in a simulation, compare what it ends with and say what to do with it.
 * @throws SimulationRevertedError, SimulationMismatchError, NotSimulatedError, ChainReadError
 */
async function completeBatch(
  deps: BuilderDeps,
  found: FoundVault,
  draft: BatchDraft,
): Promise<BuiltBatch & { readonly outcome?: BatchOutcome }> {
  const { action, user, calls, slippage, issues, notes, link } = draft;
  const { chain, vault } = found;
  const { because, ...simulated } = await simulateBatch(deps, found, draft);
  const { outcome } = simulated;
  const shortfall = outcome && draft.shortfall(outcome);
  if (shortfall) throw new SimulationMismatchError(shortfall);
  const swaps = outcome ? outcome.fills.map(filledSwap) : draft.swaps.map(({ swap }) => swap);
  const untried = because && {
    because,
    chainId: chain.chainId,
    what: 'batch' as const,
    token: vault.depositToken,
    takesRiskBack: !draft.opens,
    isAllowed: draft.allowUnsimulated === true,
  };
  const allIssues = untried ? [...issues, unsimulatedIssue(untried)] : issues;
  const expiresAtMs = Math.min(deps.clock.now() + MAX_LIFE_MS, ...swaps.map(({ quote }) => quote.expiresAtMs));
  const asked = slippage.tightenedFrom ?? slippage.value;
  const query = { strategyId: vault.id, ...link, slippage: asked.toFixed() };
  const signingUrl = signingUrlOf(deps.appUrl, { chainId: String(chain.chainId), action, userAddress: user, ...query });
  return {
    user,
    calls,
    issues: allIssues,
    slippage,
    expiresAtMs,
    ...(signingUrl === undefined ? {} : { signingUrl }),
    instructions: batchInstructions({
      user,
      calls: calls.length,
      swaps,
      slippage,
      issues: allIssues,
      notes: [...notes, ...(outcome ? (draft.notesOf?.(outcome) ?? []) : [])],
      expiresAtMs,
      signingUrl,
    }),
    ...simulated,
  };
}

async function simulateBatch(
  deps: BuilderDeps,
  found: FoundVault,
  draft: BatchDraft,
): Promise<
  | { readonly gasUsed: bigint; readonly outcome: BatchOutcome; readonly because?: never }
  | { readonly outcome?: never; readonly because: 'token' | 'node' }
> {
  const { user, calls, nativeBalance, pays } = draft;
  const plan: BatchPlan = { ...draft, found };
  const simulation = await deps.node(found.chain.chainId).simulator.simulate({
    user,
    calls,
    nativeBalance,
    observations: planBatchOutcome(plan),
    watched: watchedOfBatch(plan),
    ...(pays ? { pays } : {}),
  });
  if (!simulation.simulated) return { because: simulation.because };
  return { gasUsed: simulation.gasUsed, outcome: foldBatchOutcome(plan, simulation) };
}

const MAX_LIFE_MS = 60_000;

function fundingIssues({ token, amount, balance }: NonNullable<BatchDraft['pays']>): readonly Issue[] {
  if (balance >= amount) return [];
  return [
    {
      kind: 'INSUFFICIENT_BALANCE',
      token: token.address,
      required: formatUnitsPlain(amount, token.decimals),
      available: formatUnitsPlain(balance, token.decimals),
      message: `The wallet holds ${formatAmount(balance, token)} and this takes ${formatAmount(amount, token)}: fund it first.`,
    },
  ];
}

function closingNote(ids: readonly number[]): string {
  if (ids.length === 0) return 'No yield loop is closed: none is known to belong to the vault.';
  return `It closes the yield ${ids.length === 1 ? 'loop' : 'loops'} ${ids.join(', ')} and the stock leg, nothing else.`;
}

function signingUrlOf(appUrl: string | undefined, query: Readonly<Record<string, string>>): string | undefined {
  return appUrl === undefined ? undefined : `${appUrl.replace(/\/+$/, '')}/sign?${new URLSearchParams(query)}`;
}

function authorizationOf({ chain, router }: FoundVault, user: Address): Read<unknown> {
  return readOf(chain.contracts.morphoBlue, morphoBlueAbi, 'isAuthorized', [user, router]);
}
