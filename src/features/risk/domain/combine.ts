import type { Market } from '../../../catalog/types.ts';
import { gap } from '../../../domain/freshness/gaps.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import { Decimal, fromUnits, HUNDRED, ZERO } from '../../../shared/decimal.ts';
import type { Reach, StressHolding, StressRow } from './types.ts';
import { STRESS_ENDS, type StressEnd } from './types.ts';

/** One scenario of several holdings at once, on which every one of them is moved. */
export interface CombinedRow
  extends Pick<StressRow, 'scenario' | 'changePct' | 'endsBy' | 'toLiquidation' | 'netApyPct'> {
  readonly ltvPct: Decimal | null | undefined;
  /** The least of them. */
  readonly headroomPct: Decimal | null | undefined;
  /** Of several holdings the sum: one under water counts as 0, because its debt is not owed beyond its collateral. */
  readonly equityUsd: Decimal | undefined;
  /** How many of them can be liquidated. */
  readonly endedPositions: number;
  /** The row itself, where there is one holding only. */
  readonly single?: (StressRow & { readonly market: Market }) | undefined;
  readonly gaps: readonly Gap[];
}

/** Combine the rows of one scenario, one per holding in their order. A value that is unknown for one holding is unknown for the sum. */
export function combineRows(holdings: readonly StressHolding[], rows: readonly StressRow[]): CombinedRow {
  const [first] = rows;
  const [holding] = holdings;
  if (!first || !holding) throw new RangeError('a scenario needs at least one holding');
  const worths = holdings.map((held, i) => usdOf(held, rows[i]?.equity, rows[i]?.loanUsd));
  const endedPositions = rows.filter(({ endsBy }) => endsBy === 'LIQUIDATION').length;
  if (rows.length === 1) {
    const [equityUsd] = worths;
    const gaps = [...first.gaps, ...missingUsd(first.gaps, equityUsd)];
    return { ...first, equityUsd, endedPositions, single: { ...first, market: holding.market }, gaps };
  }
  const combined = {
    changePct:
      first.changePct && rows.every((row) => row.changePct?.eq(first.changePct ?? ZERO)) ? first.changePct : null,
    ltvPct: ltvOf(holdings, rows),
    headroomPct: leastOf(rows.map((row) => row.headroomPct)),
    equityUsd: sum(worths.map((worth) => worth && Decimal.max(worth, 0))),
    netApyPct: meanApy(holdings, rows),
    endsBy: worstOf(rows.map((row) => row.endsBy)),
    toLiquidation: rows.every((row) => row.toLiquidation)
      ? soonestOf(rows.flatMap((row) => row.toLiquidation ?? []))
      : undefined,
  };
  return {
    scenario: first.scenario,
    ...combined,
    endedPositions,
    gaps: gapsOf(rows, combined),
  };
}

/** The first of the limits that are reached. */
export function soonestOf(reaches: readonly Reach[]): Reach {
  const already = reaches.find(({ state }) => state === 'ALREADY');
  if (already) return already;
  const days = reaches.flatMap((reach) => reach.days ?? []);
  return days.length === 0 ? { state: 'NEVER' } : { state: 'IN_DAYS', days: Math.min(...days) };
}

function worstOf(ends: readonly (StressEnd | undefined)[]): StressEnd | undefined {
  if (ends.includes('LIQUIDATION')) return 'LIQUIDATION';
  return ends.includes(undefined) ? undefined : STRESS_ENDS.find((end) => ends.includes(end));
}

function usdOf({ market }: StressHolding, units: bigint | null | undefined, loanUsd: Decimal | undefined) {
  return units == null || !loanUsd ? undefined : fromUnits(units, market.loan.decimals).times(loanUsd);
}

function sum(values: readonly (Decimal | undefined)[]): Decimal | undefined {
  return values.reduce<Decimal | undefined>((total, value) => total && value && total.plus(value), ZERO);
}

function ltvOf(holdings: readonly StressHolding[], rows: readonly StressRow[]): Decimal | null | undefined {
  const debt = sum(holdings.map((held, i) => usdOf(held, rows[i]?.debt, rows[i]?.loanUsd)));
  const value = sum(holdings.map((held, i) => usdOf(held, rows[i]?.collateralValue, rows[i]?.loanUsd)));
  if (!debt || !value) return undefined;
  return value.isZero() ? null : debt.times(HUNDRED).div(value);
}

function leastOf(values: readonly (Decimal | null)[]): Decimal | null {
  const known = values.flatMap((value) => value ?? []);
  return known.length === values.length ? Decimal.min(...known) : null;
}

/** Weighted by the equity at the oracle's price; not applicable where one of them, or all together, has none. */
function meanApy(holdings: readonly StressHolding[], rows: readonly StressRow[]): Decimal | null | undefined {
  if (rows.some(({ netApyPct }) => netApyPct === null)) return null;
  const weights = rows.map((row, i) => {
    const held = holdings[i];
    return held && usdOf(held, row.collateralValue - row.debt, row.loanUsd);
  });
  const total = sum(weights);
  const earned = sum(rows.map((row, i) => (row.netApyPct ? weights[i]?.times(row.netApyPct) : undefined)));
  if (!total || !earned) return undefined;
  return total.gt(0) ? earned.div(total) : null;
}

function missingUsd(gaps: readonly Gap[], equityUsd: Decimal | undefined): readonly Gap[] {
  if (equityUsd || gaps.some(({ field }) => field === 'equityUsd')) return [];
  return [gap('equityUsd', 'NOT_MEASURED', 'The price of a loan token is not known.')];
}

type Combined = Omit<CombinedRow, 'scenario' | 'endedPositions' | 'single' | 'gaps'>;

/** Explain the fields that are empty: as one of the positions does, else by the positions together. */
function gapsOf(rows: readonly StressRow[], { toLiquidation: liquidationIn, ...combined }: Combined): readonly Gap[] {
  const known = rows.flatMap(({ gaps }) => gaps);
  return Object.entries({ ...combined, liquidationIn }).flatMap(([field, value]) => {
    if (value != null) return [];
    const missing = gap(field, 'NOT_MEASURED', 'It is not known of one of the positions, or differs between them.');
    return [known.find((found) => found.field === field) ?? missing];
  });
}
