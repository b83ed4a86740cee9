import { gap } from '../../../domain/freshness/gaps.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import { formatPrice, wholePrice } from '../../../domain/position/valuation.ts';
import { Decimal, formatPct, formatUnitsPlain, toFixedHalfUp } from '../../../shared/decimal.ts';
import { combineRows, soonestOf } from './combine.ts';
import { type LimitReach, projectReach } from './drift.ts';
import { dropToLiquidationPct, lowestHealthyPrice } from './liquidation.ts';
import { stressRows, whyNoRate } from './rows.ts';
import type { Reach, StressHolding } from './types.ts';
import { RATE_PATHS, type RatePath, type ReachState, type StressEnd, type StressScenario } from './types.ts';

/** A projection with formatted values. */
export interface FormattedReach {
  readonly state: ReachState;
  /** 1 place; `null` unless `IN_DAYS`. */
  readonly days: string | null;
}

/** One row with formatted values; `null` has its reason in the gaps of the table, at `rows.<index>.<field>`. */
export interface FormattedStressRow {
  readonly scenario: StressScenario;
  readonly changePct: string | null;
  readonly oraclePrice: string | null;
  readonly ltvPct: string | null;
  readonly exactLtvPct: string | null;
  readonly headroomPct: string | null;
  readonly equity: string | null;
  readonly equityUsd: string | null;
  readonly netApyPct: string | null;
  readonly endsBy: StressEnd | null;
  readonly endedPositions: number;
  readonly liquidationIn: FormattedReach | null;
}

/** When the LTV reaches its limits along one path of the borrow rate. */
export interface FormattedProjection {
  readonly path: RatePath;
  readonly safe: FormattedReach | null;
  readonly max: FormattedReach | null;
  readonly liquidation: FormattedReach | null;
}

export interface StressTable {
  /** Number of positions in it, and of open ones that cannot be valued now. */
  readonly positions: number;
  readonly uncounted: number;
  readonly dropToLiquidationPct: string | null;
  /** Loan tokens per collateral token; one unit of the oracle's price below it the holding can be liquidated. */
  readonly lowestHealthyPrice: string | null;
  readonly rows: readonly FormattedStressRow[];
  readonly projections: readonly FormattedProjection[];
  readonly gaps: readonly Gap[];
}

const LTV_PLACES = 18;
const NO_DEBT = 'Without debt, or with worthless collateral, there is no price of liquidation.';
const SEVERAL = 'The positions are on several markets.';

/** Make the table of one holding, or of several together. @param uncounted open positions that cannot be valued now */
export function stressTable(holdings: readonly StressHolding[], uncounted = 0): StressTable {
  const gaps: Gap[] = holdings.flatMap((holding) => holding.gaps);
  if (uncounted > 0)
    gaps.push(gap('positionCount', 'NOT_MEASURED', `${uncounted} open positions cannot be valued now.`));
  const [single] = holdings.length === 1 ? holdings : [];
  const tables = holdings.map(stressRows);
  const rows = (tables[0] ?? []).map((_row, i) =>
    formatRow(
      combineRows(
        holdings,
        tables.flatMap((table) => table[i] ?? []),
      ),
      `rows.${i}.`,
      gaps,
    ),
  );
  const drops = holdings.flatMap((holding) => dropToLiquidationPct(holding) ?? []);
  if (drops.length === 0) gaps.push(gap('dropToLiquidationPct', 'NONE', NO_DEBT));
  return {
    positions: holdings.length,
    uncounted,
    dropToLiquidationPct: drops.length === 0 ? null : formatPct(Decimal.min(...drops)),
    lowestHealthyPrice: priceOf(single, gaps),
    rows,
    projections: RATE_PATHS.map((path, i) => projectionOf(holdings, path, `projections.${i}.`, gaps)),
    gaps: gaps.filter(({ field }, i) => gaps.findIndex((other) => other.field === field) === i),
  };
}

function priceOf(holding: StressHolding | undefined, gaps: Gap[]): string | null {
  const lowest = holding && lowestHealthyPrice(holding);
  if (lowest != null && holding) return wholePrice(lowest, holding.market).toFixed();
  gaps.push(
    holding ? gap('lowestHealthyPrice', 'NONE', NO_DEBT) : gap('lowestHealthyPrice', 'NOT_APPLICABLE', SEVERAL),
  );
  return null;
}

function formatRow(row: ReturnType<typeof combineRows>, prefix: string, gaps: Gap[]): FormattedStressRow {
  gaps.push(...row.gaps.map((missing) => ({ ...missing, field: `${prefix}${missing.field}` })));
  const { single, equityUsd, changePct, ltvPct, headroomPct, netApyPct, toLiquidation } = row;
  if (!single)
    for (const field of ['oraclePrice', 'exactLtvPct', 'equity'])
      gaps.push(gap(`${prefix}${field}`, 'NOT_APPLICABLE', SEVERAL));
  return {
    scenario: row.scenario,
    changePct: changePct ? formatPct(changePct) : null,
    oraclePrice: single ? formatPrice(wholePrice(single.price, single.market)) : null,
    ltvPct: ltvPct ? formatPct(ltvPct) : null,
    exactLtvPct: single?.ltvPct ? single.ltvPct.toFixed(LTV_PLACES, Decimal.ROUND_UP) : null,
    headroomPct: headroomPct ? formatPct(headroomPct) : null,
    equity: single?.equity == null ? null : formatUnitsPlain(single.equity, single.market.loan.decimals),
    equityUsd: equityUsd ? toFixedHalfUp(equityUsd, 2) : null,
    netApyPct: netApyPct ? formatPct(netApyPct) : null,
    endsBy: row.endsBy ?? null,
    endedPositions: row.endedPositions,
    liquidationIn: formatReach(toLiquidation),
  };
}

function projectionOf(
  holdings: readonly StressHolding[],
  path: RatePath,
  prefix: string,
  gaps: Gap[],
): FormattedProjection {
  const found = holdings.map((holding) => projectReach(holding, path));
  const known = found.flatMap((reach) => reach ?? []);
  const isKnown = known.length === found.length && known.length > 0;
  const soonest = (limit: keyof LimitReach): FormattedReach | null => {
    if (isKnown) return formatReach(soonestOf(known.map((reach) => reach[limit])));
    const unknown = holdings.find((_holding, i) => !found[i]);
    gaps.push(
      unknown
        ? gap(`${prefix}${limit}`, 'NOT_MEASURED', whyNoRate(unknown))
        : gap(`${prefix}${limit}`, 'NOT_APPLICABLE', 'There is no open position.'),
    );
    return null;
  };
  return { path, safe: soonest('safe'), max: soonest('max'), liquidation: soonest('liquidation') };
}

/** Format when a limit is reached: days with 1 place. */
export function formatReach(reach: Reach | undefined): FormattedReach | null {
  if (!reach) return null;
  return { state: reach.state, days: reach.days === undefined ? null : new Decimal(reach.days.toFixed(6)).toFixed(1) };
}
