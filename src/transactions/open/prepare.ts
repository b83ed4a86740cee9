import type { Token } from '../../catalog/types.ts';
import type { OracleFeed, SharedLiquidity } from '../../domain/facts.ts';
import { bufferOf, limitsOf } from '../../domain/market/statics.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { Address, ChainId, StrategyId } from '../../shared/ids.ts';
import { hasOperator, requireAgreement, requireOperator, requireSound } from '../deployment-guards.ts';
import { type BuilderDeps, composedMarket, feedsOf, ratesOf, referralFeeBps, tokenUsdPrices } from '../deps.ts';
import { requireChainOf, requireEligible, requireFresh, requireLoop } from '../guards.ts';
import { allowedLoss, baseUnits, effectiveSlippage, LARGEST_LOSS_PCT, requestedOf, targetLtvPct } from '../input.ts';
import { loanInCollateral } from '../preview/ltv.ts';
import { nothingSwapped, withFloor } from '../quote/floor.ts';
import { requirePaidPriceAge, requirePriceAge } from '../quote/price-age.ts';
import { referenceFor, unverifiedPrice } from '../quote/reference.ts';
import { planQuote, quoteSwap, requestQuote, type WantedSwap } from '../quote/request.ts';
import { sizeLoan } from '../quote/size.ts';
import { cappedIssues, heldSlippage, slippageIssues } from '../quote/slippage.ts';
import { planAllocator } from '../read/allocator.ts';
import { type Deployment, planDeployment, requireOpenMarket } from '../read/deployment.ts';
import { type LiveMarket, planMarket } from '../read/market-state.ts';
import { type LatestReader, NO_READS, planOne, readPlans } from '../read/reads.ts';
import { planOwner, requireWallet } from '../read/signer.ts';
import { planWallet, type WalletState } from '../read/wallet.ts';
import type { EffectiveSlippage, Issue, OpenTerms, PayToken } from '../types.ts';
import { reallocationFeeInLoan, unpricedFee } from './reallocation-fee.ts';
import { mostLoan, type OpenRequest, openTerms, planLiquidity, sizeOpen } from './terms.ts';

export interface OpenInput {
  readonly chainId: ChainId;
  readonly strategyId: StrategyId;
  readonly payToken: Address;
  /** Whole tokens. */
  readonly amount: Decimal;
  readonly leverage?: Decimal | undefined;
  readonly desiredLtvPct?: Decimal | undefined;
  /** Ratio. */
  readonly slippage?: Decimal | undefined;
  /** The most that all swaps and fees may cost together, percent of the equity. */
  readonly maxSwapLossPct?: Decimal | undefined;
  /** The least collateral that the swap of the pay token may give, whole tokens. */
  readonly minAmountOut?: Decimal | undefined;
}

export interface PreparedOpen {
  readonly request: OpenRequest;
  readonly terms: OpenTerms;
  /** The slippage in the calldata. */
  readonly slippage: EffectiveSlippage;
  readonly live: LiveMarket;
  readonly deployment: Deployment;
  /** Liquidity that a reallocation moves into the market, loan base units. */
  readonly moved: bigint;
  readonly wallet?: WalletState | undefined;
  readonly issues: readonly Issue[];
}

/**
 * Decide an open: chain reads and the entry quote side by side, then the quote of the flash loan. Without a user nothing of
 * a wallet is read.
 * @throws BadRequestError, LimitExceededError, NotEligibleError, StaleDataError, NoRouteError, InsufficientLiquidityError,
 * UpstreamUnavailableError
 */
