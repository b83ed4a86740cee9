import type { Market } from '../../catalog/types.ts';
import type { EquityPosition } from '../../domain/equity/position.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import type { HeldPosition, HeldStock, WalletHoldings } from '../../domain/position/types.ts';
import type { ComposedWallet } from '../../domain/position/wallet.ts';
import { type Decimal, formatUnitsPlain } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { requireAgreement, requireManaged } from '../deployment-guards.ts';
import { type BuilderDeps, feedsOf, tokenUsdPrices } from '../deps.ts';
import { LimitExceededError, NotEligibleError } from '../errors.ts';
import { requireFresh } from '../guards.ts';
import { allowedLoss, effectiveSlippage, LARGEST_LOSS_PCT, MAX_SLIPPAGE } from '../input.ts';
import { closingFlows, liquidityNeeds, liquidityOf, requireCovered, SENT_WITHIN_SEC } from '../liquidity.ts';
import { formatAmount } from '../messages.ts';
import { requireLossWithin } from '../quote/bounds.ts';
import { withSharedFloor } from '../quote/floor.ts';
import { MAX_SWAP_LOSS_PCT } from '../quote/loss.ts';
import { planSwap, withMinimum } from '../quote/planned.ts';
import { priceAgeIssues } from '../quote/price-age.ts';
import { heldSlippage, slippageIssues } from '../quote/slippage.ts';
import {
  type DeploymentAnswers,
  deploymentNotes,
  foldDeployment,
  planDeployment,
  requireUnpaused,
} from '../read/deployment.ts';
import { debtOf, foldMarket, type PricedAt, planMarket, pricedAt } from '../read/market-state.ts';
import type { Read } from '../read/reads.ts';
import type { EffectiveSlippage, Issue, PlannedSwap } from '../types.ts';
import type { ExitLegs } from './exit-costs.ts';
import { selectLoops } from './select-loops.ts';
import type { ExitTerms } from './types.ts';
import type { FoundVault } from './vault.ts';

export interface ExitRequest {
  /** Which loops to close; `undefined` = left out. */
  readonly yieldPositionIds?: readonly number[] | undefined;
  readonly slippage?: Decimal | undefined;
  /** What all sales may lose together, percent of the equity. */
  readonly maxSwapLossPct?: Decimal | undefined;
  /** The least that all sales together may give, whole deposit tokens; debts are repaid out of it. */
  readonly minAmountOut?: Decimal | undefined;
  /** Whether the batch may be built untried where no node can try it out. */
  readonly allowUnsimulated?: boolean | undefined;
}

/** A wallet as it was read, and as it is shown. Both are of one block. */
export interface VaultWallet {
  readonly holdings: WalletHoldings;
  readonly composed: ComposedWallet;
}

export interface PlannedExit {
  readonly terms: ExitTerms;
  /** What its costs are made of. */
  readonly legs: ExitLegs;
  readonly notes: readonly string[];
  /** The vault that is left. */
  readonly position: EquityPosition;
  /** Where the debts and the stock's price that the sales are judged by were read. */
  readonly priced: PricedAt;
  readonly slippage: EffectiveSlippage;
  /** What has to be said of the prices that judge it. */
  readonly issues: readonly Issue[];
  /** The answers to the further reads that were asked for. */
  readonly answers: readonly unknown[];
}

/** Selling what is left takes no referral fee. */
const NO_FEE = 0;

/**
 * Decide everything about an exit: which loops are closed, and the swaps that sell their collateral and the stock.
 * @throws NotEligibleError for a wallet without an open vault; AmbiguousYieldLoopsError, BadRequestError for the loops;
 * LimitExceededError for a sale below its debt or beyond the contracts' slippage;
 * InsufficientLiquidityError for a debt that the protocol does not hold when its call comes;
 * StaleDataError, NoRouteError, UpstreamUnavailableError
 */
