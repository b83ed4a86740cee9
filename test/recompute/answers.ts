import type { Json } from '../support/service.ts';
import { big, bn, near } from './compare.ts';
import {
  carry,
  type ExpectedExit,
  type ExpectedMarket,
  formatMeans,
  leverageAt,
  type Means,
  WINDOW_PRECISION,
} from './expected.ts';
import { Exact, shown } from './protocol.ts';
import { type CatalogToken, DAY_MS, type YieldSource } from './sources.ts';

/*
 * The numbers of the public answers, as they have to be.
 */

/** Seconds that the documentation gives: how old each group may get. */
export const BUDGETS = { lending: 300, oracle: 900, exit: 86_400, deployment: 900, prices: 900, incentives: 3_600 };
export const APY_BUDGETS: Readonly<Record<YieldSource, number>> = {
  yieldmarket: 1_800,
  aggregator: 172_800,
  incentivemarket: 43_200,
  stableindex: 43_200,
  onchain: 43_200,
  none: 43_200,
};
const THRESHOLDS = { listingMaxPct: 2, depthCleanMaxPct: 1.5 };

const stale = (staleAfterSec: number) => ({ staleAfterSec });
const usd = (value: Exact) => Number(shown(value));
const wadPct = (wad: bigint) => shown(new Exact(wad.toString()).shiftedBy(-16));

function tokenNumbers(token: CatalogToken, nowMs: number): Json {
  const { decimals, maturity } = token;
  const daysLeft = maturity && Math.max(0, Math.floor((maturity * 1_000 - nowMs) / DAY_MS));
  return { decimals, maturity, maturityDaysLeft: maturity ? daysLeft : undefined };
}

function incentiveNumbers(campaigns: ExpectedMarket['borrowCampaigns']): Json {
  if (campaigns.length === 0) return null;
  const total = campaigns.reduce((sum, { aprPct }) => sum.plus(aprPct), new Exact(0));
  return {
    aprPct: shown(total),
    breakdown: campaigns.map(({ symbol, aprPct }) => ({ symbol, aprPct: shown(aprPct) })),
  };
}

/** Of a loop, and of the stock market of a vault. */
function marketNumbers(market: ExpectedMarket, exit: ExpectedExit, nowMs: number): Json {
  return {
    chainId: market.market.chainId,
    collateral: { ...tokenNumbers(market.market.collateral, nowMs), priceUsd: near(market.collateralUsd) },
    loan: { decimals: market.market.loan.decimals, priceUsd: market.loanUsd.decimalPlaces(12).toFixed() },
    borrowApyPct: shown(market.borrowApy),
    quarterlyBorrowApyPct: market.quarterly && shown(market.quarterly),
    borrowIncentive: incentiveNumbers(market.borrowCampaigns),
    collateralIncentive: incentiveNumbers(market.collateralCampaigns),
    netBorrowApyPct: shown(market.netBorrowApy),
    supplyUsd: usd(market.supplyUsd),
    liquidityUsd: usd(market.liquidityUsd),
    publicAllocatorLiquidityUsd: market.withShared && usd(market.withShared),
    utilizationPct: wadPct(market.state.utilization),
    exitLiquidity: { measured: true, slippagePct: exit.slippagePct },
    spiralHints: { exitLiquidityTier: { value: exit.tier, thresholds: THRESHOLDS } },
    freshness: { borrow: stale(BUDGETS.lending), exitLiquidity: stale(BUDGETS.exit) },
    inputFreshness: { prices: stale(BUDGETS.prices), incentives: stale(BUDGETS.incentives) },
  };
}

/** Fees of the contract on the position's market. */
function feeNumbers({ fees }: ExpectedMarket): Json {
  const { yieldPct, depositPct } = fees;
  return { yieldFeePct: yieldPct.toFixed(), depositFeePct: depositPct.toFixed(), freshness: stale(BUDGETS.deployment) };
}

/** The contract's state on the position's market. */
function deploymentNumbers({ buffer }: ExpectedMarket): Json {
  return { liquidationBufferPct: buffer.toFixed(), freshness: stale(BUDGETS.deployment) };
}

export function loopNumbers(market: ExpectedMarket, exit: ExpectedExit, nowMs: number): Json {
  const shared = marketNumbers(market, exit, nowMs);
  return {
    ...shared,
    fees: feeNumbers(market),
    deployment: deploymentNumbers(market),
    noSwapRoute: !exit.hasRoute,
    collateralApyPct: shown(market.ownApy),
    collateralApySource: market.yieldSource,
    totalCollateralApyPct: shown(market.earned),
    yieldSustainabilityPct: formatMeans(market.yieldMeans),
    historicalLeverageApyPct: formatMeans(market.leverageMeans),
    maxLeverage: shown(leverageAt(market.max), 1),
    leverageLadder: market.ladder,
    defaultLeverage: market.defaultRung,
    ltvPct: { liquidation: shown(market.liquidation), max: shown(market.max) },
    freshness: { ...shared.freshness, collateralApy: stale(APY_BUDGETS[market.yieldSource]) },
  };
}

