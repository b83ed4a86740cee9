import type { EquityPosition } from '../../domain/equity/position.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { type Completed, complete, positiveAmounts } from '../complete.ts';
import type { BuilderDeps } from '../deps.ts';
import { receivedNote } from '../messages.ts';
import type { PricedAt } from '../read/market-state.ts';
import { required } from '../read/reads.ts';
import { payTokenOf } from '../read/tokens.ts';
import { filledSwap, type SwapPlace } from '../simulate/fills.ts';
import { swapShortfall } from '../simulate/shortfall.ts';
import type { PositionState, TokenAmount } from '../types.ts';
import { buildDepositBatch, buildExitBatch, type EquityCall } from './batch.ts';
import { type DepositRequest, type PlannedDeposit, planDeposit } from './deposit.ts';
import { type ExitRequest, planExit, type VaultWallet } from './exit.ts';
import { type ExitCosts, type ExitLegs, exitCosts } from './exit-costs.ts';
import { leftoverNote } from './messages.ts';
import {
  type BatchOutcome,
  type BatchPlan,
  depositPlaces,
  depositShortfall,
  exitPlaces,
  observeBatch,
} from './outcome.ts';
import type { DepositTerms, ExitTerms } from './types.ts';
import type { FoundVault } from './vault.ts';

/** A batch of unsigned calls that was simulated and is ready to be signed. */
export interface BuiltBatch extends Completed {
  /** What it does and assumes, in sentences. */
  readonly notes: readonly string[];
  /** In order; the last one revokes the authorization that an earlier one grants. */
  readonly calls: readonly EquityCall[];
}

export interface BuiltDeposit extends BuiltBatch {
  readonly terms: DepositTerms;
}

export interface BuiltExit extends BuiltBatch, ExitCosts {
  readonly terms: ExitTerms;
  /** The vault before the exit. */
  readonly position: EquityPosition;
  /** Where the debts and the stock's price that the sales are judged by were read. */
  readonly priced: PricedAt;
  /** The stock leg before it, and the oracle's price of the stock. */
  readonly stockBefore: PositionState;
  readonly stockPrice: bigint;
  /** The wallet's gains; empty = none, absent = it could not be simulated. */
  readonly received?: readonly TokenAmount[] | undefined;
}

/**
 * Build the batch of a deposit for the wallet that signs it. A wallet without the deposit token gets its batch as well,
 * with the issue beside it.
 * @throws everything that `planDeposit` throws, and SimulationRevertedError, SimulationMismatchError
 */
export async function buildDeposit(
  deps: BuilderDeps,
  found: FoundVault,
  request: DepositRequest & { readonly user: Address },
): Promise<BuiltDeposit> {
  const { chain, router, vault } = found;
  const { user } = request;
  const token = payTokenOf(vault.depositToken);
  const [planned] = await Promise.all([
    planDeposit(deps, found, request),
    deps.node(chain.chainId).simulator.prepare(token),
  ]);
  const { terms, slippage, issues } = planned;
  const { isAuthorized, native, balance, allowances } = required(planned.signer);
  const allowance = allowances.get(router) ?? 0n;
  const pays = { token, amount: terms.amountIn, balance, allowance };
  const calls = buildDepositBatch(chain.contracts, terms, { allowance, isAuthorized });
  const plan: BatchPlan = { found, user, calls, swaps: depositPlaces(found, terms, calls), opens: true };
  return complete(deps, {
    ...batchOf(plan),
    action: 'equity_deposit',
    nativeBalance: native,
    pays,
    slippage,
    issues,
    lowersRisk: false,
    shortfall: (outcome) => depositShortfall(terms, planned, outcome, deps.quoter.capped),
    conclude: (outcome) => ({
      calls,
      terms: outcome ? termsAsFilled(terms, planned.previewOf, outcome) : terms,
      notes: [...leftoverNote(isAuthorized, vault), ...planned.notes],
    }),
    link: {
      strategyId: vault.id,
      amount: formatUnitsPlain(terms.amountIn, token.decimals),
      stockLtvPct: terms.stockLtvPct.toFixed(),
    },
    bounds: request,
  });
}

