import type { OracleFeed, SharedLiquidity } from '../../domain/facts.ts';
import { bufferOf, limitsOf } from '../../domain/market/statics.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { Address, ChainId, StrategyId } from '../../shared/ids.ts';
import type { SwapQuote } from '../../upstreams/types.ts';
import { hasOperator, requireAgreement, requireOperator, requireSound } from '../deployment-guards.ts';
import {
  type BuilderDeps,
  composedMarket,
  feedsOf,
  feeFields,
  ratesOf,
  referralFeeBps,
  tokenUsdPrices,
} from '../deps.ts';
import { requireChainOf, requireEligible, requireFresh, requireLoop } from '../guards.ts';
import { allowedLoss, baseUnits, effectiveSlippage, LARGEST_LOSS_PCT, requestedOf, targetLtvPct } from '../input.ts';
import { nothingSwapped, withFloor } from '../quote/floor.ts';
import { requirePaidPriceAge, requirePriceAge } from '../quote/price-age.ts';
import { referenceFor } from '../quote/reference.ts';
import { sizeLoan } from '../quote/size.ts';
import { heldSlippage, slippageIssues } from '../quote/slippage.ts';
import { foldAllocator, knownSources, planAllocator } from '../read/allocator.ts';
import {
  type Deployment,
  type DeploymentAnswers,
  foldDeployment,
  planDeployment,
  requireOpenMarket,
} from '../read/deployment.ts';
import { foldMarket, type LiveMarket, type MarketAnswers, planMarket } from '../read/market-state.ts';
import { planOwner, requireWallet } from '../read/signer.ts';
import { foldWallet, planWallet, type WalletState } from '../read/wallet.ts';
import type { EffectiveSlippage, Issue, OpenTerms } from '../types.ts';
import { reallocationFeeInLoan, unpricedFee } from './reallocation-fee.ts';
import {
  mostLoan,
  type OpenRequest,
  openTerms,
  planEntrySwap,
  planLiquidity,
  planLoanSwap,
  sizeOpen,
} from './terms.ts';

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
  /** What all swaps and fees may cost together, percent of the equity. */
  readonly maxSwapLossPct?: Decimal | undefined;
  /** The least collateral that the swap of the pay token may give, whole tokens. */
  readonly minAmountOut?: Decimal | undefined;
}

export interface PreparedOpen {
  readonly request: OpenRequest;
  readonly terms: OpenTerms;
  /** What holds in the calldata. */
  readonly slippage: EffectiveSlippage;
  readonly live: LiveMarket;
  readonly deployment: Deployment;
  /** What a reallocation moves into the market, loan base units. */
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
  const chain = requireChainOf(deps.chains, input.chainId);
  const market = requireLoop(chain, input.strategyId);
  const facts = deps.facts(chain.chainId);
  const limits = limitsOf(market, bufferOf(facts));
  const slippage = effectiveSlippage(input.slippage);
  const maxSwapLossPct = allowedLoss(input.maxSwapLossPct, LARGEST_LOSS_PCT.adding);
  const target = targetLtvPct(input, limits);
  const nowMs = deps.clock.now();
  requireAgreement(chain, facts, [market], { addsRisk: true });
  requireEligible(market, deps.composed(chain.chainId), nowMs);
  requireFresh(market, facts, deps.budgets, nowMs);
  const { reader, simulator } = deps.node(chain.chainId);
  const payToken = await deps.tokens.find(reader, chain, input.payToken);
  requireSound(chain, facts, payToken.address);
  if (payToken.address !== market.collateral.address) {
    const { flashLeverageRouter } = chain.contracts;
    requireOperator(chain, facts, flashLeverageRouter, `Pay with ${market.collateral.symbol}, or try again later.`);
  }
  if (input.minAmountOut && payToken.address === market.collateral.address) throw nothingSwapped(payToken.symbol);
  const asked = {
    chain,
    market,
    limits,
    payToken,
    amountIn: baseUnits(input.amount, payToken),
    targetLtvPct: target,
    slippage,
    maxSwapLossPct,
    minAmountOut: input.minAmountOut,
    requested: requestedOf(input),
    feeBps: referralFeeBps(deps, market),
  };
  // A reallocation goes through the router.
  const shared = hasOperator(chain, facts) ? facts.groups.sharedLiquidity.items.get(market.id)?.value : undefined;
  const [state, entryQuote] = await Promise.all([
    readOpenState(asked, shared, reader, user, nowMs, feedsOf(deps, market)),
    quoteEntry(deps, asked),
    user === undefined ? undefined : simulator.prepare(payToken),
  ]);
  const { live, sources, wallet, deployment } = state;
  const ageIssues = requirePriceAge(deps, chain, market, live);
  const request: OpenRequest = {
    ...asked,
    limits: deployment.limits,
    // Once more, against the limit that the contract itself says.
    targetLtvPct: targetLtvPct(input, deployment.limits),
    depositFee: deployment.depositFee,
  };
  const usdOf = tokenUsdPrices(deps, chain);
  const entryReference = entryQuote && referenceFor({ ...entryPair(request), market, price: live.price, usdOf });
  const paidIssues = entryReference ? requirePaidPriceAge(deps, chain, payToken) : [];
  const { capped } = deps.quoter;
  const entryAsked = entryQuote && planEntrySwap(request, entryQuote, entryReference?.amountOut, capped);
  const entry = entryAsked && withFloor(entryAsked, input.minAmountOut);
  const most = mostLoan(request, entry, live.price);
  const sized = await sizeLoan({
    pair: { tokenIn: market.loan.address, tokenOut: market.collateral.address },
    collateral: sizeOpen(request, entry, live.price).netCollateral,
    debt: 0n,
    price: live.price,
    targetLtvPct: request.targetLtvPct,
    feeBps: request.feeBps,
    sizeAt: (returned) => {
      const { amountFlashLoan } = sizeOpen(request, entry, live.price, returned);
      planLiquidity(request, amountFlashLoan, live, sources, most);
      return amountFlashLoan;
    },
    async quoteAt(amount) {
      const quoted = planLoanSwap(request, await quoteLoan(deps, request, amount), live.price, capped);
      return { expectedOut: quoted.expectedOut, source: quoted.quote.source, quoted };
    },
  });
  const size = { ...sizeOpen(request, entry, live.price), amountFlashLoan: sized.amount };
  const { reallocations, moved } = planLiquidity(request, size.amountFlashLoan, live, sources, most);
  const rates = ratesOf(composedMarket(deps, market), live, { moved });
  const reallocationFee = reallocationFeeInLoan(reallocations, chain, market, usdOf);
  const swaps = { entry, loanSwap: sized.quoted };
  const limited = openTerms({ request, price: live.price, ...swaps, size, reallocations, reallocationFee, rates });
  const raised = entryAsked && entry ? [{ before: entryAsked, after: entry }] : [];
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
      ...slippageIssues(limited.slippage),
    ],
  };
}