/** @param targetLtvPct The default LTV of the stock leg, as curated. */
export function vaultNumbers(
  stock: ExpectedMarket,
  leg: ExpectedMarket,
  exit: ExpectedExit,
  targetLtvPct: string,
  nowMs: number,
): Json {
  const shared = marketNumbers(stock, exit, nowMs);
  const legApy = carry(leg.earned, leg.netBorrowApy, leverageAt(leg.safe));
  const cap = stock.liquidation.times('0.88');
  const target = new Exact(targetLtvPct);
  const rung = (ltvPct: Exact) => ({
    leverage: shown(ltvPct.div(100).plus(1), 1),
    ltvPct: shown(ltvPct, 1),
    leverageApyPct: shown(ltvPct.div(100).times(legApy.minus(stock.netBorrowApy))),
  });
  const netMeans: Means = {};
  for (const name of ['avg30d', 'avg60d', 'avg90d'] as const) {
    const [earned, paid] = [leg.leverageMeans[name], stock.borrowMeans[name]];
    if (earned && paid) netMeans[name] = target.div(100).times(earned.minus(paid));
  }
  return {
    ...shared,
    fees: feeNumbers(leg),
    deployment: deploymentNumbers(leg),
    collateralApyPct: shown(legApy),
    totalCollateralApyPct: shown(legApy),
    yieldSustainabilityPct: formatMeans(leg.leverageMeans),
    historicalLeverageApyPct: formatMeans(netMeans),
    maxLeverage: rung(cap).leverage,
    leverageLadder: [rung(new Exact(0)), rung(target), rung(cap)],
    defaultLeverage: rung(target),
    ltvPct: { liquidation: shown(stock.liquidation), max: shown(cap) },
    // The yield of the leg is as fresh as its first part to become stale, the borrow rate.
    freshness: { ...shared.freshness, collateralApy: stale(BUDGETS.lending) },
    equityVault: {
      depositToken: { decimals: stock.market.loan.decimals },
      targetLtvPct: shown(target),
      maxStockLtvPct: shown(cap),
      yieldLegApyPct: shown(legApy),
    },
  };
}

function campaignNumbers(campaigns: ExpectedMarket['borrowCampaigns']): Json {
  if (campaigns.length === 0) return null;
  const total = campaigns.reduce((sum, { aprPct }) => sum.plus(aprPct), new Exact(0));
  return { aprPct: bn(total), campaigns: campaigns.map(({ id, aprPct }) => ({ id, aprPct: bn(aprPct) })) };
}

const meanNumbers = (means: Means, within = WINDOW_PRECISION): Json =>
  Object.fromEntries(Object.entries(means).map(([name, value]) => [name, bn(value, within)]));

/** @param nowMs Time of the request, for a collateral without a measured sale: its age counts from 1970. */
export function appNumbers(market: ExpectedMarket, exit: ExpectedExit | undefined, nowMs: number): Json {
  const { state, stored, blockNumber } = market;
  const { collateral, loan } = market.market;
  const { decimals, maturity } = collateral;
  return {
    chainId: market.market.chainId,
    collateral: { decimals, maturity: maturity && new Date(maturity * 1_000).toISOString() },
    loan: { decimals: loan.decimals },
    lltv: big(market.market.lltv),
    oracle: { address: market.market.oracle, price: big(market.price), blockNumber: big(blockNumber) },
    state: {
      totalSupplyAssets: big(stored.totalSupplyAssets),
      totalSupplyShares: big(stored.totalSupplyShares),
      totalBorrowAssets: big(stored.totalBorrowAssets),
      totalBorrowShares: big(stored.totalBorrowShares),
      lastUpdate: new Date(Number(stored.lastUpdate) * 1_000).toISOString(),
      fee: big(stored.fee),
      rateAtTarget: big(stored.rateAtTarget),
      borrowRate: big(state.meanRate),
      blockNumber: big(blockNumber),
    },
    totalSupplyAssets: big(state.totalSupplyAssets),
    totalBorrowAssets: big(state.totalBorrowAssets),
    totalSupplyShares: big(state.totalSupplyShares),
    totalBorrowShares: big(state.totalBorrowShares),
    liquidityAssets: big(state.liquidity),
    utilization: big(state.utilization),
    borrowApyPct: bn(market.borrowApy),
    netBorrowApyPct: bn(market.netBorrowApy),
    collateralApyPct: bn(market.ownApy),
    effectiveCollateralApyPct: bn(market.earned),
    borrowIncentive: campaignNumbers(market.borrowCampaigns),
    collateralIncentive: campaignNumbers(market.collateralCampaigns),
    liquidationLtvPct: bn(market.liquidation),
    maxLtvPct: bn(market.max),
    safeLtvPct: bn(market.safe),
    fees: {
      yieldFeePct: bn(market.fees.yieldPct),
      depositFeePct: bn(market.fees.depositPct),
      freshness: stale(BUDGETS.deployment),
    },
    deployment: market.market.kind === 'loop' ? deploymentNumbers(market) : undefined,
    supplyUsd: bn(market.supplyUsd),
    liquidityUsd: bn(market.liquidityUsd),
    publicAllocatorLiquidityUsd: market.withShared && bn(market.withShared),
    collateralPrice: { usd: bn(market.collateralUsd) },
    loanPrice: { usd: bn(market.loanUsd) },
    exitSlippage: exit && Object.fromEntries(exit.exact.map(([size, loss]) => [size, loss && bn(loss)])),
    sharedLiquidity: market.shared?.map(({ assets, feeWei }) => ({ assets: big(assets), feeWei: big(feeWei) })),
    trailing: {
      collateralApyPct: meanNumbers(market.yieldMeans),
      effectiveCollateralApyPct: meanNumbers(market.collateralMeans),
      netBorrowApyPct: meanNumbers(market.borrowMeans),
      leverageApyPct: meanNumbers(market.leverageMeans),
      quarterlyBorrowApyPct: market.quarterly && bn(market.quarterly, WINDOW_PRECISION),
    },
    freshness: {
      borrow: stale(BUDGETS.lending),
      oracle: stale(BUDGETS.oracle),
      collateralApy: stale(APY_BUDGETS[market.yieldSource]),
      exitLiquidity: exit
        ? stale(BUDGETS.exit)
        : { ...stale(BUDGETS.exit), staleForSec: Math.ceil(nowMs / 1_000 - BUDGETS.exit) },
    },
  };
}
