import { type Decimal, ZERO } from '../../shared/decimal.ts';
import { leverageApyPct } from '../leverage/leveraged-apy.ts';
import { type IncentiveRecord, incentiveMean } from './campaigns.ts';
import { meanOver, meansOf, type Trailing, type WindowMeans, windowMean } from './series.ts';

/** Days whose mean is the quarterly borrow APY. */
const QUARTER_DAYS = 90;

/** Average the last 90 days of the borrow history, percent; `undefined` when it does not cover them. */
export function quarterlyBorrowApyPct(borrow: Trailing, endMs: number): Decimal | undefined {
  return windowMean(borrow, endMs, QUARTER_DAYS);
}

export interface HistoricalLeverageInput {
  /** Collateral APY; `none` for a collateral without a yield of its own (counts as 0); `undefined` = not known. */
  readonly collateral: Trailing | 'none' | undefined;
  readonly collateralIncentive: IncentiveRecord;
  readonly borrow: Trailing;
  readonly borrowIncentive: IncentiveRecord;
  /** Leverage at the safe LTV, rounded as it is displayed. */
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
 * at the safe LTV. A window that either history does not cover, or in which an incentive is not known, is absent.
 */
export function historicalMeans(input: HistoricalLeverageInput): HistoricalMeans {
  const { collateral, endMs } = input;
  const collateralApyPct = meansOf((days) => {
    const mean = collateral === 'none' ? ZERO : collateral && windowMean(collateral, endMs, days);
    const incentive = incentiveMean(input.collateralIncentive, endMs, days);
    return mean && incentive && summed(mean, incentive);
  });
  const netBorrowApyPct = meansOf((days) => {
    const mean = windowMean(input.borrow, endMs, days);
    const incentive = incentiveMean(input.borrowIncentive, endMs, days);
    return mean && incentive && summed(mean, incentive.negated());
  });
  return {
    collateralApyPct,
    netBorrowApyPct,
    leverageApyPct: meansOf((days) => {
      const [earned, paid] = [meanOver(collateralApyPct, days), meanOver(netBorrowApyPct, days)];
      return earned && paid ? leverageApyPct(earned, paid, input.safeLeverage) : undefined;
    }),
  };
}

/** Add two means. Most markets have no incentive, and the mean object is then reused. */
function summed(mean: Decimal, incentive: Decimal): Decimal {
  return incentive.isZero() ? mean : mean.plus(incentive);
}
