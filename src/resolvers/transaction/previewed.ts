import type { Market } from '../../catalog/types.ts';
import type { Gap } from '../../domain/freshness/types.ts';
import { formatHealthFactor } from '../../domain/position/valuation.ts';
import { formatPct, formatUnitsPlain, fromUnits } from '../../shared/decimal.ts';
import {
  type AmountBound,
  type AmountRange,
  equityValueOf,
  type Liquidation,
  liquidationOf,
  ltvPctOf,
  type PlannedSwap,
  type PositionState,
} from '../../transactions/index.ts';
import { absences, type Estimate } from './estimate.ts';

/** What every preview has beside an estimate. */
export interface PreviewView extends Estimate {
  readonly before: SideView | null;
  readonly after: SideView | null;
  readonly amounts: AmountRange | null;
  /** When the oldest quote was given, ms; `null` = nothing is swapped. */
  readonly quotesAsOfMs: number | null;
  readonly note: string;
}

/** One lending position before or after an action. */
export interface SideView {
  readonly market: Market;
  readonly state: PositionState;
  /** Of the oracle, scaled by 1e36. */
  readonly price: bigint;
  /** Percent with 2 places. */
  readonly apyPct: string | null;
}

/** The first sentence of a preview. */
export const PREVIEW_NOTE = 'A preview on current prices; building takes fresh quotes.';

/** Why an LTV is absent. */
export const WORTHLESS = 'The oracle says that the collateral is worth nothing.';

export function healthFactorText({ state, price, market }: SideView): string | null {
  return formatHealthFactor(state, price, market);
}

export function sideLtvText({ state, price }: SideView): string | null {
  const ltv = ltvPctOf(state, price);
  return ltv ? formatPct(ltv) : null;
}

export function sideEquityText({ state, price, market }: SideView): string {
  return fromUnits(equityValueOf(state, price), market.loan.decimals).toFixed();
}

export function sideLiquidation({ state, price, market }: SideView): Liquidation | null {
  return liquidationOf(market, state, price) ?? null;
}

/** An end of the range in whole tokens; `null` = see the gaps. */
export function boundText(bound: AmountBound, { token }: AmountRange): string | null {
  return typeof bound === 'bigint' ? formatUnitsPlain(bound, token.decimals) : null;
}

/** The time of the oldest quote; `null` = nothing is swapped. */
export function quotesAsOf(swaps: readonly PlannedSwap[]): number | null {
  const times = swaps.flatMap(({ quote }) => quote.quotedAtMs ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

/** Why a part of a preview is not there. */
export interface PreviewReasons {
  readonly before: string;
  readonly after: string;
  readonly amounts: string;
}

/** List the gaps of the parts that every preview has. */
export function previewGaps(
  { before, after, amounts, quotesAsOfMs }: Pick<PreviewView, 'before' | 'after' | 'amounts' | 'quotesAsOfMs'>,
  reasons: PreviewReasons,
): readonly Gap[] {
  return [
    ...absences(
      ['before', before, 'NOT_APPLICABLE', reasons.before],
      ['after', after, 'NOT_APPLICABLE', reasons.after],
      ['amounts', amounts, 'NOT_APPLICABLE', reasons.amounts],
      ['quotesAsOf', quotesAsOfMs, 'NOT_APPLICABLE', 'Nothing is swapped.'],
    ),
    ...(before ? sideGaps('before.', before) : []),
    ...(after ? sideGaps('after.', after) : []),
    ...(amounts ? [...boundGaps('smallest', amounts), ...boundGaps('largest', amounts)] : []),
  ];
}

function sideGaps(prefix: string, side: SideView): readonly Gap[] {
  const owes = 'The position owes nothing.';
  return absences(
    [`${prefix}ltvPct`, sideLtvText(side), 'NOT_APPLICABLE', WORTHLESS],
    [`${prefix}healthFactor`, healthFactorText(side), 'NONE', owes],
    [
      `${prefix}apyPct`,
      side.apyPct,
      'NOT_MEASURED',
      'The rates are not measured, the LTV is 100 % or more, or a deposit joins a vault that is held.',
    ],
    [`${prefix}liquidation`, sideLiquidation(side), 'NONE', owes],
  );
}

function boundGaps(end: 'smallest' | 'largest', amounts: AmountRange): readonly Gap[] {
  const text = boundText(amounts[end], amounts);
  return amounts[end] === 'unlimited'
    ? absences([`amounts.${end}`, text, 'NONE', 'Only the balance of the wallet limits it.'])
    : absences([`amounts.${end}`, text, 'NOT_MEASURED', 'It depends on quotes for other amounts.']);
}
