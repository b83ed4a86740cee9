import { borrowApyPctFromRate } from '../../../domain/apy/rates.ts';
import { gap } from '../../../domain/freshness/gaps.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import { collateralValueInLoan } from '../../../domain/leverage/flash-loan.ts';
import { exactApyPctAtLtv } from '../../../domain/leverage/leveraged-apy.ts';
import { valueLtvPct } from '../../../domain/position/valuation.ts';
import { Decimal, HUNDRED } from '../../../shared/decimal.ts';
import { type Exit, exitOf, movedBy } from './apply-scenario.ts';
import { projectReach } from './drift.ts';
import { canBeLiquidated } from './liquidation.ts';
import { SCENARIOS } from './scenarios.ts';
import type { Reach, Scenario, StressEnd, StressHolding, StressRow } from './types.ts';

/** Compute the table of a holding: one row per scenario, in their order. */
export function stressRows(holding: StressHolding): readonly StressRow[] {
  return SCENARIOS.map((scenario) => stressRow(holding, scenario));
}

/** Compute one row. Each scenario moves one thing; everything else stays as it is. */
export function stressRow(holding: StressHolding, scenario: Scenario): StressRow {
  const moved = movedBy(holding, scenario);
  const { debt } = holding;
  const collateralValue = collateralValueInLoan(holding.collateral, moved.price);
  const ltvPct = valueLtvPct(debt, collateralValue);
  const exit = exitOf(holding, scenario, collateralValue);
  const gaps: Gap[] = [...exit.gaps];
  const toLiquidation = reachLiquidation(moved, scenario);
  const endsBy = endOf(moved, exit, toLiquidation);
  const netApyPct = netApyOf(moved, ltvPct, gaps);
  const unknownRate = whyNoRate(moved);
  if (!toLiquidation) gaps.push(gap('liquidationIn', 'NOT_MEASURED', unknownRate));
  if (!endsBy && exit.gaps.length === 0) gaps.push(gap('endsBy', 'NOT_MEASURED', unknownRate));
  if (ltvPct === null)
    for (const field of ['ltvPct', 'exactLtvPct', 'headroomPct'])
      gaps.push(gap(field, 'NOT_APPLICABLE', 'The oracle values the collateral at zero.'));
  return {
    scenario: scenario.scenario,
    changePct: exit.changePct === undefined ? changeOf(scenario, gaps) : exit.changePct,
    price: moved.price,
    collateralValue,
    debt,
    ltvPct,
    headroomPct: ltvPct && holding.limits.liquidationLtvPct.minus(ltvPct),
    equity: exit.proceeds === undefined ? collateralValue - debt : exit.proceeds && exit.proceeds.value - debt,
    loanUsd: moved.loanUsd,
    netApyPct,
    endsBy,
    toLiquidation,
    gaps,
  };
}

function changeOf({ scenario, changePct }: Scenario, gaps: Gap[]): Decimal | null | undefined {
  if (changePct !== undefined) return new Decimal(changePct);
  if (scenario === 'EXIT_AT_MEASURED_SLIPPAGE') return undefined;
  gaps.push(gap('changePct', 'NOT_APPLICABLE', 'The scenario is not a change by a percentage.'));
  return null;
}

/** At constant rates; at full utilization along the rising curve. */
function reachLiquidation(moved: StressHolding, { scenario }: Scenario): Reach | undefined {
  return projectReach(moved, scenario === 'FULL_UTILIZATION' ? scenario : 'TODAYS_RATE')?.liquidation;
}

/** Why the rates of a holding, or of a scenario of it, are not known. */
export function whyNoRate({ noRates }: StressHolding): string {
  return noRates ?? 'A rate of the market is not known, or its rate model is not the adaptive curve.';
}

function netApyOf(moved: StressHolding, ltvPct: Decimal | null, gaps: Gap[]): Decimal | null | undefined {
  const { rates } = moved;
  if (ltvPct === null || ltvPct.gte(HUNDRED)) {
    gaps.push(gap('netApyPct', 'NOT_APPLICABLE', 'The debt is at least the collateral value: there is no equity.'));
    return null;
  }
  if (!rates) {
    gaps.push(gap('netApyPct', 'NOT_MEASURED', whyNoRate(moved)));
    return undefined;
  }
  const netBorrowPct = borrowApyPctFromRate(rates.borrowRate).minus(rates.borrowIncentivePct);
  return exactApyPctAtLtv(rates.effectiveCollateralApyPct, netBorrowPct, ltvPct);
}

/** The end of the holding: liquidation before all, then an exit that does not repay the debt, then the drift of the LTV. */
function endOf(moved: StressHolding, exit: Exit, reach: Reach | undefined): StressEnd | undefined {
  if (canBeLiquidated(moved, moved.price)) return 'LIQUIDATION';
  if (exit.gaps.some(({ field }) => field === 'endsBy')) return undefined;
  if (exit.proceeds === null || exit.proceeds?.repays === false) return 'NO_EXIT';
  if (!reach) return undefined;
  return reach.state === 'NEVER' ? 'NOTHING' : 'CARRY';
}
