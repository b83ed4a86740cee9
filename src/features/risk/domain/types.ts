import type { Market } from '../../../catalog/types.ts';
import type { ExitSweep } from '../../../domain/facts.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import type { LtvLimits } from '../../../domain/leverage/limits.ts';
import type { Decimal } from '../../../shared/decimal.ts';

/** The change that a row of a stress table assumes. */
export type StressScenario =
  | 'TODAY'
  | 'COLLATERAL_PRICE'
  | 'LOAN_PRICE'
  | 'BORROW_RATE'
  | 'FULL_UTILIZATION'
  | 'MARKET_BELOW_ORACLE'
  | 'EXIT_AT_MEASURED_SLIPPAGE'
  | 'NO_EXIT';
/** The ways in which a position ends in a scenario, the worst first. */
export const STRESS_ENDS = ['LIQUIDATION', 'NO_EXIT', 'CARRY', 'NOTHING'] as const;
export type StressEnd = (typeof STRESS_ENDS)[number];
/** Borrow rates that the drift of an LTV is projected with. */
export const RATE_PATHS = ['TODAYS_RATE', 'CONSTANT_UTILIZATION', 'FULL_UTILIZATION'] as const;
export type RatePath = (typeof RATE_PATHS)[number];
/** Whether and when a drifting LTV reaches a limit. */
export type ReachState = 'ALREADY' | 'IN_DAYS' | 'NEVER';

/** Yield and cost of a holding now. */
export interface StressRates {
  /** Growth of the collateral's own price, percent a year: its APY without incentives. */
  readonly collateralApyPct: Decimal;
  /** The APY with the incentive of the collateral. */
  readonly effectiveCollateralApyPct: Decimal;
  /** Incentive paid on the debt, percent a year; 0 also while it is not known, which a gap tells. */
  readonly borrowIncentivePct: Decimal;
  /** Per second in WAD. */
  readonly borrowRate: bigint;
  /** State of the adaptive curve, WAD; absent = the market has another rate model. */
  readonly curve?: { readonly utilization: bigint; readonly rateAtTarget: bigint } | undefined;
}

/** Collateral and debt of one account on one market: the only input of a stress table. */
export interface StressHolding {
  readonly market: Market;
  /** Base units. */
  readonly collateral: bigint;
  /** Loan base units, with interest, rounded up. */
  readonly debt: bigint;
  /** The oracle's price, scaled by 1e36. */
  readonly price: bigint;
  /** Whether the price is known to be a redemption rate, which no traded price moves. */
  readonly isRate: boolean;
  readonly limits: LtvLimits;
  /** Absent while a rate is not known. */
  readonly rates?: StressRates | undefined;
  /** Why it is not, a sentence; absent: it has never been measured. */
  readonly noRates?: string | undefined;
  /** USD per whole loan token; absent = not known. */
  readonly loanUsd?: Decimal | undefined;
  /** Absent = not measured. */
  readonly sweep?: ExitSweep | undefined;
  /** Time from which the future is counted, ms. */
  readonly nowMs: number;
  /** Gaps of the inputs, with the names of the table's fields. */
  readonly gaps: readonly Gap[];
}

/** When a drifting LTV reaches a limit: `ALREADY` beyond it, `NEVER` at these rates. */
export interface Reach {
  readonly state: ReachState;
  /** Present exactly for `IN_DAYS`. */
  readonly days?: number | undefined;
}

/** One scenario as data: factors and shares are percent. */
export interface Scenario {
  readonly scenario: StressScenario;
  /** Signed change in percent; absent where the scenario has none, or where it is measured. */
  readonly changePct?: number | undefined;
}

/** The result of one scenario for a holding. `undefined` = not known, `null` = not applicable; reasons in `gaps`. */
export interface StressRow {
  readonly scenario: StressScenario;
  readonly changePct: Decimal | null | undefined;
  /** The oracle's price in the scenario, scaled by 1e36. */
  readonly price: bigint;
  /** Loan base units, at the oracle's price. */
  readonly collateralValue: bigint;
  readonly debt: bigint;
  /** Percent at full precision. */
  readonly ltvPct: Decimal | null;
  /** Points to the liquidation LTV, at full precision. */
  readonly headroomPct: Decimal | null;
  /** Value beyond the debt, loan base units: at the oracle's price, in an exit by its proceeds. Negative under water. */
  readonly equity: bigint | null | undefined;
  /** USD per whole loan token in the scenario. */
  readonly loanUsd: Decimal | undefined;
  /** Percent a year on the equity. */
  readonly netApyPct: Decimal | null | undefined;
  readonly endsBy: StressEnd | undefined;
  /** When the LTV reaches the liquidation LTV at the scenario's price and rate. */
  readonly toLiquidation: Reach | undefined;
  /** Gaps of the fields of the row, without a prefix. */
  readonly gaps: readonly Gap[];
}

/** Why a strategy is not among the best ones of a request. */
export type BestExclusion =
  | 'NOT_LISTED'
  | 'EQUITY_VAULT'
  | 'PAY_TOKEN'
  | 'MATURITY'
  | 'PRICE_UNKNOWN'
  | 'EXIT_UNKNOWN'
  | 'NO_ROUTE'
  | 'EXIT_TOO_SMALL'
  | 'DRAWDOWN'
  | 'LIQUIDITY';
