import type { EquityVault, Market } from '../../catalog/types.ts';
import type { EquityPosition } from '../../domain/equity/position.ts';
import { limitsOf } from '../../domain/market/statics.ts';
import type { HeldPosition, HeldStock, WalletHoldings } from '../../domain/position/types.ts';
import type { ComposedWallet } from '../../domain/position/wallet.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { NAMES } from '../../shared/names.ts';
import { requireAgreement, requireManaged } from '../deployment-guards.ts';
import { type BuilderDeps, loanUsd, tokenUsdPrices } from '../deps.ts';
import { NotEligibleError } from '../errors.ts';
import { requireFresh } from '../guards.ts';
import { allowedLoss, effectiveSlippage, LARGEST_LOSS_PCT, MAX_SLIPPAGE } from '../input.ts';
import { closingFlows, liquidityNeeds, liquidityOf, requireCovered, SENT_WITHIN_SEC } from '../liquidity.ts';
import { type ExactAmount, type Held, immuneAmount } from '../manage/part.ts';
import { exactNote } from '../messages.ts';
import { priceAgeIssues } from '../quote/price-age.ts';
import { leavingBounds } from '../quote/refuse-costly-swaps.ts';
import { cappedIssues, slippageIssues } from '../quote/slippage.ts';
import { deploymentNotes, requireUnpaused } from '../read/deployment.ts';
import { debtOf, type LiveMarket, type PricedAt, pricedAt } from '../read/market-state.ts';
import { readPlans, required } from '../read/reads.ts';
import { type StoredPosition, withAddedUnits } from '../simulate/added-collateral.ts';
import type { Overrides } from '../simulate/steps.ts';
import type { EffectiveSlippage, Issue } from '../types.ts';
import { underWaterOf } from '../under-water.ts';
import { requireExitWithin } from './exit-bounds.ts';
import type { ExitLegs } from './exit-costs.ts';
import { legOf, sellLegs } from './exit-sales.ts';
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
  /** Whether it names the amounts that were read, so that collateral that is added meanwhile cannot make it revert. */
  readonly exact?: boolean | undefined;
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
  /** Of the stock's oracle. */
  readonly stockPrice: bigint;
  readonly slippage: EffectiveSlippage;
  /** Doubts about the prices that judge it. */
  readonly issues: readonly Issue[];
  /** State of the simulation; absent = that of the block. */
  readonly overrides?: Overrides | undefined;
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
  const exact =
    request.exact === true ? new Map(loops.map((loop) => [loop.id, immuneAmount(heldLoop(loop))])) : undefined;
  const legs = { stock: legOf(live.stock, vault.stockMarket, held), loops: loops.map(loopLeg) };
  const { eachPct, totalPct } = leavingBounds([
    ...legs.loops.map((loop) => ({ ...loop, maxLtvPct: deployment.limits.maxLtvPct })),
    { ...legs.stock, maxLtvPct: limitsOf(vault.stockMarket).maxLtvPct },
  ]);
  const sold = await sellLegs(deps, { ...found, slippage, maxSwapLossPct }, legs, eachPct, request.minAmountOut);
  const usdOf = tokenUsdPrices(deps, chain);
  const { equity, issues: costIssues } = requireExitWithin({
    sold,
    bounds: { eachPct, totalPct },
    maxSwapLossPct,
    usdOf: loanUsd(usdOf, vault.depositToken),
  });
  return {
    signer: required(read.signer()),
    legs: { vault, ...sold, equity, yieldFee: deployment.yieldFee, usdOf },
    notes: [
      ...(loops.length > 0 ? deploymentNotes(deployment) : []),
      ...(exact ? [exactNote(loops.every(({ id }) => exact.get(id)?.isImmune))] : []),
    ],
    overrides: exact && withAddedUnits(chain, added(exact)),
    terms: {
      vault,
      router,
      loops: sold.loops.map(({ id, proxy, swap }) => ({
        positionId: id,
        proxy,
        swap,
        amount: exact?.get(id)?.amount,
      })),
      stockSwap: sold.stock.swap,
      slippage: sold.slippage.value,
    },
    position,
    priced: pricedAt(live.stock),
    stockPrice: live.stock.price,
    issues: [
      ...left,
      ...sunkLoopIssues(sunk),
      ...cappedIssues(slippage),
      ...slippageIssues(sold.limited),
      ...costIssues,
      ...priceAgeIssues(deps, chain, vault.stockMarket, live.stock),
      ...(loops.length > 0 ? priceAgeIssues(deps, chain, vault.yieldMarket, live.yieldMarket) : []),
    ],
    slippage: sold.slippage,
  };

  function isUnderWater(loop: HeldPosition): boolean {
    const position = { ...loop, debt: debtOf(live.yieldMarket, loop.borrowShares) };
    return underWaterOf({ position, live: live.yieldMarket }) !== undefined;
  }

  function loopLeg({ id, proxy, depositedAssets: basis, ...loop }: HeldPosition) {
    const collateral = exact?.get(id)?.amount ?? loop.collateral;
    return { ...legOf(live.yieldMarket, vault.yieldMarket, { ...loop, collateral }), id, proxy, basis };
  }

  function heldLoop({ collateral, borrowShares }: HeldPosition): Held {
    const debt = debtOf(live.yieldMarket, borrowShares);
    return { market: vault.yieldMarket, live: live.yieldMarket, position: { collateral, borrowShares, debt } };
  }

  /** The positions to which the simulation adds a unit: the stock leg is immune, and so is every loop that can leave one behind. */
  function added(amounts: ReadonlyMap<number, ExactAmount>): readonly StoredPosition[] {
    return [
      { market: vault.stockMarket, holder: user, ...held },
      ...loops
        .filter(({ id }) => amounts.get(id)?.isImmune)
        .map(({ proxy, ...loop }) => ({ market: vault.yieldMarket, holder: proxy, ...loop })),
    ];
  }
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
  const pointer = NAMES.places.positions(holdings.wallet, chain.chainId);
  throw new NotEligibleError(
    `${holdings.wallet} has no position in the vault ${vault.id}: its stock market has no debt of it, and no ${vault.stock.symbol} of it worth 0.01 USD. See ${pointer} for its positions.`,
    { reason: 'nothing_to_do', pointer },
  );
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
