import type { ExampleQuery } from '../../../schema/common/examples.ts';

export const RISK_EXAMPLES: readonly ExampleQuery[] = [
  {
    title: 'Bad days',
    query: `# What a deposit of 25,000 USD at five times comes to in bad days, and the worst that was recorded of the market.
query Stress($strategyId: StrategyId!) {
  strategy(id: $strategyId) {
    stress(leverage: "5", equityUsd: "25000") {
      dropToLiquidationPct
      lowestHealthyPrice
      rows { scenario changePct ltvPct headroomPct equityUsd netApyPct endsBy liquidationIn { reached days } }
      projections { path safe { reached days } liquidation { reached days } }
      recordedMoves { windowDays survived worstFallPct worstInterestPct worstLtvRisePct maxLeverage windowCount sampleCount missingHours }
      gaps { field reason message }
    }
  }
}`,
    variables: { strategyId: '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5' },
  },
  {
    title: 'Best for a payment',
    query: `# The best loops for 25,000 USDC that survive a fall of 5 %, net of entry and exit, and why the others are out.
query BestForPayment($payToken: Address!) {
  bestStrategies(amount: "25000", payToken: $payToken, maxDrawdownPct: "5", minExitUsd: "100000") {
    amountUsd
    holdingDays
    rankedCount
    excludedCount
    ranked { strategy { strategyId collateral { displaySymbol } loan { symbol } } leverage ltvPct netApyPct entryCostPct exitCostPct }
    excluded { strategy { strategyId collateral { displaySymbol } } exclusion value limit }
  }
}`,
    variables: { payToken: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' },
  },
];
