export interface ExampleQuery {
  readonly title: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Which key it needs; absent = none. */
  readonly tier?: 'partner' | 'ops';
}

/** Queries worth starting from: GraphiQL opens with them, the guide shows them, and a test runs every one. */
export const EXAMPLE_QUERIES: readonly ExampleQuery[] = [
  {
    title: 'Best strategies on both chains',
    query: `# The ten best listed strategies, whichever chain they live on.
query BestStrategies {
  strategies(orderBy: { field: DEFAULT_APY, direction: DESC }, first: 10) {
    totalCount
    asOf
    pageInfo { hasNextPage endCursor }
    nodes {
      __typename
      id
      strategyId
      chain { id name }
      collateral { id displaySymbol description maturityDaysLeft }
      loan { id displaySymbol }
      defaultApyPct
      netBorrowApyPct
      liquidityUsd
      exitLiquidityTier { tier }
      gaps(fields: ["netBorrowApyPct", "liquidityUsd", "exitLiquidityTier"]) { field reason message since }
      ... on LoopStrategy { collateralApyPct defaultLeverage { leverage ltvPct leverageApyPct } }
      ... on EquityVaultStrategy { yieldLegApyPct targetRung { ltvPct netApyPct } }
    }
  }
}`,
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
        ... on LoopStrategy { maxLeverage leverageLadder { leverage ltvPct leverageApyPct } }
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
  strategies(filter: { chainIds: [4663], kinds: [EQUITY_VAULT], listedOnly: false }) {
    nodes {
      id
      strategyId
      curator
      collateral { id displaySymbol }
      collateralPrice { usd source }
      ltvLimits { maxPct liquidationPct }
      ... on EquityVaultStrategy {
        depositToken { id displaySymbol }
        targetLtvPct
        yieldLegApyPct
        netApyLadder { ltvPct grossExposure netApyPct }
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
