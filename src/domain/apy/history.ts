import { type Decimal, slim, ZERO } from '../../shared/decimal.ts';
import type { IncentiveCampaign, IncentiveHistory } from '../facts.ts';
import { leverageApyPct } from '../leverage/leverage.ts';
import {
  DAY_MS,
  meanOver,
  meansOf,
  type StepPoint,
  stepAverage,
  type Trailing,
  type WindowMeans,
  windowMean,
} from './series.ts';

/** Days whose mean is the quarterly borrow APY. */
const QUARTER_DAYS = 90;

/** Average the last 90 days of the borrow history, percent; `undefined` when it does not cover them. */
export function quarterlyBorrowApyPct(borrow: Trailing, endMs: number): Decimal | undefined {
  return windowMean(borrow, endMs, QUARTER_DAYS);
}

/** Average what campaigns pay over `[fromMs, toMs)` when each pays its APR from its start to its end, percent. */
export function campaignAverage(campaigns: readonly IncentiveCampaign[], fromMs: number, toMs: number): Decimal {
  return campaigns.reduce((sum, campaign) => {
    const activeMs = Math.min(campaign.endsAtMs, toMs) - Math.max(campaign.startsAtMs, fromMs);
    return activeMs > 0 ? sum.plus(campaign.aprPct.times(activeMs).div(toMs - fromMs)) : sum;
  }, ZERO);
}

/** What was paid over time: the recorded steps where there are any, else the known campaigns with their own dates. */
export interface IncentiveRecord {
  readonly steps?: readonly StepPoint[];
  readonly campaigns: readonly IncentiveCampaign[];
}

/** Pair the recorded steps of one side of a market with the campaigns known of it. */
export function incentiveRecord(
  steps: IncentiveHistory['points'] | undefined,
  campaigns: readonly IncentiveCampaign[] | undefined,
): IncentiveRecord {
  return { ...(steps ? { steps } : {}), campaigns: campaigns ?? [] };
}

/** Average an incentive over a window, percent. */
export function incentiveMean(record: IncentiveRecord, endMs: number, days: number): Decimal {
  const fromMs = endMs - days * DAY_MS;
  if (record.steps) return stepAverage(record.steps, fromMs, endMs);
  return record.campaigns.length === 0 ? ZERO : campaignAverage(record.campaigns, fromMs, endMs);
}

export interface HistoricalLeverageInput {
  /** Collateral APY; `none` for a collateral that by contract has no yield of its own (counts as 0). */
  readonly collateral: Trailing | 'none';
  readonly collateralIncentive: IncentiveRecord;
  readonly borrow: Trailing;
  readonly borrowIncentive: IncentiveRecord;
  /** Shown leverage at the safe LTV. */
  readonly safeLeverage: Decimal;
  readonly endMs: number;
}

/** Both sides of the carry over the trailing windows, percent at full precision. */
export interface HistoricalMeans {
  /** Collateral APY plus the collateral-side incentive then active. */
  readonly collateralApyPct: WindowMeans;
  readonly netBorrowApyPct: WindowMeans;
  readonly leverageApyPct: WindowMeans;
}

/**
 * Average collateral APY (plus the incentive then active) and net borrow APY over 30, 60 and 90 days and lever the means
 * at the safe LTV. A window that either history does not cover is absent.
 */
export function historicalMeans(input: HistoricalLeverageInput): HistoricalMeans {
  const { collateral, endMs } = input;
  const collateralApyPct = meansOf((days) => {
    const mean = collateral === 'none' ? ZERO : windowMean(collateral, endMs, days);
    return mean && summed(mean, incentiveMean(input.collateralIncentive, endMs, days));
  });
  const netBorrowApyPct = meansOf((days) => {
    const mean = windowMean(input.borrow, endMs, days);
    return mean && summed(mean, incentiveMean(input.borrowIncentive, endMs, days).negated());
  });
  return {
    collateralApyPct,
    netBorrowApyPct,
    leverageApyPct: meansOf((days) => {
      const [earned, paid] = [meanOver(collateralApyPct, days), meanOver(netBorrowApyPct, days)];
      return earned && paid ? slim(leverageApyPct(earned, paid, input.safeLeverage)) : undefined;
    }),
  };
}

/** Add up what is kept; most markets have no incentive, and the mean is then the same object. */
function summed(mean: Decimal, incentive: Decimal): Decimal {
  return incentive.isZero() ? mean : slim(mean.plus(incentive));
}
