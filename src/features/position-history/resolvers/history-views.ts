import { gap } from '../../../domain/freshness/gaps.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import type { PositionEvent } from '../../../domain/history/compose.ts';
import type { Amounts, PositionEventKind } from '../../../domain/history/operations.ts';
import type { Payer } from '../../../domain/history/payer.ts';
import { wholePrice } from '../../../domain/position/valuation.ts';
import { formatUnitsPlain, fromUnits } from '../../../shared/decimal.ts';
import type { Hex } from '../../../shared/ids.ts';
import { type EquityPoint, equityCurve } from '../domain/equity-curve.ts';
import { type PnlSplit, SPLIT_PARTS, type SplitPart } from '../domain/pnl-split.ts';
import type { PositionHistoryRow } from './position-history.ts';

/** Amounts of both tokens, whole tokens. */
export interface AmountsView {
  readonly collateral: string;
  readonly loan: string;
}

/** An event of a position with formatted values. */
export interface PositionEventView {
  readonly rank: number;
  readonly kind: PositionEventKind;
  readonly atMs: number;
  readonly blockNumber: bigint;
  readonly txHash: Hex;
  readonly logIndex: number;
  readonly collateralChange: string;
  readonly debtChange: string;
  readonly collateralAfter: string;
  readonly debtAfter: string | null;
  readonly paid: AmountsView | null;
  /** `null` = nothing was paid, or the transfers do not explain what. */
  readonly paidBy: Exclude<Payer, 'owner_directly'> | null;
  readonly received: AmountsView | null;
  readonly fee: AmountsView | null;
  readonly oraclePrice: string | null;
}

/** A point of the curve of a position. */
export interface EquityPointView {
  readonly atMs: number;
  readonly equity: string;
  readonly equityUsd: string | null;
  readonly collateral: string;
  readonly debt: string;
}

const SUMS = ['yieldAndPrice', 'paid', 'paidDirectly', 'received', 'netValue', 'result', 'total'] as const;
export type SplitValue = SplitPart | (typeof SUMS)[number];

/** Amounts of a split by name; `null` = not known. */
export interface PnlSplitView {
  readonly amounts: Readonly<Record<SplitValue, { readonly amount: string; readonly usd: string | null } | null>>;
  readonly gaps: readonly Gap[];
}

/** Maximum number of points of a curve. */
export const MAX_CURVE_POINTS = 500;

export function eventViews({ market, history }: PositionHistoryRow): readonly PositionEventView[] {
  const { collateral, loan } = market;
  const amounts = (given: Amounts): AmountsView => ({
    collateral: formatUnitsPlain(given.collateral, collateral.decimals),
    loan: formatUnitsPlain(given.loan, loan.decimals),
  });
  return history.events.map((event: PositionEvent) => {
    const known = (given: Amounts) => (event.isUnexplained ? null : amounts(given));
    return {
      rank: event.rank,
      kind: event.kind,
      atMs: event.atMs,
      blockNumber: event.blockNumber,
      txHash: event.txHash,
      logIndex: event.logIndex,
      collateralChange: formatUnitsPlain(event.collateralChange, collateral.decimals),
      debtChange: formatUnitsPlain(event.debtChange, loan.decimals),
      collateralAfter: formatUnitsPlain(event.collateralAfter, collateral.decimals),
      debtAfter: event.debtAfter === null ? null : formatUnitsPlain(event.debtAfter, loan.decimals),
      paid: known(event.paid),
      paidBy: payerOf(event),
      received: known(event.received),
      fee: known(event.fee),
      oraclePrice: event.price === null ? null : wholePrice(event.price, market).toFixed(),
    };
  });
}

function payerOf({ isUnexplained, paid, payer }: PositionEvent): PositionEventView['paidBy'] {
  if (isUnexplained || (paid.collateral === 0n && paid.loan === 0n)) return null;
  return payer === 'owner_directly' ? 'owner' : payer;
}

/** The curve with at most so many points, the last one always. */
export function curveViews({ market, history, now, loanUsd }: PositionHistoryRow, most: number): EquityPointView[] {
  const all = equityCurve(history, now);
  const step = Math.max(1, Math.ceil(all.length / most));
  const { collateral, loan } = market;
  return all
    .filter((_, i) => (all.length - 1 - i) % step === 0)
    .map((point: EquityPoint) => ({
      atMs: point.atMs,
      equity: formatUnitsPlain(point.equity, loan.decimals),
      equityUsd: loanUsd && fromUnits(point.equity, loan.decimals).times(loanUsd).toFixed(),
      collateral: formatUnitsPlain(point.collateral, collateral.decimals),
      debt: formatUnitsPlain(point.debt, loan.decimals),
    }));
}

const UNPRICED = gap('', 'NOT_MEASURED', 'The price of the loan token is unknown.');

/** @param split `null` = the market of the position has not been measured yet, and so has the view */
export function splitView({ market, loanUsd }: PositionHistoryRow, split: PnlSplit | null): PnlSplitView | null {
  if (!split) return null;
  const gaps: Gap[] = [];
  const { parts, ...sums } = split;
  const view = (field: SplitValue, value: bigint | Gap) => {
    if (typeof value !== 'bigint') {
      gaps.push({ ...value, field });
      return null;
    }
    if (!loanUsd) gaps.push({ ...UNPRICED, field: `${field}.usd` });
    const amount = fromUnits(value, market.loan.decimals);
    return { amount: amount.toFixed(), usd: loanUsd && amount.times(loanUsd).toFixed() };
  };
  const values = { ...parts, ...sums };
  const names = [...SPLIT_PARTS, ...SUMS] as const;
  const amounts = Object.fromEntries(names.map((name) => [name, view(name, values[name])] as const));
  return { amounts: amounts as PnlSplitView['amounts'], gaps };
}

/** Fields of a history that are `null`, and why. */
export function historyGaps({ history, isValued }: PositionHistoryRow): readonly Gap[] {
  const { incomplete, completeFrom } = history;
  const unvalued = isValued ? [] : [UNVALUED];
  if (!incomplete) return unvalued;
  const fields = completeFrom === null ? ['completeFrom', 'readTo', 'events'] : ['events'];
  return [...fields.map((field) => ({ ...incomplete, field })), ...unvalued];
}

const UNVALUED = gap(
  'equityCurve',
  'NOT_MEASURED',
  'The market of the position has not been measured yet: the curve does not reach until now, and profit and loss are not known.',
);