/** Quote the swap of a flash loan of this size into collateral. */
function quoteLoan(deps: BuilderDeps, request: OpenRequest, amountIn: bigint): Promise<SwapQuote> {
  const { chain, market, slippage, feeBps } = request;
  const executor = chain.contracts.flashLeverage;
  return deps.quoter.quote({
    chain,
    tokenIn: market.loan.address,
    tokenOut: market.collateral.address,
    amountIn,
    sender: executor,
    recipient: executor,
    slippage: slippage.value,
    ...feeFields(deps, feeBps),
  });
}

async function readOpenState(
  { chain, market, payToken }: Pick<OpenRequest, 'chain' | 'market' | 'payToken'>,
  shared: SharedLiquidity | undefined,
  reader: ReturnType<BuilderDeps['node']>['reader'],
  user: Address | undefined,
  nowMs: number,
  feeds: readonly OracleFeed[] | undefined,
) {
  const known = knownSources(chain, shared);
  const spenders = [chain.contracts.flashLeverage, chain.contracts.flashLeverageRouter];
  const marketPlan = planMarket(chain, market, feeds);
  const deploymentPlan = planDeployment(chain, market);
  const marketEnd = marketPlan.length + deploymentPlan.length;
  const walletPlan = user === undefined ? [] : planWallet(chain, user, payToken, spenders);
  const plan = [...marketPlan, ...deploymentPlan, ...walletPlan, ...planAllocator(chain, market, known)];
  const { answers, block } = await reader.read(user === undefined ? plan : [...plan, planOwner(user)]);
  const walletEnd = marketEnd + walletPlan.length;
  const all: readonly unknown[] = answers;
  if (user !== undefined) await requireWallet(reader, chain, user, all[plan.length] as Address | null | undefined);
  const deployed = all.slice(marketPlan.length, marketEnd) as unknown as DeploymentAnswers;
  const deployment = foldDeployment(market, deployed);
  requireOpenMarket(market, deployment);
  return {
    live: foldMarket(market, all.slice(0, marketPlan.length) as unknown as MarketAnswers, block, nowMs),
    deployment,
    sources: foldAllocator(known, all.slice(walletEnd, plan.length)),
    wallet:
      user === undefined
        ? undefined
        : foldWallet(payToken, spenders, all.slice(marketEnd, walletEnd) as (bigint | undefined)[]),
  };
}

function entryPair({ payToken, market, amountIn }: Pick<OpenRequest, 'payToken' | 'market' | 'amountIn'>) {
  return { tokenIn: payToken, tokenOut: market.collateral, amountIn };
}

/** Quote the swap of the pay token into collateral; `undefined` when the pay token is the collateral. */
async function quoteEntry(deps: BuilderDeps, request: Omit<OpenRequest, 'depositFee'>): Promise<SwapQuote | undefined> {
  const { chain, market, payToken, amountIn, slippage, feeBps } = request;
  const { collateral } = market;
  if (payToken.address === collateral.address) return undefined;
  const executor = chain.contracts.flashLeverageRouter;
  return deps.quoter.quote({
    chain,
    tokenIn: payToken.address,
    tokenOut: collateral.address,
    amountIn,
    sender: executor,
    recipient: executor,
    slippage: slippage.value,
    ...feeFields(deps, feeBps),
  });
}

/** Say that nothing but the venue itself prices a token. */
export function unverifiedPrice({ address, symbol }: OpenRequest['payToken']): Issue {
  return {
    kind: 'PRICE_UNVERIFIED',
    token: address,
    message: `No price of ${symbol} is known here, so its swap quote could not be checked against one: compare the expected output yourself.`,
  };
}