export async function planExit(
  deps: BuilderDeps,
  { chain, router, vault }: FoundVault,
  request: ExitRequest,
  wallet: VaultWallet,
  further: readonly Read<unknown>[] = [],
): Promise<PlannedExit> {
  const slippage = effectiveSlippage(request.slippage ?? MAX_SLIPPAGE);
  const maxSwapLossPct = allowedLoss(request.maxSwapLossPct, LARGEST_LOSS_PCT.leaving);
  const found = { chain, router, vault };
  const ofVault = [vault.stockMarket, vault.yieldMarket];
  requireAgreement(chain, deps.facts(chain.chainId), ofVault, { addsRisk: false });
  const fresh = (market: Market) => requireFresh(market, deps.facts(chain.chainId), deps.budgets, deps.clock.now());
  // First of all: on old numbers of the stock leg the match of its loops would be a guess.
  fresh(vault.stockMarket);
  const { position, collateral, borrowShares } = requireOpenPosition(found, wallet);
  const loops = selectLoops({
    vault,
    match: {
      match: position.yieldLoopMatch,
      loopIds: position.yieldLoops.map(({ id }) => id),
      candidateIds: position.ambiguousYieldLoopIds ?? [],
    },
    own: loopsOutsideOtherVaults(wallet, position),
    asked: request.yieldPositionIds,
  });
  for (const loop of loops) requireManaged(loop, chain, wallet.holdings.wallet, loop.id);
  if (loops.length > 0) fresh(vault.yieldMarket);
  const { block, answers } = await deps
    .node(chain.chainId)
    .reader.read([
      ...planMarket(chain, vault.stockMarket, feedsOf(deps, vault.stockMarket)),
      ...planMarket(chain, vault.yieldMarket, feedsOf(deps, vault.yieldMarket)),
      ...planDeployment(chain, vault.yieldMarket),
      ...further,
    ]);
  const [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ...rest] = answers;
  const deployment = foldDeployment(vault.yieldMarket, [k, l, m, n, o, p] as DeploymentAnswers);
  // The stock leg alone is left through the router, which does not ask.
  if (loops.length > 0) requireUnpaused(deployment);
  const nowMs = deps.clock.now();
  const stock = foldMarket(vault.stockMarket, [a, b, c, d, e], block, nowMs);
  const yieldMarket = foldMarket(vault.yieldMarket, [f, g, h, i, j], block, nowMs);
  const stockDebt = debtOf(stock, borrowShares);
  // Debts grow until the batch is sent, and what a call repays grows with them: both ends of that time are held.
  const needsAt = (aheadSec: bigint) =>
    liquidityNeeds(
      [
        ...loops.map((loop) => closingFlows(vault.yieldMarket, debtOf(yieldMarket, loop.borrowShares, aheadSec))),
        closingFlows(vault.stockMarket, debtOf(stock, borrowShares, aheadSec)),
      ],
      [liquidityOf(vault.stockMarket, stock), liquidityOf(vault.yieldMarket, yieldMarket)],
    );
  requireCovered([...needsAt(SENT_WITHIN_SEC), ...needsAt(0n)]);
  const sell = async (
    token: PlannedSwap['tokenIn'],
    amount: bigint,
    price: bigint,
    holder: Address,
  ): Promise<PlannedSwap> => {
    const quote = await deps.quoter.quote({
      chain,
      tokenIn: token.address,
      tokenOut: vault.depositToken.address,
      amountIn: amount,
      sender: holder,
      recipient: holder,
      slippage: slippage.value,
      feeBps: NO_FEE,
    });
    return planSwap({
      tokenIn: token,
      tokenOut: vault.depositToken,
      quote,
      reference: collateralValueInLoan(amount, price),
      slippage: slippage.value,
      maxSwapLossPct,
      capped: deps.quoter.capped,
    });
  };
  const asked = await Promise.all([
    sell(vault.stock, collateral, stock.price, router),
    ...loops.map((loop) =>
      sell(vault.yieldMarket.collateral, loop.collateral, yieldMarket.price, chain.contracts.flashLeverage),
    ),
  ]);
  const [stockSwap = asked[0], ...loopSwaps] = withSharedFloor(asked, request.minAmountOut) as typeof asked;
  const exits = loopSwaps.flatMap((swap, i) => {
    const loop = loops[i];
    if (!loop) return [];
    const debt = debtOf(yieldMarket, loop.borrowShares);
    const requested = { field: 'yieldPositionIds', value: String(loop.id) };
    const equity = collateralValueInLoan(loop.collateral, yieldMarket.price) - debt;
    const { proxy, depositedAssets: basis } = loop;
    const debtLater = debtOf(yieldMarket, loop.borrowShares, SENT_WITHIN_SEC);
    const sold = coveringDebt(swap, debt, requested);
    return [{ positionId: loop.id, proxy, debt, debtLater, basis, swap: sold, equity, requested }];
  });
  const requested = { field: 'strategyId', value: vault.id };
  const stockSold = coveringDebt(stockSwap, stockDebt, requested);
  const stockEquity = collateralValueInLoan(collateral, stock.price) - stockDebt;
  const equity = exits.reduce((sum, exit) => sum + exit.equity, stockEquity);
  const isOver = ({ swap }: { readonly swap: PlannedSwap }) => swap.lossPct?.gt(MAX_SWAP_LOSS_PCT) ?? false;
  requireLossWithin({
    swaps: [...exits, { swap: stockSold }].map(({ swap }) => ({ swap })),
    equity,
    boundsTotal: false,
    maxSwapLossPct,
    largestPct: LARGEST_LOSS_PCT.leaving,
    requested: exits.find(isOver)?.requested ?? requested,
  });
  const held = heldSlippage(slippage, [
    ...exits.map(({ swap }, i) => ({ before: asked[i + 1] ?? swap, after: swap })),
    { before: asked[0], after: stockSold },
  ]);
  const limited = heldSlippage(slippage, [
    ...exits.map(({ swap }, i) => ({ before: loopSwaps[i] ?? swap, after: swap })),
    { before: stockSwap, after: stockSold },
  ]);
  const legs: ExitLegs = {
    vault,
    loops: exits,
    stock: { swap: stockSold, debt: stockDebt, debtLater: debtOf(stock, borrowShares, SENT_WITHIN_SEC) },
    equity,
    yieldFee: deployment.yieldFee,
    usdOf: tokenUsdPrices(deps, chain),
  };
  return {
    legs,
    notes: loops.length > 0 ? deploymentNotes(deployment) : [],
    terms: {
      vault,
      router,
      loops: exits.map(({ positionId, proxy, swap }) => ({ positionId, proxy, swap })),
      stockSwap: stockSold,
      slippage: held.value,
    },
    position,
    priced: pricedAt(stock),
    issues: [
      ...slippageIssues(limited),
      ...priceAgeIssues(deps, chain, vault.stockMarket, stock),
      ...(loops.length > 0 ? priceAgeIssues(deps, chain, vault.yieldMarket, yieldMarket) : []),
    ],
    slippage: held,
    answers: rest,
  };
}

