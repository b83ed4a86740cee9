import type { ExampleQuery } from '../common/examples.ts';

/** Questions of operations, beside the public examples: they need a key on the `ops` tier in GraphiQL's headers. */
export const OPS_EXAMPLE_QUERIES: readonly ExampleQuery[] = [
  {
    title: 'Ops: who is close to liquidation',
    query: `# Needs an ops key: {"authorization": "Bearer <key>"} under Headers. Open positions with at most 5 points of headroom.
query OpsCloseToLiquidation {
  ops {
    items(
      filter: { statuses: [OPEN], maxLtvHeadroomPct: "5", minValueUsd: "100" }
      orderBy: { field: LTV_HEADROOM, direction: ASC }
      first: 20
    ) {
      totalCount
      nodes {
        ... on PortfolioLoop {
          position { id wallet chainId positionIndex collateralToken { id displaySymbol } loanToken { id displaySymbol } ltvPct ltvHeadroomPct netValueUsd }
          pnl { totalUsd returnOnEquityPct }
        }
        ... on PortfolioVault {
          wallet
          stockToken { id displaySymbol }
          equityPosition { stock { ltvPct ltvHeadroomPct liquidationPriceUsd } }
          pnl { totalUsd }
        }
      }
    }
  }
}`,
    tier: 'ops',
  },
  {
    title: 'Ops: drift with evidence',
    query: `# Needs an ops key. Where the register and the chain disagree, with both sides.
query OpsDriftEvidence {
  ops {
    drift(first: 50) {
      totalCount
      nodes {
        kind
        severity
        wallet
        positionId
        message
        firstSeenAt
        onChain { status readAt { blockNumber } netValueUsd }
        inRegister { isOpen depositedUsd updatedAt closedAt }
      }
    }
  }
}`,
    tier: 'ops',
  },
  {
    title: 'Ops: largest wallets',
    query: `# Needs an ops key. Send endCursor as "after" for the next page.
query OpsLargestWallets($after: String) {
  ops {
    portfolios(orderBy: { field: VALUE_USD, direction: DESC }, first: 10, after: $after) {
      totalCount
      asOf
      pageInfo { hasNextPage endCursor }
      nodes {
        wallet
        chainId
        header { totalDepositedUsd openCount }
        pnl { depositedUsd netValueUsd baseResultUsd incentivesUsd totalUsd returnOnEquityPct gaps { field message } }
        unresolvedRows(first: 20) { nodes { reason registration { marketId positionIndex } } }
      }
    }
  }
}`,
    tier: 'ops',
  },
  {
    title: 'Ops: sums by market, status and drift',
    query: `# Needs an ops key. Every sum says how many entries it does not speak of.
query OpsAggregates {
  ops {
    reports {
      items { chainId freshness { status asOf ageSec } failure { provider reason since } failedWallets { wallet reason } }
      missingChains { chainId reason message }
    }
    aggregates {
      walletCount
      failedWalletCount
      totals { count netValue { sumUsd unknownCount } total { sumUsd unknownCount } }
      byStatus { status totals { count netValue { sumUsd } } }
      byMarket { chainId symbols isVault totals { count netValue { sumUsd unknownCount } total { sumUsd unknownCount } } }
      byDriftKind { kind count highCount mediumCount lowCount }
      byUnresolvedReason { reason count }
    }
  }
}`,
    tier: 'ops',
  },
];
