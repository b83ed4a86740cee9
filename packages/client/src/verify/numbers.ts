import { formatUnits, parseUnits } from 'viem';
import { VerificationError } from './errors.ts';
import type { Ratio, SwapLimits, Target, TrustedMarket } from './types.ts';

export const WAD = 10n ** 18n;
export const ORACLE_SCALE = 10n ** 36n;
/** The readings of the caller may be some blocks apart from those of the plan: prices, and interest. WAD. */
export const READING_TOLERANCE = 2n * 10n ** 15n;
/** The largest fees that the contract allows: deposit fee 1 %, yield fee 10 %. WAD. */
export const MOST_DEPOSIT_FEE = 10n ** 16n;
export const MOST_YIELD_FEE = 10n ** 17n;

const DEFAULT_SWAP_LOSS = 10n ** 16n;

/** Read a decimal ratio as WAD. @param places of the unit: 18 for a ratio, 16 for percent */
export function wadOf(value: Ratio, name: string, places = 18): bigint {
  const text = String(value);
  if (/^\d{1,6}(\.\d{1,16})?$/.test(text)) return parseUnits(text, places);
  throw new VerificationError('intent', `${name} of the intent is ${text}. Give a decimal number such as 0.005.`);
}

/** The most that a swap may lose of its reference, WAD. */
export function lossOf({ slippage, maxSwapLoss }: SwapLimits, defaultSlippage: Ratio = 0.005): bigint {
  const loss =
    wadOf(slippage ?? defaultSlippage, 'slippage') +
    (maxSwapLoss === undefined ? DEFAULT_SWAP_LOSS : wadOf(maxSwapLoss, 'maxSwapLoss'));
  if (loss < WAD) return loss;
  throw new VerificationError('intent', 'slippage and maxSwapLoss of the intent together allow to lose everything.');
}

/** The target as an LTV in WAD. */
export function targetLtv({ leverage, desiredLtv }: Target): bigint {
  if ((leverage === undefined) === (desiredLtv === undefined)) {
    throw new VerificationError('intent', 'The intent needs exactly one of leverage and desiredLtv.');
  }
  const wad = leverage === undefined ? wadOf(desiredLtv ?? '', 'desiredLtv', 16) : wadOf(leverage, 'leverage');
  const target = leverage === undefined ? wad : wad > WAD ? WAD - (WAD * WAD) / wad : 0n;
  if (target > 0n && target < WAD) return target;
  throw new VerificationError('intent', 'The target of the intent is no LTV between 0 and 100 %.');
}

export const less = (amount: bigint, share: bigint): bigint => (amount * (WAD - share)) / WAD;
export const more = (amount: bigint, share: bigint): bigint => (amount * (WAD + share)) / WAD;

/** Value of collateral in loan base units, and the reverse. */
export const loanValue = (collateral: bigint, price: bigint): bigint => (collateral * price) / ORACLE_SCALE;
export const collateralFor = (loan: bigint, price: bigint): bigint => (loan * ORACLE_SCALE) / price;

/** LTV in percent, rounded up to two places. */
export function ltvPct(debt: bigint, value: bigint): string {
  if (value === 0n) return debt === 0n ? '0' : 'unbounded';
  return formatUnits((debt * 10_000n + value - 1n) / value, 2);
}

export const depositFeeOf = ({ correlated }: TrustedMarket, given: bigint | undefined): bigint =>
  correlated ? 0n : (given ?? MOST_DEPOSIT_FEE);
export const yieldFeeOf = ({ correlated }: TrustedMarket, given: bigint | undefined): bigint =>
  correlated ? (given ?? MOST_YIELD_FEE) : 0n;
