import { Decimal, HUNDRED, ZERO } from '../../shared/decimal.ts';
import type { MarketId } from '../../shared/ids.ts';
import { hasUnknown, type IncentiveRecord, incentiveRecord } from '../apy/campaigns.ts';
import type { ChainFacts } from '../facts.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { incentivesGap, recordedIncentives } from '../market/incentives.ts';

const YEAR_MS = 31_536_000_000;
/** Decimal places of an accrued share: far below a base unit of any token. */
const PLACES = 30;

/** Incentives of a market over time, for debt and for collateral. */
export interface MarketRewards {
  readonly borrow: SummedRecord;
  readonly collateral: SummedRecord;
  /** Whether either side is known to have had an incentive at any time. */
  readonly pays: boolean;
}

/** A record with running sums, so that an accrual over any span costs two look-ups. */
export interface SummedRecord extends IncentiveRecord {
  /** `sums[i]` = integral up to the start of step `i`, percent-milliseconds. */
  readonly sums: readonly Decimal[];
}

/** Gather the recorded incentives of a market, or a gap when they are not known. */
export function marketRewards(facts: ChainFacts, marketId: MarketId): MarketRewards | Gap {
  const history = recordedIncentives(facts, marketId);
  if (!history) return incentivesGap('incentivesUsd', facts, marketId);
  const [borrow, collateral] = [
    summed(incentiveRecord(history, 'borrow')),
    summed(incentiveRecord(history, 'collateral')),
  ];
  const pays = [borrow, collateral].some(
    ({ steps, unknown }) => unknown.length > 0 || steps.some(({ aprPct }) => aprPct.gt(0)),
  );
  return { borrow, collateral, pays };
}

/**
 * Accrue the incentives of both sides from `fromMs` to `toMs` on the given amounts, in their unit. Returns a gap when a
 * campaign without a recorded APR ran in this span.
 */
export function accrueRewards(
  { borrow, collateral }: MarketRewards,
  held: { readonly debt: Decimal; readonly collateral: Decimal },
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Decimal | Gap {
  if (toMs <= fromMs) return ZERO;
  if ([borrow, collateral].some((record) => hasUnknown(record, fromMs, toMs))) {
    return gap('incentivesUsd', 'NOT_MEASURED', 'The payments of a campaign were not recorded.');
  }
  return held.debt
    .times(accruedShare(borrow, fromMs, toMs))
    .plus(held.collateral.times(accruedShare(collateral, fromMs, toMs)));
}

/** The incentive of one unit over the span, as a fraction. */
function accruedShare(record: SummedRecord, fromMs: number, toMs: number): Decimal {
  const pctMs = integralTo(record, toMs).minus(integralTo(record, fromMs));
  return pctMs.div(HUNDRED.times(YEAR_MS)).decimalPlaces(PLACES);
}

/** Integrate the step function (percent) over time from its first step to `atMs`, percent-milliseconds. */
function integralTo({ steps, sums }: SummedRecord, atMs: number): Decimal {
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

function summed({ steps, unknown }: IncentiveRecord): SummedRecord {
  const sums: Decimal[] = [];
  let sum = new Decimal(0);
  steps.forEach((step, i) => {
    const before = steps[i - 1];
    if (before) sum = sum.plus(before.aprPct.times(step.atMs - before.atMs));
    sums.push(sum);
  });
  return { steps, unknown, sums };
}
