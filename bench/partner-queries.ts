/** Positions of many wallets. */
export const WALLETS = `query Wallets($addresses: [Address!]!) {
  wallets(addresses: $addresses, chainIds: [1]) {
    address
    positions { nodes { positionId strategyId status ltvPct ltvHeadroomPct netValueUsd leverageApyPct liquidationPrice } }
  }
}`;

/** A page of portfolios. */
export const PORTFOLIOS = `{
  ops {
    portfolios(first: 50, filter: { chainIds: [1] }) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes {
        wallet readAt { blockAt } header { openCount totalDepositedUsd } pnl { totalUsd netValueUsd }
        items(statuses: [OPEN], first: 10) { nodes { ... on PortfolioLoop { position { strategyId status netValueUsd ltvPct ltvHeadroomPct } drift { kind severity } } } }
      }
    }
  }
}`;
