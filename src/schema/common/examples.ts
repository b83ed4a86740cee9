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
  strategies(orderBy: { field: LEVERAGE_APY, direction: DESC }, first: 10) {
    totalCount
    asOf
    pageInfo { hasNextPage endCursor }
    nodes {
      id
      chain { name }
      collateral { symbol description maturityDaysLeft }
      loan { symbol }
      collateralApyPct
      netBorrowApyPct
      defaultLeverage { leverage ltvPct leverageApyPct }
      liquidityUsd
      spiralHints { exitLiquidityTier { value } }
      gaps { field reason message since }
    }
  }
}`,
  },
  {
    title: 'Filter and page',
    query: `# Correlated stablecoin loops with room to borrow. Send endCursor as "after" for the next page.
query Filtered($after: String) {
  strategies(
    filter: { categories: [stable, stable_PT], correlated: true, kind: loop, minLiquidityUsd: "1000000", minLeverage: "5" }
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
        collateral { symbol }
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
      collateral { symbol }
      visibility { visible checks { name passed value threshold } }
    }
  }
}`,
  },
  {
    title: 'Equity vaults',
    query: `# Stock-plus-yield vaults on chain 4663, with the strategy of their yield leg.
query Vaults {
  strategies(filter: { chainIds: [4663], kind: equity, listedOnly: false }) {
    nodes {
      id
      curator
      collateral { symbol priceUsd }
      equityVault {
        depositToken { symbol }
        targetLtvPct
        maxStockLtvPct
        yieldLegApyPct
        yieldStrategy { id collateral { symbol } }
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
      collateral { symbol decimals }
      loan { symbol decimals }
      lltv
      oracle { type price asOf }
      totalSupplyAssets
      totalBorrowAssets
      liquidityAssets
      utilization
      borrowApyPct
      effectiveCollateralApyPct
      visible
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
  prices(chainIds: [1]) {
    asOf
    stale
    items {
      token { symbol address }
      usd
      source
      freshness { ageSec staleForSec }
      gap { reason message }
    }
  }
}`,
  },
  {
    title: 'Borrow APY by week',
    query: `query Histories {
  borrowApyHistories(chainIds: [4663], resolution: WEEK, downsampling: LAST) {
    asOf
    stale
    items { id points { at ratePct } gap { reason message } }
  }
}`,
  },
];
