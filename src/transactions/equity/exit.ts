import type { EquityVault, Market } from '../../catalog/types.ts';
import type { EquityPosition } from '../../domain/equity/position.ts';
import { limitsOf } from '../../domain/market/statics.ts';
import type { HeldPosition, HeldStock, WalletHoldings } from '../../domain/position/types.ts';
import type { ComposedWallet } from '../../domain/position/wallet.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { namedError } from '../../shared/errors.ts';
import { requireAgreement, requireManaged } from '../deployment-guards.ts';
import { type BuilderDeps, loanUsd, tokenUsdPrices } from '../deps.ts';
import { LimitExceededError, NotEligibleError } from '../errors.ts';
import { requireFresh } from '../guards.ts';
import { allowedLoss, effectiveSlippage, LARGEST_LOSS_PCT, MAX_SLIPPAGE } from '../input.ts';
import { closingFlows, liquidityNeeds, liquidityOf, requireCovered, SENT_WITHIN_SEC } from '../liquidity.ts';
import { exceedsItsBound, highCostIssues, leavingBounds, requireLossWithin } from '../quote/bounds.ts';
import { priceAgeIssues } from '../quote/price-age.ts';
import { slippageIssues } from '../quote/slippage.ts';
import { deploymentNotes, requireUnpaused } from '../read/deployment.ts';
import { debtOf, type LiveMarket, type PricedAt, pricedAt } from '../read/market-state.ts';
import { readPlans, required } from '../read/reads.ts';
import type { EffectiveSlippage, Issue } from '../types.ts';
import type { ExitLegs } from './exit-costs.ts';
import { legOf, type SoldLeg, type SoldLoop, sellLegs } from './exit-sales.ts';
import { planSigner, planVault, type VaultSigner } from './read.ts';
import { type LoopChoice, leftLoopIssues, selectLoops, sunkLoopIssues } from './select-loops.ts';
import type { ExitTerms } from './types.ts';
import type { FoundVault } from './vault.ts';

export interface ExitRequest {
  /** Which loops to close; `undefined` = left out. */
  readonly yieldPositionIds?: readonly number[] | undefined;
  readonly slippage?: Decimal | undefined;
  /** The most that all sales may lose together, percent of the equity. */
  readonly maxSwapLossPct?: Decimal | undefined;
  /** The least that all sales together may give, whole deposit tokens; debts are repaid out of it. */
  readonly minAmountOut?: Decimal | undefined;
  /** Whether the batch may be built where no node can simulate it. */
  readonly allowUnsimulated?: boolean | undefined;
}

/** A wallet as it was read, and as it is shown. Both are of one block. */
export interface VaultWallet {
  readonly holdings: WalletHoldings;
  readonly composed: ComposedWallet;
}

export interface PlannedExit {
  readonly terms: ExitTerms;
  readonly legs: ExitLegs;
  readonly signer: VaultSigner;
  /** Assumptions behind its numbers, in sentences. */
  readonly notes: readonly string[];
  /** The vault that is left. */
  readonly position: EquityPosition;
  /** Where the debts and the stock's price that the sales are judged by were read. */
  readonly priced: PricedAt;
  readonly slippage: EffectiveSlippage;
  /** Doubts about the prices that judge it. */
  readonly issues: readonly Issue[];
}

/**
 * Decide everything about an exit: which loops are closed, and the swaps that sell their collateral and the stock.
 * @throws NotEligibleError for a wallet without an open vault; AmbiguousYieldLoopsError, BadRequestError for the loops;
 * LimitExceededError for a sale below its debt or beyond the contracts' slippage;
 * InsufficientLiquidityError for a debt that the protocol does not hold when its call comes;
 * StaleDataError, NoRouteError, UpstreamUnavailableError
 */