/** The part of a draft that every batch has. */
function batchOf(plan: BatchPlan) {
  return {
    what: 'batch' as const,
    chain: plan.found.chain,
    user: plan.user,
    approvals: [],
    calls: plan.calls,
    swaps: plan.swaps.map(({ swap }) => swap),
    observed: observeBatch(plan),
  };
}

/** The terms with the outcome of the simulation in place of the planned fills. */
function termsAsFilled(
  terms: DepositTerms,
  previewOf: PlannedDeposit['previewOf'],
  { fills }: BatchOutcome,
): DepositTerms {
  const [stock, zap, leverage] = fills.map(filledSwap);
  if (!stock || !zap || !leverage) return terms;
  const swaps = { stock, zap, leverage };
  return { ...terms, swaps, preview: previewOf(swaps) };
}

/**
 * Build the batch that closes the chosen loops of a vault and takes its stock leg apart.
 * @throws everything that `planExit` throws, and SimulationRevertedError, SimulationMismatchError
 */
export async function buildExit(
  deps: BuilderDeps,
  found: FoundVault,
  request: ExitRequest,
  wallet: VaultWallet,
): Promise<BuiltExit> {
  const user = wallet.holdings.wallet;
  const { chain, vault } = found;
  const { legs, notes, stockPrice, terms, position, priced, slippage, issues, signer, overrides } = await planExit(
    deps,
    found,
    request,
    wallet,
  );
  const { isAuthorized, native } = signer;
  const ids = terms.loops.map(({ positionId }) => positionId);
  const calls = buildExitBatch(chain.contracts, terms, { isAuthorized });
  const places = exitPlaces(found, terms, calls);
  const proxies = terms.loops.map(({ proxy }) => proxy);
  return complete(deps, {
    ...batchOf({ found, user, calls, swaps: places, opens: false, proxies }),
    action: 'equity_exit',
    nativeBalance: native,
    slippage,
    issues,
    lowersRisk: true,
    allowUnsimulated: request.allowUnsimulated,
    overrides,
    shortfall: ({ fills }) => swapShortfall(fills, terms.slippage, deps.quoter.capped),
    conclude: (outcome) => {
      const received = outcome && receivedBy(found, outcome);
      return {
        ...(outcome ? costsAsFilled(legs, places, outcome) : exitCosts(legs)),
        calls,
        terms,
        position,
        priced,
        stockBefore: { collateral: legs.stock.collateral, debt: legs.stock.debt },
        stockPrice,
        received: received && positiveAmounts([received]),
        notes: [
          closingNote(ids),
          ...leftoverNote(isAuthorized, vault),
          ...notes,
          ...(received ? [receivedNote(received)] : []),
        ],
      };
    },
    link: {
      strategyId: vault.id,
      yieldPositionIds: ids.length === 0 ? undefined : ids.join(','),
      exact: request.exact === true ? 'true' : undefined,
    },
    bounds: request,
  });
}

/** The costs of the simulated fills: the fee is the part of a loop's sale that neither repaid its debt nor reached the wallet. */
function costsAsFilled(legs: ExitLegs, places: readonly SwapPlace[], outcome: BatchOutcome): ExitCosts {
  const { fills, repaid, received } = outcome;
  const loops = legs.loops.map((loop, i) => ({ ...loop, swap: fills[i] ? filledSwap(fills[i]) : loop.swap }));
  const sold = fills[loops.length];
  const stock = { ...legs.stock, swap: sold ? filledSwap(sold) : legs.stock.swap };
  const fee = loops.reduce((sum, { swap }, i) => {
    const paid = received[places[i]?.callIndex ?? -1] ?? 0n;
    return sum + swap.expectedOut - (repaid[i] ?? 0n) - paid;
  }, 0n);
  return exitCosts({ ...legs, loops, stock }, fee);
}

function receivedBy({ vault }: FoundVault, { received }: BatchOutcome): TokenAmount {
  return { token: vault.depositToken, amount: received.reduce((sum, amount) => sum + amount, 0n) };
}

function closingNote(ids: readonly number[]): string {
  if (ids.length === 0) return 'No yield loop is closed: none is known to belong to the vault.';
  return `It closes the yield ${ids.length === 1 ? 'loop' : 'loops'} ${ids.join(', ')} and the stock leg, nothing else.`;
}
