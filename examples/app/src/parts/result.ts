import type { Position, RowAnswer } from '../client.ts';
import { amount, leverage, ltv, percent, readable, signedPercent, signedUsd, usd } from '../copy/index.ts';
import { el, facts, type Row } from '../dom.ts';
import { type LtvLimits, ltvBar } from './ltv-bar.ts';

type Simulated = RowAnswer<'manageSimulate'>;
export type Side = NonNullable<Simulated['before']>;
type Cost = NonNullable<Simulated['costs']>[number];
type Issue = NonNullable<Simulated['issues']>[number];

/** Symbols of a position. */
export interface Pair {
  readonly collateral: string;
  readonly loan: string;
}

/** Leverage by an LTV in percent; `undefined` = unknown, or beyond all bounds. */
export function leverageAt(ltvPct: string | null | undefined): number | undefined {
  if (ltvPct === undefined) return undefined;
  const rest = 1 - Number(ltvPct ?? 0) / 100;
  return rest > 0 ? Math.round(10 / rest) / 10 : undefined;
}

/** The highest leverage, in tenths, whose LTV is not above a limit in percent. */
export const highestLeverage = (ltvPct: string): number => Math.floor(10 / (1 - Number(ltvPct) / 100) + 1e-9) / 10;

/** A position before and after an action, side by side. */
export function compared(before: Side | undefined, after: Side, pair: Pair, limits: LtvLimits): HTMLElement {
  const rows: readonly (readonly [string, (side: Side) => string])[] = [
    ['LTV', ({ ltv: value }) => (value === null ? 'none' : ltv(value))],
    ['Leverage', (side) => leverage(leverageAt(side.ltv))],
    ['Net APY', ({ apyPct }) => percent(apyPct)],
    ['Fall to liquidation', ({ liquidation }) => (liquidation === null ? 'none' : percent(liquidation?.dropPct))],
    ['Collateral', ({ collateralAmount }) => amount(collateralAmount, pair.collateral)],
    ['Debt', ({ debtAmount }) => amount(debtAmount, pair.loan)],
  ];
  return el(
    'div',
    {},
    el(
      'table',
      { class: 'compare' },
      el(
        'thead',
        {},
        el('tr', {}, el('td', {}), el('th', { scope: 'col' }, 'Now'), el('th', { scope: 'col' }, 'After')),
      ),
      el(
        'tbody',
        {},
        ...rows.map(([name, text]) =>
          el(
            'tr',
            {},
            el('th', { scope: 'row' }, name),
            el('td', {}, before === undefined ? 'unknown' : text(before)),
            el('td', { class: before && text(before) !== text(after) ? 'changed' : '' }, text(after)),
          ),
        ),
      ),
    ),
    ltvBar(after.ltv, limits, before?.ltv),
  );
}

/** What the swaps and fees cost together. */
export function costText(costs: readonly Cost[] | undefined, ofEquity?: string): string {
  if (costs === undefined) return 'unknown';
  if (costs.length === 0) return 'nothing';
  if (costs.some(({ usd: value }) => value === undefined || value === null)) return 'unknown';
  const total = costs.reduce((sum, { usd: value }) => sum + Number(value), 0);
  return `${usd(total)}${ofEquity === undefined ? '' : ` (${percent(ofEquity)})`}`;
}

/** The remarks of the service on a preview, without those that a plan takes care of. */
export function issueNotes(issues: readonly Issue[] | undefined, chainId: number): readonly Node[] {
  return (issues ?? [])
    .filter(({ kind }) => kind !== 'approval_needed')
    .map(({ message }) => el('p', { class: 'note warn' }, readable(message, chainId)));
}

/** The preview of an action on a position. */
export function managedNodes(found: Simulated, pair: Pair, limits: LtvLimits): readonly (Node | null)[] {
  const { before, after, costs, worstCase, totalSwapCostPctOfEquity, chainId } = found;
  const paidOut = worstCase?.paidOut;
  const lines: Row[] = [
    ...(paidOut === undefined ? [] : [['You receive at least', amount(paidOut, pair.loan)] as const]),
    ['Cost of the swaps', costText(costs, costs.length === 0 ? undefined : totalSwapCostPctOfEquity)],
    ...(worstCase?.ltv === undefined || after === undefined
      ? []
      : [['LTV in the worst fill', ltv(worstCase.ltv)] as const]),
  ];
  return [
    after === undefined
      ? el('p', {}, 'The position ends, and its debt is repaid.')
      : compared(before, after, pair, limits),
    facts(lines, 'lines'),
    ...issueNotes(found.issues, chainId),
  ];
}

/** The result of a position: of its past where its books have a gap, else without the incentives that are not known. */
export function resultRow({ pnl }: Position, ofPast?: string): Row {
  if (pnl?.totalAfterFeeUsd !== undefined) return ['Profit or loss', gain(pnl.totalAfterFeeUsd, pnl.returnOnEquityPct)];
  if (ofPast !== undefined) return ['Profit or loss', gain(ofPast)];
  const base = pnl?.baseResultAfterFeeUsd;
  return [base === undefined ? 'Profit or loss' : 'Result without incentives', gain(base)];
}

/** A profit or loss with its color. */
export function gain(usdValue: string | undefined, pct?: string | null): HTMLElement {
  const number = Number(usdValue ?? 0);
  const share = usdValue === undefined || pct === undefined || pct === null ? null : el('span', {}, signedPercent(pct));
  const direction = usdValue === undefined || number === 0 ? '' : number > 0 ? 'up' : 'down';
  return el('div', { class: `gain ${direction}` }, signedUsd(usdValue), share);
}
