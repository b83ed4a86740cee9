import { BigNumber } from 'bignumber.js';

/*
 * The lending protocol's own formulas, on integers as its contracts have them (Morpho Blue: MathLib, SharesMathLib; its
 * adaptive-curve rate model: AdaptiveCurveIrm, ExpLib). Nothing of the service is used here.
 */

export const Exact = BigNumber.clone({
  DECIMAL_PLACES: 60,
  ROUNDING_MODE: BigNumber.ROUND_HALF_UP,
  EXPONENTIAL_AT: 1e9,
});
export type Exact = BigNumber;

const WAD = 10n ** 18n;
const YEAR_SEC = 31_536_000n;
const ORACLE_SCALE = 10n ** 36n;
const VIRTUAL_ASSETS = 1n;
const VIRTUAL_SHARES = 1_000_000n;

const CURVE_STEEPNESS = 4n * WAD;
const ADJUSTMENT_SPEED = (50n * WAD) / YEAR_SEC;
const TARGET_UTILIZATION = (9n * WAD) / 10n;
const INITIAL_RATE_AT_TARGET = (4n * WAD) / 100n / YEAR_SEC;
const MIN_RATE_AT_TARGET = WAD / 1_000n / YEAR_SEC;
const MAX_RATE_AT_TARGET = (2n * WAD) / YEAR_SEC;

/** The storage of a market and of its rate model. */
export interface StoredMarket {
  readonly totalSupplyAssets: bigint;
  readonly totalSupplyShares: bigint;
  readonly totalBorrowAssets: bigint;
  readonly totalBorrowShares: bigint;
  readonly lastUpdate: bigint;
  readonly fee: bigint;
  readonly rateAtTarget: bigint;
}

export interface AccruedMarket extends StoredMarket {
  readonly liquidity: bigint;
  /** Fraction in WAD. */
  readonly utilization: bigint;
  /** Per second in WAD, of the moment to which the market is accrued. */
  readonly rateNow: bigint;
  /** The mean rate since the last accrual, which the rate model returns and debt accrues with. */
  readonly meanRate: bigint;
}

const wMul = (a: bigint, b: bigint) => (a * b) / WAD;
const wDiv = (a: bigint, b: bigint) => (a * WAD) / b;

/** `x·n + (x·n)²/2 + (x·n)³/6`: compounding as the protocol does it. */
function taylorCompounded(rate: bigint, seconds: bigint): bigint {
  const first = rate * seconds;
  const second = (first * first) / (2n * WAD);
  return first + second + (second * first) / (3n * WAD);
}

/** The protocol's exponential: 2^q times a second-order expansion of the rest. */
function wExp(x: bigint): bigint {
  const ln2 = 693_147_180_559_945_309n;
  if (x < -41_446_531_673_892_822_312n) return 0n;
  const q = (x + (x < 0n ? -ln2 / 2n : ln2 / 2n)) / ln2;
  const r = x - q * ln2;
  const expR = WAD + r + (r * r) / WAD / 2n;
  return q >= 0n ? expR << q : expR >> -q;
}

function utilizationOf({ totalBorrowAssets, totalSupplyAssets }: StoredMarket): bigint {
  return totalSupplyAssets === 0n ? 0n : wDiv(totalBorrowAssets, totalSupplyAssets);
}

/** How far utilization is from its target, from −1 to 1 in WAD. */
function errorOf(utilization: bigint): bigint {
  const norm = utilization > TARGET_UTILIZATION ? WAD - TARGET_UTILIZATION : TARGET_UTILIZATION;
  return wDiv(utilization - TARGET_UTILIZATION, norm);
}

function curve(rateAtTarget: bigint, error: bigint): bigint {
  const coefficient = error < 0n ? WAD - (WAD * WAD) / CURVE_STEEPNESS : CURVE_STEEPNESS - WAD;
  return wMul(wMul(coefficient, error) + WAD, rateAtTarget);
}

function moved(start: bigint, adaptation: bigint): bigint {
  const rate = wMul(start, wExp(adaptation));
  if (rate < MIN_RATE_AT_TARGET) return MIN_RATE_AT_TARGET;
  return rate > MAX_RATE_AT_TARGET ? MAX_RATE_AT_TARGET : rate;
}

/** Accrue a market to a block's time, and say which rate is paid from then on. */
export function accrueTo(stored: StoredMarket, timestamp: bigint): AccruedMarket {
  const elapsed = timestamp - stored.lastUpdate;
  const error = errorOf(utilizationOf(stored));
  const start = stored.rateAtTarget === 0n ? INITIAL_RATE_AT_TARGET : stored.rateAtTarget;
  const adaptation = stored.rateAtTarget === 0n ? 0n : wMul(ADJUSTMENT_SPEED, error) * elapsed;
  const end = adaptation === 0n ? start : moved(start, adaptation);
  const mean = adaptation === 0n ? start : (start + end + 2n * moved(start, adaptation / 2n)) / 4n;
  const interest = wMul(stored.totalBorrowAssets, taylorCompounded(curve(mean, error), elapsed));
  const totalSupplyAssets = stored.totalSupplyAssets + interest;
  const totalBorrowAssets = stored.totalBorrowAssets + interest;
  const feeAmount = wMul(interest, stored.fee);
  const feeShares =
    (feeAmount * (stored.totalSupplyShares + VIRTUAL_SHARES)) / (totalSupplyAssets - feeAmount + VIRTUAL_ASSETS);
  const accrued = {
    ...stored,
    totalSupplyAssets,
    totalBorrowAssets,
    totalSupplyShares: stored.totalSupplyShares + feeShares,
  };
  return {
    ...accrued,
    liquidity: totalSupplyAssets - totalBorrowAssets,
    utilization: utilizationOf(accrued),
    rateNow: curve(end, error),
    meanRate: curve(mean, error),
  };
}

/** Debt of borrow shares in loan base units, rounded up. */
export function debtOf(shares: bigint, market: StoredMarket): bigint {
  const divisor = market.totalBorrowShares + VIRTUAL_SHARES;
  return (shares * (market.totalBorrowAssets + VIRTUAL_ASSETS) + divisor - 1n) / divisor;
}

/** Collateral in loan base units at an oracle's price, rounded down. */
export function collateralValue(collateral: bigint, price: bigint): bigint {
  return (collateral * price) / ORACLE_SCALE;
}

/** APY in percent of a rate per second in WAD: `exp(rate × year) − 1`. */
export function apyPctOf(rate: bigint): Exact {
  return new Exact(Math.expm1(Number(rate * YEAR_SEC) / 1e18)).times(100);
}

/** APY in percent of a growth factor per second in RAY: `(rate / 1e27)^year − 1`. */
export function apyPctOfRay(rate: bigint): Exact {
  return new Exact(Math.expm1(Number(YEAR_SEC) * Math.log1p(Number(rate - 10n ** 27n) / 1e27))).times(100);
}

/** Base units as whole tokens. */
export function whole(units: bigint, decimals: number): Exact {
  return new Exact(units.toString()).shiftedBy(-decimals);
}

/** As the service shows numbers: half-up. */
export function shown(value: Exact, places = 2): string {
  return value.toFixed(places, BigNumber.ROUND_HALF_UP);
}
