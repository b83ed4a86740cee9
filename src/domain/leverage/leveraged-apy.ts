import { Decimal, HUNDRED, toFixedHalfUp, ZERO } from '../../shared/decimal.ts';

/** Leverage is shown, and used in the APY formula, with this many decimals. */
export const LEVERAGE_PLACES = 1;

/**
 * Turn an LTV in percent into leverage at full precision: `100 / (100 − ltvPct)`.
 * @throws RangeError for an LTV below 0 or from 100 on, where leverage has no meaning.
 */
export function leverageFromLtvPct(ltvPct: Decimal): Decimal {
  if (!ltvPct.gte(ZERO) || !ltvPct.lt(HUNDRED)) {
    throw new RangeError(`LTV ${ltvPct.toFixed()} % has no leverage; it must be in 0 ≤ LTV < 100.`);
  }
  return HUNDRED.div(HUNDRED.minus(ltvPct));
}

/** Format the leverage of an LTV: 1 decimal, half-up. */
export function formatLeverage(ltvPct: Decimal): string {
  return toFixedHalfUp(leverageFromLtvPct(ltvPct), LEVERAGE_PLACES);
}

/**
 * Turn leverage into the LTV in percent at full precision: `(1 − 1/leverage) * 100`.
 * @throws RangeError for a leverage below 1.
 */
export function ltvPctFromLeverage(leverage: Decimal): Decimal {
  if (!leverage.gte(1)) throw new RangeError(`Leverage ${leverage.toFixed()} has no LTV; it must be at least 1.`);
  return leverage.minus(1).times(HUNDRED).div(leverage);
}

/**
 * Compute the APY in percent at a leverage:
 * `collateralApy * L − netBorrowApy * (L − 1)`. Exact and signed; render it with `formatPct`.
 */
export function leverageApyPct(collateralApyPct: Decimal, netBorrowApyPct: Decimal, leverage: Decimal): Decimal {
  return collateralApyPct.times(leverage).minus(netBorrowApyPct.times(leverage.minus(1)));
}

/** Compute the APY in percent of a position held at `ltvPct`, at its exact leverage. */
export function exactApyPctAtLtv(collateralApyPct: Decimal, netBorrowApyPct: Decimal, ltvPct: Decimal): Decimal {
  return leverageApyPct(collateralApyPct, netBorrowApyPct, leverageFromLtvPct(ltvPct));
}

/** Compute the APY in percent of a strategy at `ltvPct`, with that LTV's shown leverage, as the ladder does. */
export function leverageApyPctAtLtv(collateralApyPct: Decimal, netBorrowApyPct: Decimal, ltvPct: Decimal): Decimal {
  return leverageApyPct(collateralApyPct, netBorrowApyPct, new Decimal(formatLeverage(ltvPct)));
}