/**
 * Let a sale inside a flash loan give at least the debt that it repays: the contracts revert below it.
 * @throws LimitExceededError with both numbers when not even the quote does
 */
function coveringDebt(
  swap: PlannedSwap,
  debt: bigint,
  requested: { readonly field: string; readonly value: string },
): PlannedSwap {
  const { quote, tokenIn, tokenOut } = swap;
  if (quote.amountOut >= debt) return withMinimum(swap, debt);
  throw new LimitExceededError(
    `Selling all ${tokenIn.symbol} of ${requested.field} ${requested.value} would give ${formatAmount(quote.amountOut, tokenOut)}, less than its debt of ${formatAmount(debt, tokenOut)}. Repay some debt first.`,
    {
      ...requested,
      limit: {
        proceeds: formatUnitsPlain(quote.amountOut, tokenOut.decimals),
        debt: formatUnitsPlain(debt, tokenOut.decimals),
      },
    },
  );
}

/** Find the wallet's open vault and its stock in base units. @throws NotEligibleError when there is none */
function requireOpenPosition(
  { vault, chain }: FoundVault,
  { composed, holdings }: VaultWallet,
): { readonly position: EquityPosition } & Pick<HeldStock, 'collateral' | 'borrowShares'> {
  const position = composed.equityPositions.find(({ strategyId }) => strategyId === vault.id);
  const held = holdings.stocks.find(({ marketId }) => marketId === vault.stockMarket.id);
  if (position && held && held.collateral > 0n)
    return { position, collateral: held.collateral, borrowShares: held.borrowShares };
  throw new NotEligibleError(
    `${holdings.wallet} has nothing in the vault ${vault.id}: no ${vault.stock.symbol} stands on its stock market. See /v1/partner/positions/${holdings.wallet}?chainId=${chain.chainId} for what it has.`,
    { reason: 'nothing_to_do', pointer: `/v1/partner/positions/${holdings.wallet}?chainId=${chain.chainId}` },
  );
}

/** What the wallet holds, without the loops that are known to be another vault's. */
function loopsOutsideOtherVaults(
  { holdings, composed }: VaultWallet,
  position: EquityPosition,
): readonly HeldPosition[] {
  const own = new Set([...composed.positions, ...position.yieldLoops].map(({ id }) => id));
  return holdings.positions.filter(({ id }) => own.has(id));
}
