import { BigNumber } from 'bignumber.js';
import type { Json } from '../../support/service.ts';

/*
 * Convert a strategy of GraphQL to the names of the frozen contract, independent of the service's own mapping.
 */

/** Every field of a strategy that the contract has. */
export const STRATEGIES_QUERY = `query ($chainId: ChainId!, $first: Int!, $after: String) { strategies(chainIds: [$chainId], filter: { listedOnly: false }, first: $first, after: $after) { pageInfo { hasNextPage endCursor } nodes {
  __typename strategyId chainId marketId correlated curator
  collateral { address displaySymbol name decimals category project yieldSource description isPt maturesAt maturityDaysLeft underlyingAddress underlyingSymbol }
  loan { address displaySymbol decimals }
  collateralPrice { usd } loanPrice { usd }
  pointsIncentive { program perDayPerCollateralToken }
  borrowApyPct quarterlyBorrowApyPct
  borrowIncentive { aprPct endsAt campaigns { rewardSymbol aprPct url } }
  collateralIncentive { aprPct endsAt campaigns { rewardSymbol aprPct url } }
  netBorrowApyPct totalCollateralApyPct supplyUsd liquidityUsd publicAllocatorLiquidityUsd utilizationPct
  ltvLimits { liquidationPct maxPct }
  oracle { address type }
  oraclePriceAsOf
  exitLiquidity { source freshness { asOf } slippages { sizeUsd slippagePct } }
  exitLiquidityTier { tier listingMaxPct cleanMaxPct }
  noSwapRoute
  warnings { code field value message }
  freshness {
    borrow { asOf staleAfterSec staleForSec } collateralApy { asOf staleAfterSec staleForSec } exitLiquidity { asOf staleAfterSec staleForSec }
    prices { asOf staleAfterSec staleForSec } incentives { asOf staleAfterSec staleForSec }
  }
  fees { yieldFeePct depositFeePct treasury freshness { asOf staleAfterSec staleForSec } }
  deployment { source freshness { asOf staleAfterSec staleForSec } paused supported correlated liquidationBufferPct }
  links { appUrl marketUrl yieldSourceUrl }
  visibility { listed checks { rule passed } }
  gaps { field reason message }
  maxLeverage leverageLadder { leverage ltvPct leverageApyPct } defaultLeverage { leverage ltvPct leverageApyPct }
  historicalLeverageApyPct { avg30dPct avg60dPct avg90dPct }
  ... on LoopStrategy {
    collateralApyPct collateralApySource collateralApyMeans { avg30dPct avg60dPct avg90dPct } profile { kind leverageApyMeaning }
  }
  ... on EquityVaultStrategy {
    depositToken { address displaySymbol decimals } yieldStrategyId targetLtvPct yieldLegApyPct yieldLegApySource
    yieldLegApyMeans { avg30dPct avg60dPct avg90dPct }
  }
} } }`;

/** Where the contract keeps null: it was measured, or cannot apply. Everywhere else an unknown value is absent. */
const KEEPS_NULL =
  /^(collateral\.(maturity|maturityDate|maturityDaysLeft)|oraclePriceAsOf|pointsIncentive|borrowIncentive|collateralIncentive|exitLiquidity\.slippagePct\.\d+)$/;
const MAY_BE_UNKNOWN = /^(oraclePriceAsOf|pointsIncentive|borrowIncentive|collateralIncentive)$/;
/** Required, and made without an input that is not known. */
const ASSUMED =
  /^(netBorrowApyPct|collateralApyPct|totalCollateralApyPct|fees\.(yieldFeePct|depositFeePct)|equityVault\.yieldLegApyPct|leverageLadder|defaultLeverage|noSwapRoute|freshness\.exitLiquidity)$/;
/** Exact decimals there, JSON numbers here. */
const NUMBERS =
  /^(supplyUsd|liquidityUsd|publicAllocatorLiquidityUsd|pointsIncentive\.perDayPerCollateralToken|spiralHints\.exitLiquidityTier\.thresholds\.\w+)$/;

