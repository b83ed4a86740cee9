import type { EquityVault } from '../../catalog/types.ts';
import { Decimal, formatPct, HUNDRED, ZERO } from '../../shared/decimal.ts';
import type { WindowMeans } from '../apy/series.ts';
import { formatMeans, meanOver, meansOf } from '../apy/series.ts';
import { earliestStale } from '../freshness/stamp.ts';
import type { Gap } from '../freshness/types.ts';
import { LEVERAGE_PLACES, leverageApyPctAtLtv } from '../leverage/leveraged-apy.ts';
import { stockLtvCapPct } from '../leverage/limits.ts';
import type { ComposedMarket } from '../market/types.ts';
import { exitTierPart, gapsOfStrategy, type StrategyParams, withWarnings } from '../strategy/compose.ts';
import { anyLacksRoute, formatNoRoute, lacksRoute } from '../strategy/exit.ts';
import { addMarketFields, linksOf, type StrategyDraft, wadPct } from '../strategy/parts.ts';
import { staticsOf } from '../strategy/statics.ts';
import type { LadderEntry, Strategy } from '../strategy/types.ts';
import { visibilityOf } from '../strategy/visibility.ts';

/** Compute the leveraged APY of a vault's yield leg in percent: that of its yield market at the market's safe LTV. */
function yieldLegApyPct(yieldMarket: ComposedMarket): Decimal {
  return leverageApyPctAtLtv(
    yieldMarket.effectiveCollateralApyPct,
    yieldMarket.netBorrowApyPct,
    yieldMarket.safeLtvPct,
  );
}

/**
 * Compute a vault's net APY in percent at a stock-leg LTV in percent: `ltv * (yieldLegApy − stockNetBorrowApy)`. The net
 * borrow APY is the borrow APY minus the borrower incentives of the stock market.
 */
export function equityNetApyPct(stockLtvPct: Decimal, yieldLegApy: Decimal, stockNetBorrowApy: Decimal): Decimal {
  return stockLtvPct.times(yieldLegApy.minus(stockNetBorrowApy)).shiftedBy(-2);
}

/** Compute the stock price at which the stock leg can be liquidated: `price * ltv / liquidationLtv`, LTVs in percent. */
export function stockLiquidationPrice(price: Decimal, stockLtvPct: Decimal, liquidationLtvPct: Decimal): Decimal {
  return price.times(stockLtvPct).div(liquidationLtvPct);
}

/**
 * Compose the strategy of an equity vault from its stock and yield markets. `Strategy` documents how a vault's numbers map to
 * the shape of a strategy. The ladder has the rungs LTV 0, target and cap; a target above the cap counts as the cap.
 */
export function composeEquityStrategy(
  vault: EquityVault,
  stock: ComposedMarket,
  yieldMarket: ComposedMarket,
  params: StrategyParams,
): Strategy {
  const statics = staticsOf(stock);
  const capPct = stockLtvCapPct(stock.liquidationLtvPct);
  const targetPct = Decimal.min(vault.targetLtvPct, capPct);
  const legApy = yieldLegApyPct(yieldMarket);
  const entryAt = (ltvPct: Decimal) => entry(ltvPct, legApy, stock.netBorrowApyPct);
  const target = entryAt(targetPct);
  const cap = entryAt(capPct);
  const gaps: Gap[] = [...vaultGaps(statics.gaps, stock, yieldMarket)];
  const links = linksOf(vault.id, vault.stockMarket, params.links, gaps);
  const tier = exitTierPart(stock, gaps);
  const legAverages = yieldMarket.history.carry?.leverageApyPct;
  const noRoute = anyLacksRoute(
    lacksRoute(vault.stock, stock.facts.exitLiquidity?.value),
    lacksRoute(vault.yieldMarket.collateral, yieldMarket.facts.exitLiquidity?.value),
  );
  const unmeasured = [...stock.gaps, ...yieldMarket.gaps].find(({ field }) => field === 'exitLiquidity');
  const noSwapRoute = formatNoRoute('noSwapRoute', noRoute, unmeasured, gaps);
  const { rules } = params;
  const deployed = [rules.of(vault.yieldMarket), rules.matching(vault.stockMarket, vault.yieldMarket), rules.equity];
  gaps.push(...deployed.flatMap((part) => part.gaps));
  const strategy: StrategyDraft = {
    id: vault.id,
    chainId: vault.chainId,
    marketId: vault.stockMarket.id,
    kind: 'equity',
    correlated: false,
    curator: vault.curator,
    collateral: statics.collateral,
    loan: statics.loan,
    collateralApyPct: formatPct(legApy),
    collateralApySource: yieldMarket.collateralApySource,
    totalCollateralApyPct: formatPct(legApy),
    borrowApyPct: formatPct(stock.borrowApyPct),
    netBorrowApyPct: formatPct(stock.netBorrowApyPct),
    maxLeverage: cap.leverage,
    utilizationPct: wadPct(stock.utilization),
    leverageLadder: targetPct.gt(ZERO) && targetPct.lt(capPct) ? [entryAt(ZERO), target, cap] : [entryAt(ZERO), cap],
    defaultLeverage: target,
    ltvPct: { liquidation: statics.ltvPct.liquidation, max: formatPct(capPct), safe: formatPct(capPct) },
    noSwapRoute,
    freshness: {
      borrow: stock.stamps.borrow,
      collateralApy: earliestStale(yieldMarket.stamps.collateralApy, yieldMarket.stamps.borrow),
      exitLiquidity: stock.stamps.exitLiquidity,
      oracle: stock.stamps.oracle,
    },
    inputFreshness: vaultInputs(stock.stamps, yieldMarket.stamps),
    fees: yieldMarket.fees.formatted,
    equityVault: {
      yieldStrategyId: vault.yieldMarket.id as string as Strategy['id'],
      targetLtvPct: formatPct(targetPct),
      maxStockLtvPct: formatPct(capPct),
      yieldLegApyPct: formatPct(legApy),
    },
    visibility: visibilityOf(
      {
        market: stock,
        yieldsPct: [legApy],
        needsYield: false,
        lacksRoute: noRoute,
        maturing: vault.yieldMarket.collateral,
        nowMs: params.nowMs,
        deployment: deployed.flatMap(({ checks }) => checks),
      },
      params.listing,
    ),
    gaps,
  };
  addMarketFields(strategy, stock);
  const stockBorrow = stock.history.carry?.netBorrowApyPct;
  const sustained = legAverages && formatMeans(legAverages);
  const historical = formatMeans(historicalNetApyPct(targetPct, legAverages, stockBorrow));
  if (sustained) strategy.yieldSustainabilityPct = sustained;
  if (historical) strategy.historicalLeverageApyPct = historical;
  const hints = withWarnings(tier, [...stock.warnings, ...yieldMarket.warnings]);
  if (hints) strategy.spiralHints = hints;
  if (links) strategy.links = links;
  if (yieldMarket.deployment) strategy.deployment = yieldMarket.deployment;
  return strategy;
}

