/** The smallest query that shows whether the key is an ops key. */
export const KNOCK = `query OpsKnock { ops { __typename } chains { chainId name explorerUrl } }`;

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
    aggregates(chainIds: $chainIds, filter: $filter) {
      walletCount failedWalletCount
      totals { ...Sums }
      byStatus { status totals { count } }
      byMarket { chainId marketId name isVault totals { ...Sums } }
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

export const ITEMS = `query OpsItems($chainIds: [ChainId!], $filter: PortfolioFilter, $orderBy: PortfolioOrder, $after: String, $first: Int!, $loops: Int!) {
  ops {
    page: items(chainIds: $chainIds, filter: $filter, orderBy: $orderBy, isWhole: true, first: $first, after: $after) {
      totalCount
      asOf
      pageInfo { hasNextPage endCursor }
      edges {
        cursor
        node {
          __typename
          ... on PortfolioLoop {
            ...Loop
          }
          ... on PortfolioVault {
            openedAt chainId wallet status vaultId leastLtvHeadroomPct stockToken { displaySymbol }
            equityPosition { stock { ltvPct ltvHeadroomPct } }
            loops(first: $loops) { totalCount nodes { ...Loop } }
            pnl { ...Result }
          }
        }
      }
    }
  }
}
fragment Loop on PortfolioLoop {
  openedAt
  position { chainId wallet marketId proxy positionIndex status collateralToken { displaySymbol } loanToken { displaySymbol } ltvPct ltvHeadroomPct }
  drift { kind severity }
  pnl { ...Result }
}
fragment Result on Pnl { netValueUsd totalUsd returnOnEquityPct }`;

/** Every leg by itself, with the values of the headroom chart. */
export const LEGS = `query OpsLegs($chainIds: [ChainId!], $filter: PortfolioFilter, $first: Int!) {
  ops {
    items(chainIds: $chainIds, filter: $filter, orderBy: { field: HEADROOM, direction: ASC }, first: $first) {
      nodes {
        ... on PortfolioLoop { position { ltvHeadroomPct } pnl { netValueUsd } }
        ... on PortfolioVault {
          equityPosition { stock { ltvHeadroomPct } }
          loops(first: 5) { nodes { pnl { netValueUsd } } }
          pnl { netValueUsd }
        }
      }
    }
  }
}`;

export const DRIFT = `query OpsDrift($chainIds: [ChainId!], $filter: PortfolioFilter, $first: Int!, $after: String) {
  ops {
    page: drift(chainIds: $chainIds, items: $filter, first: $first, after: $after) {
      totalCount
      asOf
      pageInfo { hasNextPage endCursor }
      nodes {
        kind severity chainId wallet positionIndex marketId message firstSeenAt lastSeenAt earlier { goneAt } suggestedSql
        onChain { status proxy readAt { blockNumber } collateralAmount debtAmount netValueUsd }
        inRegister { isOpen depositedUsd returnedUsd updatedAt closedAt }
      }
    }
  }
}`;

export const GONE = `query OpsDriftGone($chainIds: [ChainId!], $filter: DriftFilter, $first: Int!, $after: String) {
  ops {
    page: driftHistory(chainIds: $chainIds, filter: $filter, isGone: true, first: $first, after: $after) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes { kind severity chainId wallet positionIndex marketId firstSeenAt lastSeenAt goneAt }
    }
  }
}`;

/** The stress results of all open positions of one wallet together. */
export const STRESS = `query OpsStress($wallet: Address!, $chainIds: [ChainId!]) {
  wallet(address: $wallet, chainIds: $chainIds) {
    stress { positionCount recordedMoves { windowDays windowCount sampleCount doubtedSamples missingHours worstFallPct worstInterestPct worstLtvRisePct survived gaps { message } } rows { scenario changePct ltvPct headroomPct equityUsd netApyPct endsBy endedPositions } }
  }
}`;

/** The positions of one wallet with what is left before their liquidation. */
export const NEAR_LIMITS = `query OpsNearLimits($wallet: Address!, $chainIds: [ChainId!], $first: Int!) {
  wallet(address: $wallet, chainIds: $chainIds) {
    positions(first: $first) { nodes { ...Near } }
    equityPositions { yieldLoops { ...Near } }
  }
}
fragment Near on Position {
  chainId wallet positionIndex positionId marketId proxy status ltvHeadroomPct
  collateralToken { symbol: displaySymbol } loanToken { symbol: displaySymbol }
}`;

/** The options for one position that is above its safe LTV. */
export const ADVICE = `query OpsAdvice($wallet: Address!, $id: PositionId!) {
  position(wallet: $wallet, id: $id) {
    deleverageOptions {
      ... on DeleverageOptions {
        ltvPct safeLtvPct underWater { message }
        options {
          action affordability costUsd simulatedGas gasUsd steps { action amount isFull fromProceeds token { symbol: displaySymbol } }
          preview { position { ltvPct } } unavailable { message }
        }
      }
    }
  }
}`;

/** The past of all positions of one wallet: the loops of vaults and the stock legs too. */
export const PAST = `query OpsPast($wallet: Address!, $chainIds: [ChainId!], $positions: Int!, $events: Int!) {
  wallet(address: $wallet, chainIds: $chainIds) {
    positions(first: $positions) { totalCount nodes { ...Past } }
    equityPositions {
      strategyId stockToken { symbol } depositToken { symbol }
      stockLeg { chainId wallet history { ...Events } pnlSplit { ...Split } }
      yieldLoops { ...Past }
    }
  }
}
fragment Past on Position {
  chainId wallet positionIndex marketId proxy collateralToken { symbol: displaySymbol } loanToken { symbol: displaySymbol }
  history { ...Events } pnlSplit { ...Split }
}
fragment Events on PositionHistory {
  isComplete completeFrom { blockNumber blockAt } gaps { message }
  equityCurve(points: 24) { at equityAmount }
  events(last: $events) {
    totalCount
    nodes { kind at blockNumber txHash collateralChange debtChange paid { ...Both } received { ...Both } fee { ...Both } oraclePrice }
  }
}
fragment Both on PositionEventAmounts { collateralAmount loanAmount }
fragment Split on PnlSplit {
  paid { amount } received { amount } netValue { amount } yieldAndPrice { amount } borrowCost { amount } fees { amount }
  slippage { amount } liquidation { amount } paidByOthers { amount } result { amount } incentives { amount } total { amount } gaps { field message }
}`;
