import type { Scenario } from './types.ts';

const FALLS_PCT = [1, 2, 3, 5, 7, 10, 15, 20, 25, 30];
const PEG_MOVES_PCT = [-10, -5, -2, -1, 1, 2, 5, 10];
const MARKET_GAPS_PCT = [1, 2, 3, 5, 7, 10];

/** The rows of every stress table, in their order. */
export const SCENARIOS: readonly Scenario[] = [
  { scenario: 'TODAY' },
  ...FALLS_PCT.map((pct) => ({ scenario: 'COLLATERAL_PRICE', changePct: -pct }) as const),
  ...PEG_MOVES_PCT.map((changePct) => ({ scenario: 'LOAN_PRICE', changePct }) as const),
  // Twice and four times the rate.
  { scenario: 'BORROW_RATE', changePct: 100 },
  { scenario: 'BORROW_RATE', changePct: 300 },
  { scenario: 'FULL_UTILIZATION' },
  ...MARKET_GAPS_PCT.map((pct) => ({ scenario: 'MARKET_BELOW_ORACLE', changePct: -pct }) as const),
  { scenario: 'EXIT_AT_MEASURED_SLIPPAGE' },
  { scenario: 'NO_EXIT' },
];
