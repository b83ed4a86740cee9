import { formatPct } from '../../shared/decimal.ts';
import { incentiveRecord } from '../apy/campaigns.ts';
import { type HistoricalMeans, historicalMeans, quarterlyBorrowApyPct } from '../apy/history.ts';
import {
  formatMeans,
  meanOver,
  type Trailing,
  trailingOf,
  WINDOWS_DAYS,
  type WindowMeans,
  windowMeans,
} from '../apy/series.ts';
import { gap, gapOfGroup } from '../freshness/gaps.ts';
import type { Gap, GapReason } from '../freshness/types.ts';
import type { CompositionContext } from './context.ts';
import { incentivesGap, recordedIncentives } from './incentives.ts';
import type { AveragedHistory, ComposedMarket, MarketHistory } from './types.ts';

type Input = Pick<ComposedMarket, 'market' | 'facts' | 'collateralApySource' | 'limits'>;

/**
 * Average a market's histories. Each window ends at the measurement time of its history, so that last-good averages do not
 * change while their source is down. Windows without coverage are absent and explained in `gaps`. Histories change far less
 * often than a chain is composed: while the inputs are the same objects, the averages of the previous composition are reused.
 */
export function averageHistory(input: Input, context: CompositionContext): AveragedHistory {
  const { market, facts } = input;
  const { groups } = context.facts;
  const inputs = [
    facts.collateralApy,
    facts.borrowHistory,
    facts.incentives,
    groups.incentiveHistory.items.get(market.id),
    groups.incentiveHistory.failures.get(market.id),
    groups.borrowHistory.failures.get(market.id),
    facts.borrowHistory ? null : groups.borrowHistory.lastAttemptMs,
    input.collateralApySource,
    input.limits.safeRung.leverage,
    Math.min(facts.collateralApy?.asOfMs ?? 0, context.nowMs),
    Math.min(facts.borrowHistory?.asOfMs ?? 0, context.nowMs),
  ];
  const previous = context.previous.get(market.id)?.averaged;
  if (previous?.inputs.every((value, index) => value === inputs[index])) return previous;
  const gaps: Gap[] = [];
  const history = average(input, context, gaps);
  return { inputs, history, formatted: formatHistory(history), gaps };
}

function formatHistory({
  collateralApyPct,
  carry,
  quarterlyBorrowApyPct,
}: MarketHistory): AveragedHistory['formatted'] {
  return {
    yieldSustainabilityPct: formatMeans(collateralApyPct),
    historicalLeverageApyPct: carry && formatMeans(carry.leverageApyPct),
    quarterlyBorrowApyPct: quarterlyBorrowApyPct && formatPct(quarterlyBorrowApyPct),
  };
}

function average(input: Input, context: CompositionContext, gaps: Gap[]): MarketHistory {
  const { market, facts } = input;
  const groups = context.facts.groups;
  const earned = facts.collateralApy?.value.history;
  const collateral = earned && trailingOf(earned);
  const collateralApyPct =
    facts.collateralApy && collateral
      ? windowMeans(collateral, Math.min(facts.collateralApy.asOfMs, context.nowMs))
      : {};
  explainCollateral(input, collateral, collateralApyPct, gaps);

  const borrow = facts.borrowHistory && trailingOf(facts.borrowHistory.value.points);
  if (!facts.borrowHistory || !borrow) {
    const missing = facts.borrowHistory
      ? gap('', 'TOO_SHORT', 'Its borrow history is empty.', facts.borrowHistory.asOfMs)
      : gapOfGroup('', groups.borrowHistory, market.id);
    gaps.push({ ...missing, field: 'quarterlyBorrowApyPct' }, { ...missing, field: 'means.leverageApy' });
    return { collateralApyPct };
  }
  const borrowEndMs = Math.min(facts.borrowHistory.asOfMs, context.nowMs);
  const quarterly = quarterlyBorrowApyPct(borrow, borrowEndMs);
  if (!quarterly) gaps.push(gap('quarterlyBorrowApyPct', 'TOO_SHORT', 'Its borrow history is shorter than 90 days.'));

  const earns = market.collateral.apySource === 'none' ? 'none' : collateral;
  const carry = carryMeans(input, earns, borrow, borrowEndMs, context);
  explainCarry(earns && carry, input, context, gaps);
  return {
    collateralApyPct,
    carry,
    quarterlyBorrowApyPct: quarterly,
  };
}

function carryMeans(
  input: Input,
  collateral: Trailing | 'none' | undefined,
  borrow: Trailing,
  borrowEndMs: number,
  context: CompositionContext,
): HistoricalMeans | undefined {
  const { market, facts } = input;
  const history = recordedIncentives(context.facts, market.id);
  if (!history) return undefined;
  return historicalMeans({
    collateral,
    collateralIncentive: incentiveRecord(history, 'collateral'),
    borrow,
    borrowIncentive: incentiveRecord(history, 'borrow'),
    safeLeverage: input.limits.safeRung.times,
    endMs: Math.min(borrowEndMs, facts.collateralApy?.asOfMs ?? borrowEndMs),
  });
}

function explainCollateral(input: Input, series: Trailing | undefined, means: WindowMeans, gaps: Gap[]): void {
  const field = 'means.collateralApy';
  if (input.collateralApySource === 'none') {
    gaps.push(gap(field, 'NOT_APPLICABLE', 'The collateral has no yield of its own.'));
  } else if (!series) {
    gaps.push(gap(field, 'NOT_MEASURED', 'The source of its yield has no history.'));
  } else {
    explainWindows(field, means, gaps);
  }
}

function explainCarry(
  carry: HistoricalMeans | undefined,
  input: Input,
  context: CompositionContext,
  gaps: Gap[],
): void {
  const field = 'means.leverageApy';
  const { facts } = context;
  if (carry) explainWindows(field, carry.leverageApyPct, gaps);
  else if (!recordedIncentives(facts, input.market.id)) gaps.push(incentivesGap(field, facts, input.market.id));
  else if (input.collateralApySource === 'none') gaps.push(gap(field, 'NOT_APPLICABLE', 'The token has matured.'));
  else gaps.push(gap(field, 'NOT_MEASURED', 'The source of the collateral yield has no history.'));
}

function explainWindows(field: string, means: WindowMeans, gaps: Gap[]): void {
  const reason: GapReason = 'TOO_SHORT';
  const missing = WINDOWS_DAYS.filter((days) => !meanOver(means, days));
  if (missing.length === WINDOWS_DAYS.length) {
    gaps.push(gap(field, reason, 'The history is shorter than every window.'));
    return;
  }
  for (const days of missing) {
    gaps.push(gap(`${field}.avg${days}dPct`, reason, `The record does not cover ${days} days.`));
  }
}
