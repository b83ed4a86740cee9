import { AdaptiveCurveIrmLib, MathLib } from '@morpho-org/blue-sdk';
import { borrowApyPctFromRate } from '../../../domain/apy/rates.ts';
import { EXIT_SIZES_USD } from '../../../domain/facts.ts';
import { gap } from '../../../domain/freshness/gaps.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import { collateralValueInLoan } from '../../../domain/leverage/flash-loan.ts';
import { exactApyPctAtLtv } from '../../../domain/leverage/leverage.ts';
import { valueLtvPct } from '../../../domain/position/valuation.ts';
import { lossOfSale } from '../../../domain/strategy/exit.ts';
import { Decimal, fromUnits, HUNDRED } from '../../../shared/decimal.ts';
import { projectReach } from './drift.ts';
import { canBeLiquidated } from './liquidation.ts';
import { SCENARIOS } from './scenarios.ts';
import type { Reach, Scenario, StressEnd, StressHolding, StressRates, StressRow } from './types.ts';

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

/** The holding as the scenario leaves it, before any exit. */
function movedBy(holding: StressHolding, { scenario, changePct = 0 }: Scenario): StressHolding {
  const { price, loanUsd, rates } = holding;
  if (scenario === 'COLLATERAL_PRICE') return { ...holding, price: scaled(price, 100 + changePct, 100) };
  if (scenario === 'LOAN_PRICE') {
    return {
      ...holding,
      price: loanMove(holding, changePct),
      loanUsd: loanUsd?.times(100 + changePct).div(HUNDRED),
    };
  }
  if (scenario === 'BORROW_RATE' && rates) {
    const borrowRate = scaled(rates.borrowRate, 100 + changePct, 100);
    return { ...holding, rates: { ...rates, borrowRate } };
  }
  if (scenario === 'FULL_UTILIZATION') return { ...holding, rates: rates && atFullUtilization(rates) };
  return holding;
}

/**
 * The oracle's price after a move of the loan token against the USD price of the collateral. An oracle of a redemption rate
 * does not see it. Of another one it is not known whether its price has the loan token in it, so the worse case is assumed: it
 * follows a rise, and not a fall.
 */
function loanMove({ price, isRate }: StressHolding, changePct: number): bigint {
  return !isRate && changePct > 0 ? scaled(price, 100, 100 + changePct) : price;
}

/** The curve's rate once nothing is left to borrow, before it starts to rise. */
function atFullUtilization({ curve, ...rates }: StressRates): StressRates | undefined {
  if (!curve) return undefined;
  const { endBorrowRate } = AdaptiveCurveIrmLib.getBorrowRate(MathLib.WAD, curve.rateAtTarget, 0n);
  return { ...rates, curve, borrowRate: endBorrowRate };
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

/** How a scenario sells the collateral; `proceeds` `null` = not at all, absent = it does not. */
interface Exit {
  readonly proceeds?: { readonly value: bigint; readonly repays: boolean } | null | undefined;
  readonly changePct?: Decimal | null | undefined;
  /** Present while the proceeds of an exit are not known. */
  readonly gaps: readonly Gap[];
}

function exitOf(holding: StressHolding, { scenario, changePct = 0 }: Scenario, value: bigint): Exit {
  if (scenario === 'MARKET_BELOW_ORACLE') return soldAt(holding, value, new Decimal(changePct));
  if (scenario === 'NO_EXIT') {
    const message = 'The collateral cannot be sold: the equity cannot be withdrawn.';
    return { proceeds: null, gaps: [gap('equity', 'NONE', message), gap('equityUsd', 'NONE', message)] };
  }
  if (scenario !== 'EXIT_AT_MEASURED_SLIPPAGE') return { gaps: [] };
  return exitBySweep(holding, value);
}

function soldAt({ debt }: StressHolding, value: bigint, changePct: Decimal): Exit {
  const kept = BigInt(HUNDRED.plus(changePct).shiftedBy(16).integerValue(Decimal.ROUND_DOWN).toFixed(0));
  const received = (value * kept) / MathLib.WAD;
  return { proceeds: { value: received, repays: received >= debt }, changePct, gaps: [] };
}

const UNMEASURED_FIELDS = ['changePct', 'equity', 'equityUsd', 'endsBy'];

function exitBySweep(holding: StressHolding, value: bigint): Exit {
  const { market, sweep, loanUsd } = holding;
  const unknown = (message: string): Exit => ({
    proceeds: null,
    gaps: UNMEASURED_FIELDS.map((field) => gap(field, 'NOT_MEASURED', message)),
  });
  const none = (message: string): Exit => ({
    proceeds: null,
    changePct: null,
    gaps: ['changePct', 'equity', 'equityUsd'].map((field) => gap(field, 'NONE', message)),
  });
  if (market.collateral.noSwapRoute) return none('The collateral has no swap route.');
  if (!sweep) return unknown('The exit of the collateral has not been measured.');
  if (!loanUsd) return unknown('The size of the exit in USD is not known: the loan token has no price.');
  const usd = fromUnits(value, market.loan.decimals).times(loanUsd);
  const lostPct = lossOfSale(sweep, usd);
  if (lostPct === undefined)
    return unknown(`The exit is larger than the largest measured one of ${EXIT_SIZES_USD.at(-1)} USD.`);
  if (lostPct === null) return none(`There is no route for a sale of ${usd.toFixed(0)} USD.`);
  return soldAt(holding, value, lostPct.negated());
}

/** The end of the holding: liquidation before all, then an exit that does not repay the debt, then the drift of the LTV. */
function endOf(moved: StressHolding, exit: Exit, reach: Reach | undefined): StressEnd | undefined {
  if (canBeLiquidated(moved, moved.price)) return 'LIQUIDATION';
  if (exit.gaps.some(({ field }) => field === 'endsBy')) return undefined;
  if (exit.proceeds === null || exit.proceeds?.repays === false) return 'NO_EXIT';
  if (!reach) return undefined;
  return reach.state === 'NEVER' ? 'NOTHING' : 'CARRY';
}

/** Multiply by a fraction of whole numbers, rounded down: a price is never assumed to be higher than it is. */
function scaled(value: bigint, numerator: number, denominator: number): bigint {
  return (value * BigInt(numerator)) / BigInt(denominator);
}