const CATEGORIES: Readonly<Record<string, string>> = {
  STABLE: 'stable',
  STABLE_PT: 'stable-PT',
  STOCKS: 'stocks',
  OTHER: 'Other',
};
const wordOf = (name: Json) => name?.replaceAll('_', '').toLowerCase() ?? null;
const fixed = (value: Json, places: number) => new BigNumber(value).toFixed(places, BigNumber.ROUND_HALF_UP);
const meansOf = (means: Json) => means && { avg30d: means.avg30dPct, avg60d: means.avg60dPct, avg90d: means.avg90dPct };
const NEVER = new Date(0).toISOString();
const ageOf = (freshness: Json) => freshness && { ...freshness, asOf: freshness.asOf ?? NEVER };

function incentiveOf(incentive: Json): Json {
  if (incentive === null) return null;
  const sums: Record<string, BigNumber> = {};
  for (const { rewardSymbol, aprPct } of incentive.campaigns) {
    sums[rewardSymbol] = new BigNumber(aprPct).plus(sums[rewardSymbol] ?? 0);
  }
  return {
    aprPct: fixed(incentive.aprPct, 2),
    breakdown: Object.entries(sums).map(([symbol, sum]) => ({ symbol, aprPct: fixed(sum, 2) })),
    campaignUrl: incentive.campaigns.map(({ url }: Json) => url).find((url: Json) => url !== null) ?? null,
    endsAt: incentive.endsAt,
  };
}

/** A vault stands in the shape of a loop there, with its terms beside. */
function vaultOf(vault: Json): Json {
  const { displaySymbol: symbol, ...token } = vault.depositToken;
  return {
    collateralApyPct: vault.yieldLegApyPct,
    collateralApySource: wordOf(vault.yieldLegApySource),
    yieldSustainabilityPct: meansOf(vault.yieldLegApyMeans),
    equityVault: {
      stockMarketId: vault.marketId,
      yieldStrategyId: vault.yieldStrategyId,
      depositToken: { ...token, symbol },
      targetLtvPct: vault.targetLtvPct,
      maxStockLtvPct: vault.ltvLimits.maxPct,
      yieldLegApyPct: vault.yieldLegApyPct,
    },
  };
}

const loopOf = (loop: Json): Json => ({
  collateralApyPct: loop.collateralApyPct,
  collateralApySource: wordOf(loop.collateralApySource),
  yieldSustainabilityPct: meansOf(loop.collateralApyMeans),
});

/** Names of the contract that differ from the schema. */
function namesOf(field: string, isVault: boolean): readonly string[] {
  if (field === 'ltvLimits.maxPct') return ['ltvPct.max'];
  if (isVault && field === 'yieldLegApyPct') return ['collateralApyPct', 'equityVault.yieldLegApyPct'];
  return [field];
}

