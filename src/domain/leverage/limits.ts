import { Decimal, ZERO } from '../../shared/decimal.ts';

/**
 * Distance in LTV points between liquidation and the highest LTV that the contracts accept, while the contract's own is not
 * known.
 */
export const LIQUIDATION_BUFFER_POINTS: Decimal = new Decimal('0.25');
/** Distance in LTV points that the service keeps below the contracts' limit when it opens. */
export const SAFE_BUFFER_POINTS: Decimal = new Decimal('0.75');
/** Share of the stock market's liquidation LTV that the stock leg of an equity vault may reach. */
export const STOCK_LTV_CAP_RATIO: Decimal = new Decimal('0.88');

export interface LtvLimits {
  /** Percent at which a position can be liquidated. */
  readonly liquidationLtvPct: Decimal;
  /** Percent above which the contracts revert. */
  readonly maxLtvPct: Decimal;
  /** Highest percent at which the service opens, and its default. */
  readonly safeLtvPct: Decimal;
}

/** Derive the LTV limits of a market in percent from its liquidation LTV in WAD: max = liquidation − buffer, safe = max − 0.75 points. */
export function ltvLimits(lltv: bigint, bufferPoints: Decimal = LIQUIDATION_BUFFER_POINTS): LtvLimits {
  const liquidationLtvPct = new Decimal(lltv.toString()).shiftedBy(-16);
  const maxLtvPct = floorAtZero(liquidationLtvPct.minus(bufferPoints));
  return { liquidationLtvPct, maxLtvPct, safeLtvPct: floorAtZero(maxLtvPct.minus(SAFE_BUFFER_POINTS)) };
}

/** Derive the highest stock-leg LTV of an equity vault in percent: 88 % of the stock market's liquidation LTV. */
export function stockLtvCapPct(liquidationLtvPct: Decimal): Decimal {
  return liquidationLtvPct.times(STOCK_LTV_CAP_RATIO);
}

function floorAtZero(ltvPct: Decimal): Decimal {
  return ltvPct.isNegative() ? ZERO : ltvPct;
}
