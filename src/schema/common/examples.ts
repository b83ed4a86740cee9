export interface ExampleQuery {
  readonly title: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Which key it needs; absent = none. */
  readonly tier?: 'partner' | 'ops';
  /** The screen of an app that the operation fills alone. Its cost is stated in docs/graphql.md. */
  readonly screen?: 'list' | 'detail' | 'portfolio' | 'preview' | 'plan';
}

/** Queries worth starting from: GraphiQL opens with them, the guide shows them, and a test runs every one. */
export const EXAMPLE_QUERIES: readonly ExampleQuery[] = [
  {
    title: 'Best strategies on both chains',
    screen: 'list',
    query: `# The list screen: the best listed strategies of all chains. Send endCursor as "after" for the next page.
query BestStrategies($after: String) {
  strategies(orderBy: { field: APY, direction: DESC }, first: 20, after: $after) {
    totalCount
    asOf
    missingChains { chainId reason message retryAfterSec }
    missingFacts { chainId factGroups }
    pageInfo { hasNextPage endCursor }
    nodes {
      __typename
      id
      strategyId
      chain { id name }
      collateral { id displaySymbol description maturityDaysLeft }
      loan { id displaySymbol }
      apyPct
      netBorrowApyPct
      borrowIncentive { aprPct endsAt }
      collateralIncentive { aprPct endsAt }
      pointsIncentive { program perDayPerCollateralToken }
      liquidityUsd
      exitLiquidityTier { tier }
      warnings { code message }
      freshness { borrow { status ageSec } }
      gaps(fields: ["netBorrowApyPct", "liquidityUsd", "exitLiquidityTier"]) { field reason message since }
      defaultLeverage { leverage ltvPct leverageApyPct }
      ... on LoopStrategy { collateralApyPct }
      ... on EquityVaultStrategy { yieldLegApyPct }
    }
  }
}`,
  },
  {
    title: 'One strategy',
    screen: 'detail',
    query: `# The detail screen: one strategy with its market, its risks, its costs and 90 days of rates.
query StrategyDetail($strategyId: StrategyId!) {
  strategy(id: $strategyId) {
    __typename
    id
    strategyId
    chain { id name ready }
    curator
    collateral { id symbol displaySymbol name description project yieldSource maturesAt maturityDaysLeft price { usd source } }
    loan { id symbol displaySymbol price { usd source } }
    apyPct
    borrowApyPct
    netBorrowApyPct
    quarterlyBorrowApyPct
    borrowIncentive { aprPct endsAt campaigns { rewardSymbol aprPct endsAt url } }
    collateralIncentive { aprPct endsAt campaigns { rewardSymbol aprPct endsAt url } }
    pointsIncentive { program perDayPerCollateralToken }
    supplyUsd
    liquidityUsd
    publicAllocatorLiquidityUsd
    utilizationPct
    ltvLimits { safePct maxPct liquidationPct }
    oracle { address type priceE36 }
    oraclePriceAsOf
    exitLiquidity { source slippages { sizeUsd slippagePct } freshness { status asOf } }
    exitLiquidityTier { tier listingMaxPct cleanMaxPct }
    fees { yieldFeePct depositFeePct }
    deployment { paused supported liquidationBufferPct }
    visibility { listed checks { rule passed value threshold note } }
    warnings { code field value message }
    freshness { borrow { status ageSec } oracle { status ageSec } collateralApy { status ageSec } prices { status ageSec } }
    links { appUrl marketUrl yieldSourceUrl }
    gaps { field reason message since }
    market {
      id
      borrowApyHistory(resolution: DAY) { freshness { status } points { at ratePct } gaps { reason } }
      collateralApyHistory(resolution: DAY) { freshness { status } points { at ratePct } gaps { reason } }
      borrowIncentiveHistory { points { at ratePct } gaps { reason } }
    }
    maxLeverage
    defaultLeverage { leverage ltvPct leverageApyPct }
    leverageLadder { leverage ltvPct leverageApyPct }
    historicalLeverageApyPct { avg30dPct avg60dPct avg90dPct }
    ... on LoopStrategy {
      collateralApyPct
      collateralApySource
      collateralApyMeans { avg30dPct avg60dPct avg90dPct }
    }
    ... on EquityVaultStrategy {
      depositToken { id symbol decimals }
      targetLtvPct
      yieldLegApyPct
      yieldLegApySource
      yieldStrategy { id collateral { id symbol } }
    }
  }
}`,
    variables: { strategyId: '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5' },
  },
  {
    title: 'Filter and page',
    query: `# Correlated stablecoin loops with room to borrow. Send endCursor as "after" for the next page.
query Filtered($after: String) {
  strategies(
    filter: { categories: [STABLE, STABLE_PT], correlated: true, kinds: [LOOP], minLiquidityUsd: "1000000", minMaxLeverage: "5" }
    orderBy: { field: LIQUIDITY_USD, direction: DESC }
    first: 5
    after: $after
  ) {
    totalCount
    pageInfo { hasNextPage endCursor }
    edges {
      cursor
      node {
        id
        strategyId
        collateral { id displaySymbol }
        liquidityUsd
        maxLeverage
        leverageLadder { leverage ltvPct leverageApyPct }
      }
    }
  }
}`,
  },
  {
    title: 'Why is it not listed?',
    query: `# Every strategy, listed or not, with the rules that decided.
query Visibility {
  strategies(filter: { listedOnly: false }, first: 100) {
    nodes {
      id
      strategyId
      collateral { id displaySymbol }
      visibility { listed checks { rule passed value threshold note } }
    }
  }
}`,
  },
  {
    title: 'Equity vaults',
    query: `# Stock-plus-yield vaults on chain 4663, with the strategy of their yield leg.
query Vaults {
  strategies(chainIds: [4663], filter: { kinds: [EQUITY_VAULT], listedOnly: false }) {
    nodes {
      id
      strategyId
      curator
      collateral { id displaySymbol }
      collateralPrice { usd source }
      ltvLimits { maxPct liquidationPct }
      leverageLadder { leverage ltvPct leverageApyPct }
      ... on EquityVaultStrategy {
        depositToken { id displaySymbol }
        targetLtvPct
        yieldLegApyPct
        yieldStrategy { id collateral { id displaySymbol } }
      }
    }
  }
}`,
  },
  {
    title: 'Markets at full precision',
    query: `query Markets {
  markets(chainIds: [1], first: 5) {
    totalCount
    nodes {
      id
      marketId
      collateral { id symbol decimals }
      loan { id symbol decimals }
      lltvWad
      oracle { type priceE36 readAt { blockNumber blockAt } }
      totalSupplyAssets
      totalBorrowAssets
      liquidityAssets
      utilizationPct
      borrowApyPct
      effectiveCollateralApyPct
      listed
    }
  }
}`,
  },
  {
    title: 'How fresh is it?',
    query: `# Age and state of every group of facts, and which items are served at their last good value.
query Freshness {
  freshness {
    chain { chainId name }
    ready
    waitingFor
    version
    groups {
      group
      apySource
      freshness { status ageSec staleAfterSec }
      itemCount
      lastGoodCount
      failing { symbol reason source since lastGoodAt }
    }
    excluded { key symbol missingFacts { group explanation } }
  }
}`,
  },
  {
    title: 'Prices',
    query: `query Prices {
  tokens(chainIds: [1], first: 100) {
    nodes {
      id
      symbol
      address
      price { usd source freshness { status ageSec } }
      gaps(fields: ["price"]) { reason message }
    }
  }
}`,
  },
  {
    title: 'Borrow APY by week',
    query: `query Histories {
  markets(chainIds: [4663], first: 10) {
    nodes {
      id
      marketId
      borrowApyHistory(resolution: WEEK, downsampling: LAST) {
        freshness { status asOf }
        points { at ratePct }
        gaps { reason message }
      }
    }
  }
}`,
  },
];
