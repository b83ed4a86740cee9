import type { ExampleQuery } from '../common/examples.ts';

/** Questions of operations, beside the public examples: they need a key on the `ops` tier in GraphiQL's headers. */
export const OPS_EXAMPLE_QUERIES: readonly ExampleQuery[] = [
  {
    title: 'Ops: who is close to liquidation',
    query: `# Needs an ops key: {"authorization": "Bearer <key>"} under Headers. Open positions with at most 5 points of headroom.
query OpsCloseToLiquidation {
  ops {
    items(
      filter: { statuses: [open], maxLtvHeadroomPct: "5", minValueUsd: "100" }
      orderBy: { field: LTV_HEADROOM, direction: ASC }
      first: 20
    ) {
      totalCount
      nodes {
        ... on PortfolioLoop {
          position { wallet chainId id collateralSymbol loanSymbol ltvPct ltvHeadroomPct netValueUsd }
          pnl { totalUsd returnOnEquityPct }
        }
        ... on PortfolioVault {
          wallet
          stockSymbol
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
        firstSeen
        chain { status blockNumber netValueUsd }
        register { isOpen depositedUsd updatedAt closedAt }
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
        address
        chainId
        header { totalDepositedUsd openCount }
        pnl { depositedUsd netValueUsd baseResultUsd incentivesUsd totalUsd returnOnEquityPct gaps { field message } }
        unresolved { reason registration { marketId positionIndex } }
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
    reports { chainId computedAt stale degraded failure { provider reason since } failed { address reason } }
    aggregates {
      wallets
      failedWallets
      all { count netValueUsd { usd unknown } totalUsd { usd unknown } }
      byStatus { status count netValueUsd { usd } }
      byMarket { chainId symbols isVault count netValueUsd { usd unknown } totalUsd { usd unknown } }
      byDriftKind { kind count high medium low }
      byUnresolvedReason { reason count }
    }
  }
}`,
    tier: 'ops',
  },
  {
    title: 'Ops: swap venues',
    query: `# Needs an ops key. Counts of the process that answers, since it started.
query OpsSwapVenues {
  ops {
    swapVenues { chainId venue asked quoted noRoute refused { reason count } chosen failedInSimulation }
  }
}`,
    tier: 'ops',
  },
];