export async function planExit(
  deps: BuilderDeps,
  found: FoundVault,
  request: ExitRequest,
  wallet: VaultWallet,
): Promise<PlannedExit> {
  const { chain, router, vault } = found;
  const user = wallet.holdings.wallet;
  const slippage = effectiveSlippage(request.slippage ?? MAX_SLIPPAGE);
  const maxSwapLossPct = allowedLoss(request.maxSwapLossPct, LARGEST_LOSS_PCT.leaving);
  const { position, held, loops: selected, left } = selectedLegs(deps, found, request, wallet);
  const read = await readPlans(deps.node(chain.chainId).reader, {
    ...planVault(deps, found),
    signer: planSigner(found, user),
  });
  const deployment = read.deployment();
  const live = { stock: read.stock(), yieldMarket: read.yieldMarket() };
  // No sale can close a loop under water, and its debt is not owed beyond its collateral. A named one is refused by its sale.
  const [sunk, loops] = request.yieldPositionIds === undefined ? partedBy(selected, isUnderWater) : [[], selected];
  // The stock leg alone is left through the router, which does not ask FlashLeverage.
  if (loops.length > 0) requireUnpaused(deployment);
  requireExitLiquidity(vault, live, held, loops);
  const legs = { stock: legOf(live.stock, vault.stockMarket, held), loops: loops.map(loopLeg) };
  const { eachPct, totalPct } = leavingBounds([
    ...legs.loops.map((loop) => ({ ...loop, maxLtvPct: deployment.limits.maxLtvPct })),
    { ...legs.stock, maxLtvPct: limitsOf(vault.stockMarket).maxLtvPct },
  ]);
  const sold = await sellLegs(deps, { ...found, slippage, maxSwapLossPct }, legs, eachPct, request.minAmountOut);
  const sales = [...sold.loops, sold.stock];
  const equity = sales.reduce((sum, leg) => sum + leg.value - leg.debt, 0n);
  const swaps = sales.map(({ swap }, i) => ({ swap, maxLossPct: eachPct[i] }));
  const usdOf = tokenUsdPrices(deps, chain);
  const costUsdOf = loanUsd(usdOf, vault.depositToken);
  const over = maxSwapLossPct ? undefined : sales.find((_sale, i) => swaps[i] && exceedsItsBound(swaps[i]));
  try {
    requireLossWithin({
      swaps,
      equity,
      maxTotalPct: totalPct,
      maxSwapLossPct,
      largestPct: LARGEST_LOSS_PCT.leaving,
      requested: (over ?? sold.stock).requested,
      usdOf: costUsdOf,
    });
  } catch (error) {
    throw error instanceof LimitExceededError && over ? withLegs(error, sold.loops, over) : error;
  }
  return {
    signer: required(read.signer()),
    legs: { vault, ...sold, equity, yieldFee: deployment.yieldFee, usdOf },
    notes: loops.length > 0 ? deploymentNotes(deployment) : [],
    terms: {
      vault,
      router,
      loops: sold.loops.map(({ id, proxy, swap }) => ({ positionId: id, proxy, swap })),
      stockSwap: sold.stock.swap,
      slippage: sold.slippage.value,
    },
    position,
    priced: pricedAt(live.stock),
    issues: [
      ...left,
      ...sunkLoopIssues(sunk),
      ...slippageIssues(sold.limited),
      ...highCostIssues(swaps, equity, costUsdOf),
      ...priceAgeIssues(deps, chain, vault.stockMarket, live.stock),
      ...(loops.length > 0 ? priceAgeIssues(deps, chain, vault.yieldMarket, live.yieldMarket) : []),
    ],
    slippage: sold.slippage,
  };

  function isUnderWater(loop: HeldPosition): boolean {
    const { value, debt } = legOf(live.yieldMarket, vault.yieldMarket, loop);
    return value < debt;
  }

  function loopLeg({ id, proxy, depositedAssets: basis, ...loop }: HeldPosition) {
    return { ...legOf(live.yieldMarket, vault.yieldMarket, loop), id, proxy, basis };
  }
}

/** Say what happens to the other legs where the sale of one is refused: they are of one batch. */
function withLegs(refused: LimitExceededError, loops: readonly SoldLoop[], over: SoldLeg): LimitExceededError {
  const { details, message } = refused;
  const others = loops.filter((loop) => loop !== over).map(({ id }) => id);
  const isLoop = others.length < loops.length;
  if (!details || !isLoop || others.length === 0) return refused;
  return namedError(
    ({ input }) =>
      new LimitExceededError(
        `${message} Or leave that loop open: nothing of the vault is sold without it unless ${input('yieldPositionIds')} names the others, ${others.join(', ')}.`,
        details,
      ),
  );
}

