import { MarketUtils } from '@morpho-org/blue-sdk';
import { Decimal, shifted, slim } from '../../shared/decimal.ts';

const SECONDS_PER_YEAR = 31_536_000n;
const RAY_DIGITS = 27;
/** Working digits of the yearly power: 25 squarings lose at most 1e-52 of the result. */
const POWER_DIGITS = 60;

/** Turn a borrow rate per second in WAD into the APY in percent, with the protocol's own SDK: `exp(rate * year) − 1`. */
export function borrowApyPctFromRate(ratePerSecond: bigint): Decimal {
  return slim(shifted(new Decimal(MarketUtils.rateToApy(ratePerSecond)), 2));
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
