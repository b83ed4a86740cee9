import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import { depositFeeOf } from '../../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { requireAgreement } from '../deployment-guards.ts';
import { type BuilderDeps, loanUsd, tokenUsdPrices } from '../deps.ts';
import { allowedLoss, baseUnits, effectiveSlippage, LARGEST_LOSS_PCT, MAX_SLIPPAGE } from '../input.ts';
import { incentiveNote } from '../messages.ts';
import { equityValueOf } from '../preview/costs.ts';
import { withinMaxLtv } from '../preview/position.ts';
import { borrowApyChange } from '../preview/rates.ts';
import { requirePriceAge } from '../quote/price-age.ts';
import { MAX_TOTAL_LOSS_PCT, requireLossWithin } from '../quote/refuse-costly-swaps.ts';
import { cappedIssues, heldSlippage, slippageIssues } from '../quote/slippage.ts';
import { deploymentNotes, requireOpenMarket } from '../read/deployment.ts';
import { debtOf, type LiveMarket, pricedAt } from '../read/market-state.ts';
import { NO_READS, planOne, readOf, readPlans, required } from '../read/reads.ts';
import { planOwner, requireWallet } from '../read/signer.ts';
import { payTokenOf } from '../read/tokens.ts';
import type { EffectiveSlippage, Issue, PositionState } from '../types.ts';
import { underWaterIssues } from '../under-water.ts';
import { type DepositOrder, type SizedDeposit, sizeDeposit } from './deposit-swaps.ts';
import { requireOpenVault, requireVaultMarkets } from './eligibility.ts';
import { previewDeposit } from './preview.ts';
import { type LiveVault, planSigner, planVault, type VaultSigner } from './read.ts';
import { resolveStockLtvPct, type VaultPrices } from './sizing.ts';
import type { DepositPreview, DepositSwaps, DepositTerms } from './types.ts';
import type { FoundVault } from './vault.ts';

/** `undefined` = left out. */
export interface DepositRequest {
  /** The wallet that deposits; a preview needs none. */
  readonly user?: Address | undefined;
  /** Whole deposit tokens. */
  readonly amount: Decimal;
  readonly stockLtvPct?: Decimal | undefined;
  readonly slippage?: Decimal | undefined;
  /** The most that all swaps and fees may cost together, percent of the deposit. */
  readonly maxSwapLossPct?: Decimal | undefined;
}

export interface PlannedDeposit {
  readonly terms: DepositTerms;
  /** Absent without a wallet. */
  readonly signer: VaultSigner | undefined;
  /** The wallet's stock leg before it; absent without a wallet. */
  readonly stockBefore: PositionState | undefined;
  readonly stockMarket: LiveMarket;
  readonly prices: VaultPrices;
  /** Preview the same with the simulated fills. */
  readonly previewOf: (swaps: DepositSwaps) => DepositPreview;
  readonly slippage: EffectiveSlippage;
  /** Doubts about the prices that judge it. */
  readonly issues: readonly Issue[];
  /** Assumptions behind its numbers, in sentences. */
  readonly notes: readonly string[];
}

/**
 * Decide everything about a deposit: check the request, read both markets as they are now, quote the three swaps and preview
 * the result.
 * @throws BadRequestError, LimitExceededError, NotEligibleError, StaleDataError, NotReadyError, InsufficientLiquidityError,
 * NoRouteError, UpstreamUnavailableError
 */
