/** The smallest query that shows whether the key is an ops key. */
export const KNOCK = `query OpsKnock { ops { __typename } chains { chainId name } }`;

export const OVERVIEW = `query OpsOverview($filter: PortfolioFilter, $chainIds: [ChainId!]) {
  ops {
    reports(chainIds: $chainIds) {
      items {
        chainId
        freshness { status asOf ageSec }
        failure { provider reason since }
        failedWallets { wallet reason message }
      }
      missingChains { chainId message }
    }
    aggregates(filter: $filter) {
      walletCount failedWalletCount
      totals { ...Sums }
      byStatus { status totals { count } }
      byMarket { chainId marketId symbols isVault totals { ...Sums } }
      byDriftKind { kind count highCount }
      byUnresolvedReason { reason count }
    }
    history(chainIds: $chainIds, days: 90) { chainId at totalUsd incentivesUsd }
  }
  freshness(chainIds: $chainIds) {
    chain { chainId name }
    ready
    groups { group apySource freshness { status ageSec staleAfterSec } itemCount lastGoodCount }
  }
}
fragment Sums on PortfolioTotals {
  count
  deposited { sumUsd unknownCount }
  netValue { sumUsd unknownCount }
  incentives { sumUsd unknownCount }
  total { sumUsd unknownCount }
  totalAfterFee { sumUsd unknownCount }
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
          position { chainId wallet id: positionIndex status collateralToken { displaySymbol } loanToken { displaySymbol } ltvPct ltvHeadroomPct currentLeverage: leverage }
          drift { kind severity }
          pnl { ...Result }
        }
        ... on PortfolioVault {
          openedAt chainId wallet status stockToken { displaySymbol }
          equityPosition { stock { ltvPct ltvHeadroomPct } }
          loops(first: 5) { nodes { drift { kind severity } pnl { netValueUsd } } }
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
        kind severity chainId wallet positionIndex marketId message firstSeenAt
        onChain { status readAt { blockNumber } collateralAmount debtAmount netValueUsd }
        inRegister { isOpen depositedUsd returnedUsd updatedAt closedAt }
      }
    }
  }
}`;
