import type { Chain, Market, Token } from '../../catalog/types.ts';
import { ChainReadError } from '../../chain/rpc/errors.ts';
import type { ChainFacts } from '../../domain/facts.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { checkManageFields } from '../../shared/input/manage-fields.ts';
import { NAMES } from '../../shared/names.ts';
import { requireAgreement, requireManaged, requireOperator, requireSound } from '../deployment-guards.ts';
import { type BuilderDeps, composedMarket, feedsOf, loanUsd, ratesOf, tokenUsdPrices } from '../deps.ts';
import { NotEligibleError } from '../errors.ts';
import { requireChainOf, requireFresh, requireSigner } from '../guards.ts';
import { allowedLoss, baseUnits, effectiveSlippage, LARGEST_LOSS_PCT } from '../input.ts';
import { SENT_WITHIN_SEC } from '../liquidity.ts';
import { completePlan, type Plan, type PlanDraft } from '../plan.ts';
import { equityValueOf } from '../preview/costs.ts';
import { apyNow, withInterest } from '../preview/position.ts';
import { withVenues } from '../quote/attempts.ts';
import { nothingSwapped } from '../quote/floor.ts';
import { priceAgeIssues, requirePriceAge } from '../quote/price-age.ts';
import { cappedIssues } from '../quote/slippage.ts';
import { deploymentNotes, requireUnpaused } from '../read/deployment.ts';
import { debtOf } from '../read/market-state.ts';
import { type PositionDirectory, readManaged } from '../read/position.ts';
import { payTokenOf } from '../read/tokens.ts';
import type { ManageAction, PayToken, PlannedSwap } from '../types.ts';
import { underWaterIssues } from '../under-water.ts';
import { addCollateral } from './add-collateral.ts';
import { borrowMore } from './borrow.ts';
import { closePosition } from './close.ts';
import { increaseLeverage } from './increase-leverage.ts';
import { removeCollateral } from './remove-collateral.ts';
import { repayDebt } from './repay.ts';
import type { ManageContext, ManageInput, Verb, VerbDraft } from './types.ts';

export type { ManageInput } from './types.ts';

const VERBS: Readonly<Record<ManageAction, Verb>> = {
  close: closePosition,
  increase_leverage: increaseLeverage,
  add_collateral: addCollateral,
  remove_collateral: removeCollateral,
  repay: repayDebt,
  borrow: borrowMore,
};

/** Actions that are paid with a token of the user's choice, and do not act through the contract that holds the position. */
const PAID: readonly ManageAction[] = ['add_collateral', 'repay'];
/** Actions that borrow more, or leave less collateral for the debt. */
const ADDING_RISK: readonly ManageAction[] = ['increase_leverage', 'borrow', 'remove_collateral'];

/**
 * Build the unsigned transaction that manages or closes a position.
 * @throws BadRequestError, LimitExceededError, NotEligibleError, StaleDataError, NoRouteError, InsufficientLiquidityError,
 * SimulationRevertedError, SimulationMismatchError, UpstreamUnavailableError
 */
export async function buildManagePlan(
  deps: BuilderDeps,
  positions: PositionDirectory,
  input: ManageInput,
): Promise<Plan> {
  requireChainOf(deps.chains, input.chainId);
  requireSigner(deps.chains, input.user);
  checkManageFields({ ...input, desiredLtv: input.desiredLtvPct });
  return withVenues(deps, (attempt) => manageOnce(attempt, positions, input));
}

/** @throws BadRequestError for a position on another market than the caller names */
function requireMarket({ id, chainId, user, marketId }: ManageInput, market: Market): void {
  if (marketId === undefined || marketId === market.id) return;
  throw new BadRequestError(
    `Position ${id} of ${user} on chain ${chainId} is on the market ${market.id}, not on ${marketId}. Send the id of a position from ${NAMES.places.positions(user, chainId)}.`,
    { field: 'positionId', value: `${chainId}-${marketId}-${id}` },
  );
}

