/** The smallest query that shows whether the key is an ops key. */
export const KNOCK = `query OpsKnock { ops { __typename } chains { chainId name } }`;

export const OVERVIEW = `query OpsOverview($filter: PortfolioFilter, $chainIds: [ChainId!]) {
  ops {
    reports(chainIds: $chainIds) {
      chainId computedAt ageSec stale degraded
      failure { provider reason since }
      failed { address reason message }
    }
    aggregates(filter: $filter) {
      wallets failedWallets
      all { count ...Sums }
      byStatus { status count netValueUsd { usd unknown } }
      byMarket { chainId marketId symbols isVault count ...Sums }
      byDriftKind { kind count high medium low }
      byUnresolvedReason { reason count }
    }
    history(chainIds: $chainIds, days: 90) { chainId at totalUsd incentivesUsd }
  }
  freshness(chainIds: $chainIds) {
    chain { chainId name }
    ready
    groups { group apySource status ageSec budgetSec items itemsAtLastGood }
  }
}
fragment Sums on GroupTotals {
  depositedUsd { usd unknown }
  netValueUsd { usd unknown }
  incentivesUsd { usd unknown }
  totalUsd { usd unknown }
  totalAfterFeeUsd { usd unknown }
}`;

export const ITEMS = `query OpsItems($filter: PortfolioFilter, $after: String, $first: Int!) {
  ops {
    items(filter: $filter, orderBy: { field: LTV_HEADROOM, direction: ASC }, first: $first, after: $after) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes {
        __typename
        ... on PortfolioLoop {
          openedAt
          position { chainId wallet id status collateralSymbol loanSymbol ltvPct ltvHeadroomPct currentLeverage }
          drift { kind severity }
          pnl { ...Result }
        }
        ... on PortfolioVault {
          openedAt chainId wallet status stockSymbol
          equityPosition { stock { ltvPct ltvHeadroomPct } }
          loops { drift { kind severity } pnl { netValueUsd } }
          pnl { ...Result }
        }
      }
    }
  }
}
fragment Result on Pnl { netValueUsd totalUsd returnOnEquityPct }`;

export const DRIFT = `query OpsDrift($filter: DriftFilter) {
  ops {
    drift(filter: $filter, first: 200) {
      totalCount
      nodes {
        kind severity chainId wallet positionIndex marketId message firstSeen
        chain { status blockNumber collateral debt netValueUsd }
        register { isOpen depositedUsd returnedUsd updatedAt closedAt }
      }
    }
  }
}`;
