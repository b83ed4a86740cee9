import { zeroAddress } from 'viem';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { EquityVault } from '../../catalog/types.ts';
import { depositFeeOf } from '../../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import { type Decimal, formatUnitsPlain } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { Address } from '../../shared/ids.ts';
import { requireAgreement } from '../deployment-guards.ts';
import { type BuilderDeps, feedsOf, feeFields, referralFeeBps } from '../deps.ts';
import { allowedLoss, baseUnits, effectiveSlippage, LARGEST_LOSS_PCT, leastOutput, MAX_SLIPPAGE } from '../input.ts';
import {
  borrowingFlows,
  type Flow,
  type LiquidityNeed,
  largestSwapped,
  liquidityNeeds,
  liquidityOf,
  type MarketLiquidity,
  requireCovered,
} from '../liquidity.ts';
import { incentiveNote } from '../messages.ts';
import { loanInCollateral } from '../preview/ltv.ts';
import { leastLeverageOutput } from '../preview/position.ts';
import { borrowApyChange } from '../preview/rates.ts';
import { requireLossWithin } from '../quote/bounds.ts';
import { planSwap, withMinimum, worstOutput } from '../quote/planned.ts';
import { requirePriceAge } from '../quote/price-age.ts';
import { sizeLoan } from '../quote/size.ts';
import { heldSlippage } from '../quote/slippage.ts';
import {
  type Deployment,
  deploymentNotes,
  foldDeployment,
  planDeployment,
  requireOpenMarket,
} from '../read/deployment.ts';
import { debtOf, foldMarket, type LiveMarket, planMarket, pricedAt } from '../read/market-state.ts';
import { type Read, readOf, required } from '../read/reads.ts';
import { planOwner, requireWallet } from '../read/signer.ts';
import { payTokenOf } from '../read/tokens.ts';
import type { EffectiveSlippage, Issue, PlannedSwap, PositionState } from '../types.ts';
import { requireOpenVault } from './eligibility.ts';
import { requireVaultMarkets } from './markets.ts';
import { previewDeposit } from './preview.ts';
import { sizeFlashLoan, sizeStockBorrow, type VaultPrices } from './sizing.ts';
import { resolveStockLtvPct } from './stock-ltv.ts';
import type { DepositPreview, DepositSwaps, DepositTerms } from './types.ts';
import type { FoundVault } from './vault.ts';

/** What was asked for. `undefined` = left out. */
export interface DepositRequest {
  /** Who deposits; a preview alone needs nobody. */
  readonly user?: Address | undefined;
  /** Whole deposit tokens. */
  readonly amount: Decimal;
  readonly stockLtvPct?: Decimal | undefined;
  readonly slippage?: Decimal | undefined;
  /** What all swaps and fees may cost together, percent of the deposit. */
  readonly maxSwapLossPct?: Decimal | undefined;
}

export interface PlannedDeposit {
  readonly terms: DepositTerms;
  /** The wallet's stock leg before it; absent without a wallet. */
  readonly stockBefore: PositionState | undefined;
  readonly stockMarket: LiveMarket;
  readonly prices: VaultPrices;
  /** Preview the same with what its swaps have really given. */
  readonly previewOf: (swaps: DepositSwaps) => DepositPreview;
  readonly slippage: EffectiveSlippage;
  /** What has to be said of the prices that judge it. */
  readonly issues: readonly Issue[];
  /** What its numbers rest on, in sentences. */
  readonly notes: readonly string[];
  /** The answers to the further reads that were asked for. */
  readonly answers: readonly unknown[];
}

/**
 * Decide everything about a deposit: check what was asked, read both markets as they are now, quote the three swaps one
 * after the other (each is sized on the least that the one before gives) and preview the result.
 * @param further more to read in the same request, answered in `answers`
 * @throws BadRequestError, LimitExceededError, NotEligibleError, StaleDataError, NotReadyError, InsufficientLiquidityError,
 * NoRouteError, UpstreamUnavailableError
 */