/** A vault's prices are those of its stock market. Its incentives are those of both markets. */
function vaultInputs(stock: ComposedMarket['stamps'], leg: ComposedMarket['stamps']): Strategy['inputFreshness'] {
  return {
    prices: stock.prices,
    incentives: stock.incentives && leg.incentives ? earliestStale(stock.incentives, leg.incentives) : undefined,
  };
}

function entry(stockLtvPct: Decimal, legApy: Decimal, stockBorrowApy: Decimal): LadderEntry {
  return {
    leverage: HUNDRED.plus(stockLtvPct).shiftedBy(-2).toFixed(LEVERAGE_PLACES),
    ltvPct: formatPct(stockLtvPct, 1),
    leverageApyPct: formatPct(equityNetApyPct(stockLtvPct, legApy, stockBorrowApy)),
  };
}

function historicalNetApyPct(
  targetPct: Decimal,
  legApy: WindowMeans | undefined,
  stockBorrowApy: WindowMeans | undefined,
): WindowMeans {
  return meansOf((days) => {
    const [earned, paid] = [legApy && meanOver(legApy, days), stockBorrowApy && meanOver(stockBorrowApy, days)];
    return earned && paid ? equityNetApyPct(targetPct, earned, paid) : undefined;
  });
}

const YIELD_LEG_FIELDS = ['means.leverageApy'];
/** Fields of either market whose gap also applies to the net APY, because incentives are part of it. */
const ASSUMED_LEG_FIELDS = ['effectiveCollateralApyPct', 'ltvLimits.safePct'];
const INPUT_FIELDS = ['freshness.incentives', 'effectiveCollateralApyPct'];
/** The contract with the buffer and the fees holds the yield leg only, so these fields of the stock market do not apply. */
const REPLACED_FIELDS = ['means.collateralApy', 'curator', 'ltvLimits', 'fees', 'deployment'];

/**
 * The stock market's gaps apply to the vault, except those on fields that come from the yield leg: the yield leg's trailing
 * averages appear in both `yieldLegApyMeans` and `historicalLeverageApyPct`.
 */
function vaultGaps(staticGaps: readonly Gap[], stock: ComposedMarket, yieldMarket: ComposedMarket): readonly Gap[] {
  const own = [...staticGaps, ...stock.gaps].filter(({ field }) => !isIn(field, REPLACED_FIELDS));
  for (const missing of yieldMarket.gaps) {
    if (INPUT_FIELDS.includes(missing.field) && !own.some(({ field }) => field === missing.field)) own.push(missing);
  }
  own.push(...yieldMarket.gaps.filter(({ field }) => isIn(field, ['fees'])));
  const leg = yieldMarket.gaps.filter(({ field }) => isIn(field, YIELD_LEG_FIELDS)).flatMap(gapsOfStrategy);
  // The leg's APY is its market's APY with incentives at the safe LTV. The same number appears in both fields.
  const assumed = yieldMarket.gaps.find(({ field }) => ASSUMED_LEG_FIELDS.includes(field));
  if (assumed) own.push({ ...assumed, field: 'yieldLegApyPct' });
  const ofVault = own.flatMap(gapsOfStrategy);
  const known = new Set(ofVault.map(({ field }) => field));
  return [
    // The stock market's own incentives are no part of the APY of the yield leg.
    ...ofVault.filter(({ field }) => field !== 'totalCollateralApyPct'),
    ...(assumed ? [{ ...assumed, field: 'totalCollateralApyPct' }] : []),
    ...leg.filter(({ field }) => !known.has(field)),
    ...leg.map((missing) => ({
      ...missing,
      field: missing.field.replace('historicalLeverageApyPct', 'yieldLegApyMeans'),
    })),
  ];
}

/** Whether a field is one of these, or below one. */
function isIn(field: string, fields: readonly string[]): boolean {
  return fields.some((of) => field === of || field.startsWith(`${of}.`));
}
