import { debtAt, type PositionHistory } from '../../../domain/history/compose.ts';
import { type HeldNow, segmentsOf } from './pnl-split.ts';

/** Equity of a position at a time, loan base units. */
export interface EquityPoint {
  readonly atMs: number;
  readonly collateral: bigint;
  readonly debt: bigint;
  /** Of the oracle, times 1e36. */
  readonly price: bigint;
  /** Collateral less debt; negative under water. */
  readonly equity: bigint;
}

/** The equity of a position at its events and at the samples between them, oldest first. */
export function equityCurve(
  { events, marks }: Pick<PositionHistory, 'events' | 'marks'>,
  now: HeldNow,
): readonly EquityPoint[] {
  const points = segmentsOf({ operations: events, marks, now }).map((segment): EquityPoint => {
    const { collateral, mark } = segment;
    return pointOf(segment.fromMs, collateral, debtAt(segment), mark.price);
  });
  if (now.price === null || events.length === 0) return points;
  return [...points, pointOf(now.atMs, now.collateral, now.debt, now.price)];
}

function pointOf(atMs: number, collateral: bigint, debt: bigint, price: bigint): EquityPoint {
  return { atMs, collateral, debt, price, equity: (collateral * price) / 10n ** 36n - debt };
}