/** The items for which `is` holds, and the others. */
function partedBy<T>(items: readonly T[], is: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(is), items.filter((item) => !is(item))];
}

/** The position that is left, its stock, the loops that are closed with it, and the issue about others. @throws as `planExit` */
function selectedLegs(deps: BuilderDeps, found: FoundVault, request: ExitRequest, wallet: VaultWallet) {
  const { chain, vault } = found;
  const facts = deps.facts(chain.chainId);
  const fresh = (market: Market) => requireFresh(market, facts, deps.budgets, deps.clock.now());
  requireAgreement(chain, facts, [vault.stockMarket, vault.yieldMarket], { addsRisk: false });
  // First of all: on old numbers of the stock leg the match of its loops would be a guess.
  fresh(vault.stockMarket);
  const { position, held } = requireOpenPosition(found, wallet);
  const choice: LoopChoice = {
    vault,
    match: {
      match: position.yieldLoopMatch,
      loopIds: position.yieldLoops.map(({ id }) => id),
      candidateIds: position.ambiguousYieldLoopIds ?? [],
    },
    own: openLoopsOutsideOtherVaults(wallet, position),
    requested: request.yieldPositionIds,
  };
  const loops = selectLoops(choice);
  for (const loop of loops) requireManaged(loop, chain, wallet.holdings.wallet, loop.id);
  if (loops.length > 0) fresh(vault.yieldMarket);
  return { position, held, loops, left: leftLoopIssues(choice) };
}

/**
 * Require that the protocol holds every debt when its call repays it. Debts grow until the batch is sent, and repayments with
 * them: the needs at both ends of that time are covered. @throws InsufficientLiquidityError
 */
function requireExitLiquidity(
  { stockMarket, yieldMarket }: EquityVault,
  live: Record<'stock' | 'yieldMarket', LiveMarket>,
  held: Pick<HeldStock, 'borrowShares'>,
  loops: readonly HeldPosition[],
): void {
  const needsAt = (aheadSec: bigint) =>
    liquidityNeeds(
      [
        ...loops.map((loop) => closingFlows(yieldMarket, debtOf(live.yieldMarket, loop.borrowShares, aheadSec))),
        closingFlows(stockMarket, debtOf(live.stock, held.borrowShares, aheadSec)),
      ],
      [liquidityOf(stockMarket, live.stock), liquidityOf(yieldMarket, live.yieldMarket)],
    );
  requireCovered([...needsAt(SENT_WITHIN_SEC), ...needsAt(0n)]);
}

/** Find the wallet's open vault and its stock in base units. @throws NotEligibleError when there is none */
function requireOpenPosition(
  { vault, chain }: FoundVault,
  { composed, holdings }: VaultWallet,
): { readonly position: EquityPosition; readonly held: HeldStock } {
  const position = composed.equityPositions.find(({ strategyId }) => strategyId === vault.id);
  const held = holdings.stocks.find(({ marketId }) => marketId === vault.stockMarket.id);
  if (position && held && held.collateral > 0n) return { position, held };
  throw namedError(({ places }) => {
    const pointer = places.positions(holdings.wallet, chain.chainId);
    return new NotEligibleError(
      `${holdings.wallet} has no position in the vault ${vault.id}: its stock market has no debt of it, and no ${vault.stock.symbol} of it worth 0.01 USD. See ${pointer} for its positions.`,
      { reason: 'nothing_to_do', pointer },
    );
  });
}

/**
 * The wallet's open positions, without the loops of other vaults. A liquidated one with dust, which anybody may supply for it, is
 * not open: nothing of it can be sold, and that would hold up the exit.
 */
function openLoopsOutsideOtherVaults(
  { holdings, composed }: VaultWallet,
  position: EquityPosition,
): readonly HeldPosition[] {
  const listed = [...composed.positions, ...position.yieldLoops];
  const own = new Set(listed.flatMap(({ id, open }) => (open ? [id] : [])));
  return holdings.positions.filter(({ id }) => own.has(id));
}