export async function planDeposit(
  deps: BuilderDeps,
  { chain, router, vault }: FoundVault,
  request: DepositRequest,
  further: readonly Read<unknown>[] = [],
): Promise<PlannedDeposit> {
  const slippage = effectiveSlippage(request.slippage ?? MAX_SLIPPAGE);
  const maxSwapLossPct = allowedLoss(request.maxSwapLossPct, LARGEST_LOSS_PCT.adding);
  const stockLtvPct = resolveStockLtvPct(vault, request.stockLtvPct);
  const amountIn = baseUnits(request.amount, payTokenOf(vault.depositToken));
  const ofVault = [vault.stockMarket, vault.yieldMarket];
  requireAgreement(chain, deps.facts(chain.chainId), ofVault, { addsRisk: true });
  requireOpenVault(vault, deps.composed(chain.chainId), deps.clock.now());
  const composed = requireVaultMarkets(deps, vault);
  const live = await readVault(deps, { chain, router, vault }, request.user, further);
  const issues = [
    ...requirePriceAge(deps, chain, vault.stockMarket, live.stock),
    ...requirePriceAge(deps, chain, vault.yieldMarket, live.yieldMarket),
  ];
  const prices = { stock: live.stock.price, yield: live.yieldMarket.price };
  const fees = {
    stockLegBps: referralFeeBps(deps, vault.stockMarket),
    yieldLegBps: referralFeeBps(deps, vault.yieldMarket),
  };
  const { flashLeverage } = chain.contracts;
  const { depositToken, stock, yieldMarket } = vault;
  const liquidity = [liquidityOf(vault.stockMarket, live.stock), liquidityOf(yieldMarket, live.yieldMarket)];
  const largest = () => {
    // Smaller amounts are swapped at better prices: as if nothing but the slippage and the referral fee were lost.
    const least = (amount: bigint, price: bigint) => leastOutput(loanInCollateral(amount, price), slippage.value);
    const borrow = sizeStockBorrow(least(amountIn, prices.stock), prices.stock, stockLtvPct);
    const returned = { numerator: 10_000n - BigInt(fees.yieldLegBps), denominator: 10_000n };
    const loan = sizeFlashLoan(live.deployment.limits, least(borrow, prices.yield), prices.yield, returned);
    const needs = depositNeeds(vault, borrow, loan, liquidity);
    return { maxAmount: formatUnitsPlain(largestSwapped(amountIn, needs), depositToken.decimals) };
  };
  const buy = async (
    tokenOut: PlannedSwap['tokenOut'],
    amountIn: bigint,
    price: bigint,
    feeBps: number,
    holder: Address,
  ) => {
    const quote = await deps.quoter.quote({
      chain,
      tokenIn: depositToken.address,
      tokenOut: tokenOut.address,
      amountIn,
      sender: holder,
      recipient: holder,
      slippage: slippage.value,
      ...feeFields(deps, feeBps),
    });
    const reference = loanInCollateral(amountIn, price);
    const judged = { quote, reference, slippage: slippage.value, maxSwapLossPct, capped: deps.quoter.capped };
    return planSwap({ tokenIn: depositToken, tokenOut, ...judged });
  };

  const stockSwap = await buy(stock, amountIn, prices.stock, fees.stockLegBps, router);
  const stockBorrow = sizeStockBorrow(worstOutput(stockSwap), prices.stock, stockLtvPct);
  requirePositive(stockBorrow, vault, amountIn);
  // Before the rest is quoted: beyond what the stock market lends there may be no quote at all.
  requireCovered(
    liquidityNeeds([[{ kind: 'borrow', market: vault.stockMarket, amount: stockBorrow }]], liquidity),
    largest,
  );

  const loop = yieldMarket.collateral;
  const zap = await buy(loop, stockBorrow, prices.yield, fees.yieldLegBps, router);
  const { depositFee, limits } = live.deployment;
  const minCollateral = worstOutput(zap) - depositFeeOf(worstOutput(zap), depositFee);
  const sized = await sizeLoan({
    pair: { tokenIn: depositToken.address, tokenOut: loop.address },
    collateral: minCollateral,
    debt: 0n,
    price: prices.yield,
    targetLtvPct: limits.safeLtvPct,
    feeBps: fees.yieldLegBps,
    sizeAt: (returned) => {
      const amount = sizeFlashLoan(limits, minCollateral, prices.yield, returned);
      requirePositive(amount, vault, amountIn);
      requireCovered(depositNeeds(vault, stockBorrow, amount, liquidity), largest);
      return amount;
    },
    async quoteAt(amount) {
      const quoted = await buy(loop, amount, prices.yield, fees.yieldLegBps, flashLeverage);
      return { expectedOut: quoted.expectedOut, source: quoted.quote.source, quoted };
    },
  });
  const { amount: amountFlashLoan, quoted: loanSwap } = sized;
  const requested = { field: 'amount', value: request.amount.toFixed() };
  requireLossWithin({
    swaps: [
      { swap: stockSwap, outPrice: prices.stock },
      { swap: zap, outPrice: prices.yield },
      { swap: loanSwap, outPrice: prices.yield },
    ],
    fees: collateralValueInLoan(depositFeeOf(zap.expectedOut, depositFee), prices.yield),
    equity: amountIn,
    boundsTotal: true,
    maxSwapLossPct,
    largestPct: LARGEST_LOSS_PCT.adding,
    requested,
  });
  const minLeveraged = leastLeverageOutput({
    expectedOut: loanSwap.expectedOut,
    slippage: slippage.value,
    collateral: minCollateral,
    debt: amountFlashLoan,
    price: prices.yield,
    maxLtvPct: limits.maxLtvPct,
    requested,
  });
  const leverage = withMinimum(loanSwap, minLeveraged);
  const held = heldSlippage(slippage, [{ before: loanSwap, after: leverage }]);
  const swaps = { stock: stockSwap, zap, leverage };
  const decided = {
    vault,
    router,
    amountIn,
    stockLtvPct,
    stockBorrow,
    amountFlashLoan,
    depositFee,
    swaps,
    fees: { stockLegBps: stockSwap.feeBps, yieldLegBps: leverage.feeBps },
    slippage: held.value,
  };
  const borrowApyPct = {
    stock: borrowApyChange(live.stock, stockBorrow),
    yield: borrowApyChange(live.yieldMarket, amountFlashLoan),
  };
  const priced = { stock: pricedAt(live.stock), yield: pricedAt(live.yieldMarket) };
  const previewOf = (given: DepositSwaps) =>
    previewDeposit({ ...decided, swaps: given, prices, ...composed, held: live.held, borrowApyPct, priced });
  const terms = { ...decided, preview: previewOf(swaps) };
  const isPaid = ({ borrowApyPct, netBorrowApyPct }: ComposedMarket) => borrowApyPct.gt(netBorrowApyPct);
  const notes = [
    ...incentiveNote(isPaid(composed.stock) || isPaid(composed.yieldMarket)),
    ...deploymentNotes(live.deployment),
  ];
  const read = { stockBefore: live.held, stockMarket: live.stock, prices };
  return { terms, ...read, previewOf, slippage: held, issues, notes, answers: live.answers };
}