export async function prepareOpen(deps: BuilderDeps, input: OpenInput, user?: Address): Promise<PreparedOpen> {
  const nowMs = deps.clock.now();
  const checked = await checkedOpen(deps, input, nowMs);
  const { chain, market, payToken } = checked;
  const facts = deps.facts(chain.chainId);
  const { reader, simulator } = deps.node(chain.chainId);
  // A reallocation goes through the router.
  const shared = hasOperator(chain, facts) ? facts.groups.sharedLiquidity.items.get(market.id)?.value : undefined;
  const [state, entryQuote] = await Promise.all([
    readOpenState(checked, shared, reader, user, nowMs, feedsOf(deps, market)),
    payToken.address === market.collateral.address ? undefined : requestQuote(deps, checked, entrySwap(checked)),
    user === undefined ? undefined : simulator.prepare(payToken),
  ]);
  const { live, sources, wallet, deployment } = state;
  const ageIssues = requirePriceAge(deps, chain, market, live);
  const request: OpenRequest = {
    ...checked,
    limits: deployment.limits,
    // Once more, against the contract's own limit.
    targetLtvPct: targetLtvPct(input, deployment.limits),
    depositFee: deployment.depositFee,
  };
  const usdOf = tokenUsdPrices(deps, chain);
  const wanted = entrySwap(request);
  const entryReference = entryQuote && referenceFor({ ...wanted, market, price: live.price, usdOf });
  const paidIssues = entryReference ? requirePaidPriceAge(deps, chain, payToken) : [];
  const quotedEntry = entryQuote && planQuote(deps, request, wanted, entryQuote, entryReference?.amountOut);
  const entry = quotedEntry && withFloor(quotedEntry, input.minAmountOut);
  const most = mostLoan(request, entry, live.price);
  const sized = await sizeLoan({
    chainId: market.chainId,
    collateral: sizeOpen(request, entry, live.price).netCollateral,
    price: live.price,
    targetLtvPct: request.targetLtvPct,
    feeBps: request.feeBps,
    sizeAt: (returned) => {
      const { amountFlashLoan } = sizeOpen(request, entry, live.price, returned);
      planLiquidity(request, amountFlashLoan, live, sources, most);
      return amountFlashLoan;
    },
    quoteAt: (amount) => quoteSwap(deps, request, loanSwap(request, amount), loanInCollateral(amount, live.price)),
  });
  const size = { ...sizeOpen(request, entry, live.price), amountFlashLoan: sized.amount };
  const { reallocations, moved } = planLiquidity(request, size.amountFlashLoan, live, sources, most);
  const rates = ratesOf(composedMarket(deps, market), live, { moved });
  const reallocationFee = reallocationFeeInLoan(reallocations, chain, market, usdOf);
  const swaps = { entry, loanSwap: sized.swap };
  const limited = openTerms({ request, price: live.price, ...swaps, size, reallocations, reallocationFee, rates });
  const raised = quotedEntry && entry ? [{ before: quotedEntry, after: entry }] : [];
  const terms = { ...limited, slippage: heldSlippage(limited.slippage, raised) };
  return {
    request,
    terms,
    slippage: terms.slippage,
    live,
    moved,
    deployment,
    wallet,
    issues: [
      ...ageIssues,
      ...paidIssues,
      ...(entryQuote && !entryReference ? [unverifiedPrice(payToken)] : []),
      ...(reallocationFee === undefined ? [unpricedFee(chain)] : []),
      ...cappedIssues(request.slippage),
      ...slippageIssues(limited.slippage),
    ],
  };
}

type CheckedOpen = Omit<OpenRequest, 'depositFee'>;

/** Check everything about a request that needs no newest state of the chain. @throws as `prepareOpen` */
async function checkedOpen(deps: BuilderDeps, input: OpenInput, nowMs: number): Promise<CheckedOpen> {
  const chain = requireChainOf(deps.chains, input.chainId);
  const market = requireLoop(chain, input.strategyId);
  const facts = deps.facts(chain.chainId);
  const limits = limitsOf(market, bufferOf(facts));
  const slippage = effectiveSlippage(input.slippage);
  const maxSwapLossPct = allowedLoss(input.maxSwapLossPct, LARGEST_LOSS_PCT.adding);
  const target = targetLtvPct(input, limits);
  requireAgreement(chain, facts, [market], { addsRisk: true });
  requireEligible(market, deps.composed(chain.chainId), nowMs);
  requireFresh(market, facts, deps.budgets, nowMs);
  const payToken = await deps.tokens.find(deps.node(chain.chainId).reader, chain, input.payToken);
  requireSound(chain, facts, payToken.address);
  if (payToken.address !== market.collateral.address) {
    const { flashLeverageRouter } = chain.contracts;
    requireOperator(chain, facts, flashLeverageRouter, `Pay with ${market.collateral.symbol}, or try again later.`);
  } else if (input.minAmountOut) throw nothingSwapped(payToken.symbol);
  return {
    chain,
    market,
    limits,
    payToken,
    slippage,
    maxSwapLossPct,
    amountIn: baseUnits(input.amount, payToken),
    targetLtvPct: target,
    minAmountOut: input.minAmountOut,
    requested: requestedOf(input),
    feeBps: referralFeeBps(deps, market),
  };
}

function entrySwap({ chain, payToken, market, amountIn, feeBps }: CheckedOpen): WantedSwap<PayToken | Token> {
  const executor = chain.contracts.flashLeverageRouter;
  return { tokenIn: payToken, tokenOut: market.collateral, amountIn, executor, feeBps };
}

function loanSwap({ chain, market, feeBps }: CheckedOpen, amountIn: bigint): WantedSwap {
  return {
    tokenIn: market.loan,
    tokenOut: market.collateral,
    amountIn,
    executor: chain.contracts.flashLeverage,
    feeBps,
  };
}

/** Read the market, the contract, the sources of liquidity and, where a user signs, the wallet at one block. */
async function readOpenState(
  { chain, market, payToken }: CheckedOpen,
  shared: SharedLiquidity | undefined,
  reader: LatestReader,
  user: Address | undefined,
  nowMs: number,
  feeds: readonly OracleFeed[] | undefined,
) {
  const { flashLeverage, flashLeverageRouter } = chain.contracts;
  const read = await readPlans(reader, {
    live: planMarket(chain, market, feeds, nowMs),
    deployment: planDeployment(chain, market),
    wallet: user ? planWallet(chain, user, payToken, [flashLeverage, flashLeverageRouter]) : NO_READS,
    sources: planAllocator(chain, market, shared),
    owner: user ? planOne(planOwner(user)) : NO_READS,
  });
  if (user) await requireWallet(reader, chain, user, read.owner());
  const deployment = read.deployment();
  requireOpenMarket(market, deployment);
  return { live: read.live(), deployment, sources: read.sources(), wallet: read.wallet() };
}