export async function planDeposit(
  deps: BuilderDeps,
  found: FoundVault,
  request: DepositRequest,
): Promise<PlannedDeposit> {
  const { chain, vault } = found;
  const { stockMarket, yieldMarket } = vault;
  const order: DepositOrder = {
    ...found,
    slippage: effectiveSlippage(request.slippage ?? MAX_SLIPPAGE),
    maxSwapLossPct: allowedLoss(request.maxSwapLossPct, LARGEST_LOSS_PCT.adding),
    stockLtvPct: resolveStockLtvPct(vault, request.stockLtvPct),
    amountIn: baseUnits(request.amount, payTokenOf(vault.depositToken)),
  };
  requireAgreement(chain, deps.facts(chain.chainId), [stockMarket, yieldMarket], { addsRisk: true });
  requireOpenVault(vault, deps.composed(chain.chainId), deps.clock.now());
  const composed = requireVaultMarkets(deps, vault);
  const { signer, held, ...live } = await readDeposit(deps, found, request.user);
  const issues = [
    ...requirePriceAge(deps, chain, stockMarket, live.stock),
    ...requirePriceAge(deps, chain, yieldMarket, live.yieldMarket),
  ];
  const prices = { stock: live.stock.price, yield: live.yieldMarket.price };
  const usdOf = loanUsd(tokenUsdPrices(deps, chain), vault.depositToken);
  const sized = await sizeDeposit(deps, order, live);
  const { swaps, slippage } = requireDepositBounds(order, live, sized, request.amount.toFixed());
  const { stockBorrow, amountFlashLoan } = sized;
  // The stock of the deposit and that of the wallet are one position.
  const paidIn = equityValueOf({ collateral: swaps.stock.expectedOut, debt: stockBorrow }, prices.stock);
  const { router, amountIn, stockLtvPct } = order;
  const { depositFee } = live.deployment;
  const decided = {
    vault,
    router,
    amountIn,
    stockLtvPct,
    stockBorrow,
    amountFlashLoan,
    depositFee,
    swaps,
    fees: { stockLegBps: swaps.stock.feeBps, yieldLegBps: swaps.leverage.feeBps },
    slippage: slippage.value,
  };
  const borrowApyPct = {
    stock: borrowApyChange(live.stock, stockBorrow),
    yield: borrowApyChange(live.yieldMarket, amountFlashLoan),
  };
  const priced = { stock: pricedAt(live.stock), yield: pricedAt(live.yieldMarket) };
  const previewOf = (given: DepositSwaps) =>
    previewDeposit({ ...decided, swaps: given, prices, ...composed, held, borrowApyPct, priced });
  const isPaid = ({ borrowApyPct, netBorrowApyPct }: ComposedMarket) => borrowApyPct.gt(netBorrowApyPct);
  return {
    terms: { ...decided, preview: previewOf(swaps) },
    signer,
    stockBefore: held,
    stockMarket: live.stock,
    prices,
    previewOf,
    slippage,
    issues: [
      ...(held ? underWaterIssues(paidIn, { position: held, live: live.stock }, vault.depositToken, usdOf) : []),
      ...issues,
      ...cappedIssues(slippage),
      ...slippageIssues(slippage),
    ],
    notes: [
      ...incentiveNote(isPaid(composed.stock) || isPaid(composed.yieldMarket), true),
      ...deploymentNotes(live.deployment),
    ],
  };
}

/** Read the vault and, where a user signs, the wallet at one block. */
async function readDeposit(
  deps: BuilderDeps,
  found: FoundVault,
  user: Address | undefined,
): Promise<LiveVault & { readonly signer: VaultSigner | undefined; readonly held: PositionState | undefined }> {
  const { chain, vault } = found;
  const { morphoBlue } = chain.contracts;
  const { reader } = deps.node(chain.chainId);
  const read = await readPlans(reader, {
    ...planVault(deps, found),
    position: user ? planOne(readOf(morphoBlue, morphoBlueAbi, 'position', [vault.stockMarket.id, user])) : NO_READS,
    signer: planSigner(found, user, payTokenOf(vault.depositToken)),
    owner: user ? planOne(planOwner(user)) : NO_READS,
  });
  if (user) await requireWallet(reader, chain, user, read.owner());
  const deployment = read.deployment();
  requireOpenMarket(vault.yieldMarket, deployment, 'vault');
  const stock = read.stock();
  const row = user && required(read.position());
  const held = row && { collateral: row[2], debt: debtOf(stock, row[1]) };
  return { stock, held, yieldMarket: read.yieldMarket(), deployment, signer: read.signer() };
}

/**
 * Hold a sized deposit against the bounds of a loss and the LTV limit of the yield leg, whose swap gets its minimum.
 * @throws LimitExceededError
 */
function requireDepositBounds(
  { amountIn, slippage, maxSwapLossPct }: DepositOrder,
  { stock, yieldMarket: { price }, deployment: { limits, depositFee } }: LiveVault,
  { swaps, minCollateral, amountFlashLoan }: SizedDeposit,
  amount: string,
): { readonly swaps: DepositSwaps; readonly slippage: EffectiveSlippage } {
  const requested = { field: 'amount', value: amount };
  requireLossWithin({
    swaps: [
      { swap: swaps.stock, outPrice: stock.price },
      { swap: swaps.zap, outPrice: price },
      { swap: swaps.leverage, outPrice: price },
    ],
    fees: collateralValueInLoan(depositFeeOf(swaps.zap.expectedOut, depositFee), price),
    equity: amountIn,
    maxTotalPct: MAX_TOTAL_LOSS_PCT.adding,
    maxSwapLossPct,
    largestPct: LARGEST_LOSS_PCT.adding,
    requested,
  });
  const limit = { collateral: minCollateral, debt: amountFlashLoan, price, maxLtvPct: limits.maxLtvPct };
  const leverage = withinMaxLtv(swaps.leverage, { ...limit, slippage, requested });
  return {
    swaps: { ...swaps, leverage },
    slippage: heldSlippage(slippage, [{ before: swaps.leverage, after: leverage }]),
  };
}