/** Where a vault whose yield market is closed can still be left. */
const EXIT_PATH = '/v1/partner/equity/exit/build';

/** Read both markets and whether the yield market is open, at one block. */
async function readVault(
  deps: BuilderDeps,
  { chain, vault }: FoundVault,
  user: Address | undefined,
  further: readonly Read<unknown>[],
): Promise<{
  stock: LiveMarket;
  yieldMarket: LiveMarket;
  /** What the contract says of the yield market. */
  deployment: Deployment;
  held?: PositionState | undefined;
  answers: readonly unknown[];
}> {
  const { morphoBlue } = chain.contracts;
  const { reader } = deps.node(chain.chainId);
  const { block, answers } = await reader.read([
    ...planMarket(chain, vault.stockMarket, feedsOf(deps, vault.stockMarket)),
    ...planMarket(chain, vault.yieldMarket, feedsOf(deps, vault.yieldMarket)),
    ...planDeployment(chain, vault.yieldMarket),
    readOf(morphoBlue, morphoBlueAbi, 'position', [vault.stockMarket.id, user ?? zeroAddress]),
    ...further,
    ...(user === undefined ? [] : [planOwner(user)]),
  ]);
  const [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, position, ...rest] = answers;
  if (user !== undefined) {
    await requireWallet(reader, chain, user, rest[further.length] as Address | null | undefined);
  }
  const nowMs = deps.clock.now();
  const deployment = foldDeployment(vault.yieldMarket, [k, l, m, n, o, p]);
  requireOpenMarket(vault.yieldMarket, deployment, EXIT_PATH);
  const stock = foldMarket(vault.stockMarket, [a, b, c, d, e], block, nowMs);
  const [, borrowShares, collateral] = required(position);
  return {
    stock,
    held: user === undefined ? undefined : { collateral, debt: debtOf(stock, borrowShares) },
    yieldMarket: foldMarket(vault.yieldMarket, [f, g, h, i, j], block, nowMs),
    deployment,
    answers: rest.slice(0, further.length),
  };
}

/** The stock leg borrows before the flash loan of the yield leg, and both are out when the yield leg borrows. */
function depositNeeds(
  { stockMarket, yieldMarket }: EquityVault,
  stockBorrow: bigint,
  amountFlashLoan: bigint,
  liquidity: readonly MarketLiquidity[],
): readonly LiquidityNeed[] {
  const flows: readonly Flow[] = [
    { kind: 'borrow', market: stockMarket, amount: stockBorrow },
    ...borrowingFlows(yieldMarket, amountFlashLoan),
  ];
  return liquidityNeeds([flows], liquidity);
}

function requirePositive(borrowed: bigint, { depositToken }: EquityVault, amountIn: bigint): void {
  if (borrowed > 0n) return;
  throw new BadRequestError('amount is too small: not one unit would be borrowed on it. Send more.', {
    field: 'amount',
    value: formatUnitsPlain(amountIn, depositToken.decimals),
  });
}
