import { Decimal, HUNDRED, ZERO } from '../../shared/decimal.ts';
import type { MarketId } from '../../shared/ids.ts';
import { campaignAverage, type IncentiveRecord, incentiveRecord } from '../apy/history.ts';
import type { StepPoint } from '../apy/series.ts';
import type { ChainFacts } from '../facts.ts';
import { gapOfGroup } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';

const YEAR_MS = 31_536_000_000;
/** Places of an accrued share: far below a base unit of any token. */
const PLACES = 30;

/** What a market's incentives have paid over time, on its debt and on its collateral. */
export interface MarketRewards {
  readonly borrow: IncentiveRecord;
  readonly collateral: IncentiveRecord;
  /** Whether either side has ever paid something. */
  readonly pays: boolean;
}

/**
 * Gather what is recorded of a market's incentives: the step functions where there are any, else the known campaigns with
 * their own dates. A gap when neither was ever measured.
 */
export function marketRewards(facts: ChainFacts, marketId: MarketId): MarketRewards | Gap {
  const live = facts.groups.incentives.items.get(marketId)?.value;
  const record = facts.groups.incentiveHistory.items.get(marketId)?.value;
  if (!live && !record) return gapOfGroup('pnl.incentivesUsd', facts.groups.incentives, marketId);
  const borrow = incentiveRecord(record?.points, live?.borrow);
  const collateral = incentiveRecord(record?.collateralPoints, live?.collateral);
  return { borrow, collateral, pays: [borrow, collateral].some(everPays) };
}

/** Accrue what each side paid from `fromMs` to `toMs` on what was held; the unit is that of the amounts. */
export function accrueRewards(
  { borrow, collateral }: MarketRewards,
  held: { readonly debt: Decimal; readonly collateral: Decimal },
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Decimal {
  if (toMs <= fromMs) return ZERO;
  return held.debt
    .times(accruedShare(borrow, fromMs, toMs))
    .plus(held.collateral.times(accruedShare(collateral, fromMs, toMs)));
}

function everPays({ steps, campaigns }: IncentiveRecord): boolean {
  return steps ? steps.some(({ aprPct }) => aprPct.gt(0)) : campaigns.some(({ aprPct }) => aprPct.gt(0));
}

/** What one unit earned over the span, as a fraction. */
function accruedShare({ steps, campaigns }: IncentiveRecord, fromMs: number, toMs: number): Decimal {
  const pctMs = steps
    ? integralTo(steps, toMs).minus(integralTo(steps, fromMs))
    : campaignAverage(campaigns, fromMs, toMs).times(toMs - fromMs);
  return pctMs.div(HUNDRED.times(YEAR_MS)).decimalPlaces(PLACES);
}

/** Running sums of a step function, so that any life of any position costs two look-ups. */
const sumsOf = new WeakMap<readonly StepPoint[], readonly Decimal[]>();

/** Integrate the step function (percent) over time from its first step to `atMs`, percent-milliseconds. */
function integralTo(steps: readonly StepPoint[], atMs: number): Decimal {
  const sums = sumsOf.get(steps) ?? runningSums(steps);
  sumsOf.set(steps, sums);
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle]?.atMs ?? Number.POSITIVE_INFINITY) <= atMs) low = middle + 1;
    else high = middle;
  }
  const last = steps[low - 1];
  const sum = sums[low - 1];
  return last && sum ? sum.plus(last.aprPct.times(atMs - last.atMs)) : ZERO;
}

/** `sums[i]` = integral up to the start of step `i`. */
function runningSums(steps: readonly StepPoint[]): readonly Decimal[] {
  const sums: Decimal[] = [];
  let sum = new Decimal(0);
  steps.forEach((step, i) => {
    const before = steps[i - 1];
    if (before) sum = sum.plus(before.aprPct.times(step.atMs - before.atMs));
    sums.push(sum);
  });
  return sums;
}
