import type { Market } from '../../catalog/types.ts';
import { Decimal } from '../../shared/decimal.ts';
import type { RateHistory } from '../../shared/rate-history.ts';
import { incentiveRecord } from '../apy/campaigns.ts';
import { type HistoricalMeans, historicalMeans, quarterlyBorrowApyPct } from '../apy/history.ts';
import { meanOver, type Trailing, trailingOf, WINDOWS_DAYS, type WindowMeans, windowMeans } from '../apy/series.ts';
import { gap, gapOfGroup } from '../freshness/gaps.ts';
import type { Gap, GapReason } from '../freshness/types.ts';
import { shownLeverage } from '../leverage/leverage.ts';
import type { CompositionContext } from './context.ts';
import { incentivesGap, recordedIncentives } from './incentives.ts';
import type { ComposedMarket, MarketHistory } from './types.ts';

type Input = Pick<ComposedMarket, 'market' | 'facts' | 'collateralApySource' | 'limits'>;

interface Averaged {
  readonly inputs: readonly unknown[];
  readonly history: MarketHistory;
  readonly gaps: readonly Gap[];
}

/** Histories change far less often than a chain is composed: a market's averages are kept until one of their inputs is another object. */
const latestOfMarket = new WeakMap<Market, Averaged>();

/**
 * Average a market's histories. Every window ends when its history was measured, so that last-good averages stay what they
 * were while their source is down. What is not covered is absent and explained in `gaps`.
 */
export function composeHistory(input: Input, context: CompositionContext, gaps: Gap[]): MarketHistory {
  const { market, facts } = input;
  const inputs = [
    facts.collateralApy,
    facts.borrowHistory,
    facts.incentives,
    context.facts.groups.incentiveHistory.items.get(market.id),
    context.facts.groups.incentiveHistory.failures.get(market.id),
    context.facts.groups.borrowHistory.failures.get(market.id),
    facts.borrowHistory ? null : context.facts.groups.borrowHistory.lastAttemptMs,
    input.collateralApySource,
    input.limits,
    Math.min(facts.collateralApy?.asOfMs ?? 0, context.nowMs),
    Math.min(facts.borrowHistory?.asOfMs ?? 0, context.nowMs),
  ];
  let latest = latestOfMarket.get(market);
  if (!latest?.inputs.every((value, index) => value === inputs[index])) {
    const explained: Gap[] = [];
    latest = { inputs, history: average(input, context, explained), gaps: explained };
    latestOfMarket.set(market, latest);
  }
  gaps.push(...latest.gaps);
  return latest.history;
}

interface Histories {
  readonly collateral?: Trailing | undefined;
  readonly borrow?: Trailing | undefined;
}

/** A history is often measured again without having changed: what it averages to is then known. */
const latestHistories = new WeakMap<Market, Histories>();

function kept(market: Market, side: keyof Histories, history: RateHistory): Trailing | undefined {
  const latest = latestHistories.get(market);
  if (latest?.[side]?.history === history) return latest[side];
  const trailing = trailingOf(history);
  latestHistories.set(market, { ...latest, [side]: trailing });
  return trailing;
}

function average(input: Input, context: CompositionContext, gaps: Gap[]): MarketHistory {
  const { market, facts } = input;
  const groups = context.facts.groups;
  const earned = facts.collateralApy?.value.history;
  const collateral = earned === undefined ? undefined : kept(market, 'collateral', earned);
  const collateralApyPct =
    facts.collateralApy && collateral
      ? windowMeans(collateral, Math.min(facts.collateralApy.asOfMs, context.nowMs))
      : {};
  explainCollateral(input, collateral, collateralApyPct, gaps);

  const borrow = facts.borrowHistory && kept(market, 'borrow', facts.borrowHistory.value.points);
  if (!facts.borrowHistory || !borrow) {
    const missing = facts.borrowHistory
      ? gap('', 'TOO_SHORT', 'Its borrow history is empty.', facts.borrowHistory.asOfMs)
      : gapOfGroup('', groups.borrowHistory, market.id);
    gaps.push({ ...missing, field: 'quarterlyBorrowApyPct' }, { ...missing, field: 'historicalLeverageApyPct' });
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
    ...(carry ? { carry } : {}),
    ...(quarterly ? { quarterlyBorrowApyPct: quarterly } : {}),
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
    safeLeverage: new Decimal(shownLeverage(input.limits.safeLtvPct)),
    endMs: Math.min(borrowEndMs, facts.collateralApy?.asOfMs ?? borrowEndMs),
  });
}

function explainCollateral(input: Input, series: Trailing | undefined, means: WindowMeans, gaps: Gap[]): void {
  const field = 'yieldSustainabilityPct';
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
  const field = 'historicalLeverageApyPct';
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
    gaps.push(gap(`${field}.avg${days}d`, reason, `What is recorded does not cover ${days} days.`));
  }
}