/** Convert a GraphQL value to the names of the contract. */
export function asContract(strategy: Json): Json {
  const { visibility, exitLiquidity: exit, exitLiquidityTier: tier, freshness, collateral, links, warnings } = strategy;
  const isVault = strategy.__typename === 'EquityVaultStrategy';
  const gaps = strategy.gaps.flatMap((gap: Json) => namesOf(gap.field, isVault).map((field) => ({ ...gap, field })));
  const failed = visibility.checks.filter(({ passed }: Json) => !passed).map(({ rule }: Json) => rule.toLowerCase());
  const assumed = gaps.filter(({ field }: Json) => ASSUMED.test(field));
  const none = new Set(
    gaps.filter(({ reason }: Json) => reason === 'NONE' || reason === 'NOT_APPLICABLE').map(({ field }: Json) => field),
  );
  const walk = (value: Json, path: string): Json => {
    if (Array.isArray(value)) return value.map((item) => walk(item, path));
    if (typeof value !== 'object' || value === null) return NUMBERS.test(path) ? Number(value) : value;
    return Object.fromEntries(
      Object.entries<Json>(value).flatMap(([key, item]) => {
        const here = path === '' ? key : `${path}.${key}`;
        if (item !== null && item !== undefined) return [[key, walk(item, here)]];
        return KEEPS_NULL.test(here) && (!MAY_BE_UNKNOWN.test(here) || none.has(here)) ? [[key, null]] : [];
      }),
    );
  };
  const { displaySymbol, category, maturesAt, underlyingAddress, underlyingSymbol, ...token } = collateral;
  const priceOf = (price: Json) =>
    price && new BigNumber(price.usd).decimalPlaces(12, BigNumber.ROUND_HALF_UP).toFixed();
  const hints = {
    exitLiquidityTier: tier && {
      value: tier.tier.toLowerCase(),
      thresholds: { listingMaxPct: tier.listingMaxPct, depthCleanMaxPct: tier.cleanMaxPct },
    },
    profile: strategy.profile && {
      value: strategy.profile.kind.toLowerCase(),
      leverageApyMeaning: strategy.profile.leverageApyMeaning,
    },
    warnings: warnings.length === 0 ? null : warnings.map(asContractWarning),
  };
  const body = {
    id: strategy.strategyId,
    chainId: strategy.chainId,
    correlated: strategy.correlated,
    curator: strategy.curator,
    collateral: {
      ...token,
      symbol: displaySymbol,
      category: CATEGORIES[category] ?? category,
      priceUsd: priceOf(strategy.collateralPrice),
      maturity: maturesAt && Date.parse(maturesAt) / 1_000,
      maturityDate: maturesAt?.slice(0, 10) ?? null,
      underlying: underlyingAddress && { address: underlyingAddress, symbol: underlyingSymbol },
    },
    loan: {
      address: strategy.loan.address,
      symbol: strategy.loan.displaySymbol,
      decimals: strategy.loan.decimals,
      priceUsd: priceOf(strategy.loanPrice),
    },
    ...(isVault ? vaultOf(strategy) : loopOf(strategy)),
    maxLeverage: strategy.maxLeverage,
    leverageLadder: strategy.leverageLadder,
    defaultLeverage: strategy.defaultLeverage,
    historicalLeverageApyPct: meansOf(strategy.historicalLeverageApyPct),
    pointsIncentive: strategy.pointsIncentive,
    borrowApyPct: strategy.borrowApyPct,
    quarterlyBorrowApyPct: strategy.quarterlyBorrowApyPct,
    borrowIncentive: incentiveOf(strategy.borrowIncentive),
    collateralIncentive: incentiveOf(strategy.collateralIncentive),
    netBorrowApyPct: strategy.netBorrowApyPct,
    totalCollateralApyPct: strategy.totalCollateralApyPct,
    supplyUsd: strategy.supplyUsd,
    liquidityUsd: strategy.liquidityUsd,
    publicAllocatorLiquidityUsd: strategy.publicAllocatorLiquidityUsd,
    utilizationPct: strategy.utilizationPct,
    ltvPct: { liquidation: strategy.ltvLimits.liquidationPct, max: strategy.ltvLimits.maxPct },
    oracle: { address: strategy.oracle.address, type: wordOf(strategy.oracle.type) },
    oraclePriceAsOf: strategy.oraclePriceAsOf,
    exitLiquidity: exit
      ? {
          measured: true,
          asOf: exit.freshness.asOf,
          method: `${exit.source} quotes`,
          direction: 'collateral to stable',
          slippagePct: Object.fromEntries(
            exit.slippages.map((row: Json) => [row.sizeUsd, row.slippagePct && fixed(row.slippagePct, 2)]),
          ),
        }
      : { measured: false },
    noSwapRoute: strategy.noSwapRoute,
    spiralHints: Object.values(hints).some((hint) => hint !== null && hint !== undefined) ? hints : null,
    freshness: {
      borrow: freshness.borrow,
      collateralApy: ageOf(freshness.collateralApy),
      exitLiquidity: ageOf(freshness.exitLiquidity),
    },
    fees: strategy.fees,
    deployment: strategy.deployment,
    links: links && { app: links.appUrl, market: links.marketUrl, yieldSource: links.yieldSourceUrl },
  };
  const { prices, incentives } = freshness;
  return {
    ...walk(body, ''),
    inputFreshness: prices || incentives ? walk({ prices, incentives }, '') : undefined,
    listed: visibility.listed,
    notListedBecause: failed.length > 0 ? failed : undefined,
    gaps: assumed.length > 0 ? assumed : undefined,
  };
}

/** Fields of warnings with the names of the contract. */
export const WARNED: Readonly<Record<string, string>> = {
  COLLATERAL_PRICE: 'collateral.priceUsd',
  LOAN_PRICE: 'loan.priceUsd',
  COLLATERAL_APY: 'collateralApyPct',
  BORROW_INCENTIVE: 'borrowIncentive',
  EXIT_LIQUIDITY: 'exitLiquidity',
  ORACLE: 'oracle',
};

/** A warning with the names of the contract. */
export function asContractWarning({ code, field, ...warning }: Json): Json {
  return { ...warning, code: code.toLowerCase(), field: WARNED[field] };
}
