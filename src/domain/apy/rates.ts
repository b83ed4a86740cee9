import { AdaptiveCurveIrmLib, MarketUtils } from '@morpho-org/blue-sdk';
import { Decimal } from '../../shared/decimal.ts';
import type { LendingState } from '../facts.ts';

const SECONDS_PER_YEAR = 31_536_000n;
const RAY_DIGITS = 27;
/** Working digits of the yearly power: 25 squarings lose at most 1e-52 of the result. */
const POWER_DIGITS = 60;

/** Turn a borrow rate per second in WAD into the APY in percent, with the protocol's own SDK: `exp(rate * year) − 1`. */
export function borrowApyPctFromRate(ratePerSecond: bigint): Decimal {
  return new Decimal(MarketUtils.rateToApy(ratePerSecond)).shiftedBy(2);
}

/** Inverse of the relative difference up to which the contract's mean counts as a rate of the SDK's adaptive curve. */
const CURVE_TOLERANCE = 1_000_000n;

/**
 * Return the borrow rate at the block of a state, per second in WAD. The adaptive curve moves its rate while no transaction
 * touches the market, and `borrowRate` is the mean since the last accrual. The current rate is the end of that curve, computed
 * by the protocol's SDK. If the mean does not fit the adaptive curve, the market has another rate model and `borrowRate`
 * itself is returned.
 */
export function borrowRateNow(state: LendingState): bigint {
  return curveOf(state)?.endBorrowRate ?? state.borrowRate;
}

/** Return the rate at target utilization at the block of a state, per second in WAD; `undefined` = another rate model. */
export function rateAtTargetNow(state: LendingState): bigint | undefined {
  return curveOf(state)?.endRateAtTarget;
}

/** The end of the adaptive curve since the last accrual; `undefined` = the mean does not fit it. */
function curveOf(
  state: LendingState,
): { readonly endBorrowRate: bigint; readonly endRateAtTarget: bigint } | undefined {
  const elapsed = state.blockTimestamp > state.lastUpdate ? state.blockTimestamp - state.lastUpdate : 0n;
  const utilization = MarketUtils.getUtilization(state);
  const curve = AdaptiveCurveIrmLib.getBorrowRate(utilization, state.rateAtTarget, elapsed);
  const { avgBorrowRate } = curve;
  const apart = avgBorrowRate > state.borrowRate ? avgBorrowRate - state.borrowRate : state.borrowRate - avgBorrowRate;
  return apart * CURVE_TOLERANCE <= state.borrowRate ? curve : undefined;
}

/**
 * Turn an on-chain accumulator rate per second in RAY (1e27 = no growth) into the APY in percent:
 * `((rate / 1e27)^31536000 − 1) * 100`, to 30 decimals, by squaring on integers.
 */
export function apyPctFromRayRate(rate: bigint): Decimal {
  const one = 10n ** BigInt(POWER_DIGITS);
  let base = rate * 10n ** BigInt(POWER_DIGITS - RAY_DIGITS);
  let power = one;
  for (let exponent = SECONDS_PER_YEAR; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) power = (power * base) / one;
    base = (base * base) / one;
  }
  return new Decimal((power - one).toString()).shiftedBy(2 - POWER_DIGITS).decimalPlaces(30);
}
