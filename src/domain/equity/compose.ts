import type { EquityVault } from '../../catalog/types.ts';
import { Decimal, formatPct, HUNDRED, ZERO } from '../../shared/decimal.ts';
import type { WindowMeans } from '../apy/series.ts';
import { meanOver, meansOf } from '../apy/series.ts';
import { gap } from '../freshness/gaps.ts';
import { earliestStale } from '../freshness/stamp.ts';
import type { Gap } from '../freshness/types.ts';
import { LEVERAGE_PLACES, leverageApyPctAtLtv } from '../leverage/leverage.ts';
import { stockLtvCapPct } from '../leverage/limits.ts';
import type { ComposedMarket } from '../market/types.ts';
import { exitTierPart, type StrategyParams } from '../strategy/compose.ts';
import { exitLiquidityOf, foundNoRoute } from '../strategy/exit.ts';
import {
  addAverages,
  addMarketFields,
  linksOf,
  pricedCollateral,
  pricedLoan,
  type StrategyDraft,
  wadPct,
} from '../strategy/parts.ts';
import { loanToken, staticsOf } from '../strategy/statics.ts';
import type { LadderEntry, Strategy } from '../strategy/types.ts';
import { visibilityOf } from '../strategy/visibility.ts';

/** Compute the leveraged APY in percent of a vault's yield leg: its yield market at that market's safe LTV. */
export function yieldLegApyPct(yieldMarket: ComposedMarket): Decimal {
  return leverageApyPctAtLtv(
    yieldMarket.effectiveCollateralApyPct,
    yieldMarket.netBorrowApyPct,
    yieldMarket.safeLtvPct,
  );
}

/** Compute a vault's net APY in percent at a stock-leg LTV in percent: `ltv * (yieldLegApy − stockBorrowApy)`. */
export function equityNetApyPct(stockLtvPct: Decimal, yieldLegApy: Decimal, stockBorrowApy: Decimal): Decimal {
  return stockLtvPct.times(yieldLegApy.minus(stockBorrowApy)).shiftedBy(-2);
}

/** Compute the stock price at which the stock leg can be liquidated: `price * ltv / liquidationLtv`, LTVs in percent. */
export function stockLiquidationPrice(price: Decimal, stockLtvPct: Decimal, liquidationLtvPct: Decimal): Decimal {
  return price.times(stockLtvPct).div(liquidationLtvPct);
}

/**
 * Compose the strategy of an equity vault from its stock and yield markets. How its numbers stand in the shape of a
 * strategy is told at `Strategy`. The ladder has the rungs LTV 0, target and cap; a target above the cap counts as the cap.
 */
export function composeEquityStrategy(
  vault: EquityVault,
  stock: ComposedMarket,
  yieldMarket: ComposedMarket,
  params: StrategyParams,
): Strategy {
  const statics = staticsOf(vault.stockMarket);
  const capPct = stockLtvCapPct(stock.liquidationLtvPct);
  const targetPct = Decimal.min(vault.targetLtvPct, capPct);
  const legApy = yieldLegApyPct(yieldMarket);
  const entryAt = (ltvPct: Decimal) => entry(ltvPct, legApy, stock.borrowApyPct);
  const target = entryAt(targetPct);
  const cap = entryAt(capPct);
  const gaps: Gap[] = [...vaultGaps(statics.gaps, stock, yieldMarket)];
  const links = linksOf(vault.id, vault.stockMarket, params.links, gaps);
  const tier = exitTierPart(stock, gaps);
  gaps.push(gap('spiralHints.profile', 'NOT_APPLICABLE', 'The strategy is an equity vault.'));
  const legAverages = yieldMarket.history.carry?.leverageApyPct;
  const noSwapRoute =
    vault.stock.noSwapRoute ||
    vault.yieldMarket.collateral.noSwapRoute ||
    foundNoRoute(stock.facts.exitLiquidity?.value) ||
    foundNoRoute(yieldMarket.facts.exitLiquidity?.value);
  const strategy: StrategyDraft = {
    id: vault.id,
    chainId: vault.chainId,
    marketId: vault.stockMarket.id,
    kind: 'equity',
    correlated: false,
    curator: vault.curator,
    collateral: pricedCollateral(statics.collateral, stock.collateralPrice),
    loan: pricedLoan(statics.loan, stock.loanPrice),
    collateralApyPct: formatPct(legApy),
    collateralApySource: yieldMarket.collateralApySource,
    borrowApyPct: formatPct(stock.borrowApyPct),
    netBorrowApyPct: formatPct(stock.netBorrowApyPct),
    maxLeverage: cap.leverage,
    utilizationPct: wadPct(stock.utilization),
    leverageLadder: targetPct.gt(ZERO) && targetPct.lt(capPct) ? [entryAt(ZERO), target, cap] : [entryAt(ZERO), cap],
    defaultLeverage: target,
    ltvPct: { liquidation: statics.ltvPct.liquidation, max: formatPct(capPct), safe: formatPct(capPct) },
    oracle: statics.oracle,
    exitLiquidity: exitLiquidityOf(stock.facts.exitLiquidity),
    noSwapRoute,
    freshness: {
      borrow: stock.stamps.borrow,
      collateralApy: earliestStale(yieldMarket.stamps.collateralApy, yieldMarket.stamps.borrow),
      exitLiquidity: stock.stamps.exitLiquidity,
      oracle: stock.stamps.oracle,
    },
    equityVault: {
      stockMarketId: vault.stockMarket.id,
      yieldStrategyId: vault.yieldMarket.id as string as Strategy['id'],
      depositToken: pricedLoan(loanToken(vault.depositToken), stock.loanPrice),
      targetLtvPct: formatPct(targetPct),
      maxStockLtvPct: formatPct(capPct),
      yieldLegApyPct: formatPct(legApy),
    },
    visibility: visibilityOf(
      {
        market: stock,
        yieldPct: legApy,
        needsYield: false,
        noSwapRoute,
        maturing: vault.yieldMarket.collateral,
        nowMs: params.nowMs,
      },
      params.listing,
    ),
    gaps,
  };
  addMarketFields(strategy, stock);
  const stockBorrow = stock.history.carry?.netBorrowApyPct;
  addAverages(strategy, legAverages, historicalNetApyPct(targetPct, legAverages, stockBorrow));
  if (tier) strategy.spiralHints = tier;
  if (links) strategy.links = links;
  return strategy;
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

const YIELD_LEG_FIELDS = ['historicalLeverageApyPct'];
const REPLACED_FIELDS = ['yieldSustainabilityPct', 'curator'];

/**
 * The stock market's gaps hold for the vault, except those on fields that come from the yield leg: its trailing averages
 * stand in both `yieldSustainabilityPct` and `historicalLeverageApyPct`.
 */
function vaultGaps(staticGaps: readonly Gap[], stock: ComposedMarket, yieldMarket: ComposedMarket): readonly Gap[] {
  const rootOf = (field: string) => field.split('.')[0] ?? field;
  const own = [...staticGaps, ...stock.gaps].filter(({ field }) => !REPLACED_FIELDS.includes(rootOf(field)));
  const leg = yieldMarket.gaps.filter(({ field }) => YIELD_LEG_FIELDS.includes(rootOf(field)));
  const known = new Set(own.map(({ field }) => field));
  return [
    ...own,
    ...leg.filter(({ field }) => !known.has(field)),
    ...leg.map((missing) => ({
      ...missing,
      field: missing.field.replace('historicalLeverageApyPct', 'yieldSustainabilityPct'),
    })),
  ];
}