async function manageOnce(
  deps: BuilderDeps,
  positions: PositionDirectory,
  input: ManageInput,
  isFirst = true,
): Promise<Plan> {
  const chain = requireChainOf(deps.chains, input.chainId);
  const slippage = effectiveSlippage(input.slippage);
  const { user, id, action } = input;
  const largestPct = largestLossPct(action);
  const maxSwapLossPct = allowedLoss(input.maxSwapLossPct, largestPct);
  const facts = deps.facts(chain.chainId);
  // Where the contract has no code every position would seem not to exist.
  requireSound(chain, facts, chain.contracts.flashLeverage);
  const { reader, simulator } = deps.node(chain.chainId);
  const [binding, given, vault] = await Promise.all([
    positions.bind(reader, chain, user, id),
    input.payToken === undefined ? undefined : deps.tokens.find(reader, chain, input.payToken),
    chain.equityVaults.length === 0 ? null : deps.vaultOf(chain.chainId, user, id),
  ]);
  if (vault !== null) {
    throw new NotEligibleError(
      `Position ${id} belongs to the equity vault ${vault} and is not managed alone: unwind the vault with ${NAMES.places.equityExit}.`,
      { reason: 'equity_vault', pointer: NAMES.places.equityExit },
    );
  }
  const { market } = binding;
  requireMarket(input, market);
  const nowMs = deps.clock.now();
  requireAgreement(chain, facts, [market], { addsRisk: ADDING_RISK.includes(action) });
  requireFresh(market, facts, deps.budgets, nowMs);
  const payToken = PAID.includes(action) ? (given ?? payTokenOf(market.loan)) : undefined;
  if (payToken) requirePayable(chain, facts, payToken, action === 'repay' ? market.loan : market.collateral);
  // Before anything is read: an amount that the token cannot carry is refused for any position.
  if (input.amount && payToken) baseUnits(input.amount, payToken);
  const [state] = await Promise.all([
    readManaged(reader, { chain, user, id, binding, payToken, nowMs, feeds: feedsOf(deps, market) }),
    payToken && !deps.previews && simulator.prepare(payToken),
  ]);
  if (!state) {
    positions.forget(chain, user, id);
    if (isFirst) return manageOnce(deps, positions, input, false);
    throw new ChainReadError('implausible');
  }
  requireUnpaused(state.deployment);
  if (!PAID.includes(action)) requireManaged(state, chain, user, id);
  const context: ManageContext = {
    ...state,
    binding,
    deps,
    input,
    chain,
    market,
    limits: state.deployment.limits,
    interest: debtOf(state.live, state.position.borrowShares, SENT_WITHIN_SEC) - state.position.debt,
    slippage,
    maxSwapLossPct,
    largestPct,
    rates: ratesOf(composedMarket(deps, market), state.live, { debtBefore: state.position.debt }),
    payToken,
    impactOf: ({ quote, lossPct: priceImpactPct }: PlannedSwap) => ({
      swap: { source: quote.source, priceImpactPct },
    }),
  };
  const ageIssues = (ADDING_RISK.includes(action) ? requirePriceAge : priceAgeIssues)(deps, chain, market, state.live);
  const draft = await VERBS[action](context);
  if (input.minAmountOut && draft.swaps.length === 0) throw nothingSwapped(payToken?.symbol ?? market.loan.symbol);
  const { conclude, preview } = draft;
  const defaults = deploymentNotes(state.deployment);
  return completePlan(deps, {
    slippage,
    ...draft,
    preview: preview && withInterest(preview, context.interest, state.live.price),
    issues: [...cappedIssues(slippage), ...paidIssues(context, draft), ...ageIssues, ...(draft.issues ?? [])],
    notes: [...(draft.notes ?? []), ...defaults],
    conclude:
      conclude &&
      ((outcome) => {
        const { notes, ...rest } = conclude(outcome);
        return notes === undefined ? rest : { ...rest, notes: [...notes, ...defaults] };
      }),
    before: { collateral: state.position.collateral, debt: state.position.debt },
    apyBeforePct: apyNow(state.position, state.live.price, context.rates),
    basisBefore: state.position.basis,
    held: { id, proxy: binding.proxy },
    chain,
    market,
    user,
    action,
    live: state.live,
    wallet: state.wallet,
    link: linkOf(context),
    bounds: input,
    allowUnsimulated: input.allowUnsimulated,
  });
}

/** Report the part of a payment that a position under water gives to its lenders. */
function paidIssues({ deps, chain, market, position, live, input }: ManageContext, { preview }: VerbDraft) {
  if (!PAID.includes(input.action) || !preview) return [];
  const payment = equityValueOf(preview.after, live.price) - equityValueOf(position, live.price);
  return underWaterIssues(payment, { position, live }, market.loan, loanUsd(tokenUsdPrices(deps, chain), market.loan));
}

function largestLossPct(action: ManageAction): Decimal {
  if (action === 'close') return LARGEST_LOSS_PCT.leaving;
  return action === 'repay' ? LARGEST_LOSS_PCT.repaying : LARGEST_LOSS_PCT.adding;
}

/** @throws NotEligibleError for a token that differs from the catalog, or one that needs a router without approval */
function requirePayable(chain: Chain, facts: ChainFacts, payToken: PayToken, direct: Token): void {
  requireSound(chain, facts, payToken.address);
  if (payToken.address === direct.address) return;
  const { flashLeverageRouter } = chain.contracts;
  requireOperator(chain, facts, flashLeverageRouter, `Pay with ${direct.symbol}, or try again later.`);
}

function linkOf({ input, payToken }: ManageContext): PlanDraft['link'] {
  const { id, amount, full, exact, leverage, desiredLtvPct } = input;
  return {
    id: String(id),
    amount: amount?.toFixed(),
    payToken: payToken?.address,
    full: full === true ? 'true' : undefined,
    exact: exact === true ? 'true' : undefined,
    leverage: leverage?.toFixed(),
    desiredLtv: desiredLtvPct?.toFixed(),
  };
}
