const WAD = 10n ** 18n;
/**
 * Fees in the published source at deployment, used while the contract's own are not known: 5 % of the yield, and the maximum
 * deposit fee.
 */
export const DEFAULT_YIELD_FEE: bigint = 5n * 10n ** 16n;
export const DEFAULT_DEPOSIT_FEE: bigint = 10n ** 16n;

/** The fee on a deposit of `amount` base units at a share in WAD, rounded down. */
export function depositFeeOf(amount: bigint, feeWad: bigint): bigint {
  return (amount * feeWad) / WAD;
}

/** The smallest deposit that leaves at least `net` base units after the fee. */
export function beforeDepositFee(net: bigint, feeWad: bigint): bigint {
  if (net <= 0n || feeWad === 0n) return net;
  // gross − ⌊gross × fee⌋ ≥ net exactly when gross × (1 − fee) > net − 1.
  return ((net - 1n) * WAD) / (WAD - feeWad) + 1n;
}

/** The fee on the proceeds of closing, loan base units: a share of the proceeds above the deposit basis. */
export function yieldFeeOnReturn(returned: bigint, basis: bigint, feeWad: bigint): bigint {
  return returned > basis ? ((returned - basis) * feeWad) / WAD : 0n;
}

export interface Withdrawal {
  /** Collateral base units that are withdrawn, and their value in loan base units. */
  readonly amount: bigint;
  readonly value: bigint;
  /** Net value of the position after the withdrawal, loan base units. */
  readonly netValueAfter: bigint;
  readonly basis: bigint;
}

/**
 * The fee on a withdrawal in collateral base units: a share of the position's remaining yield, at most of the withdrawn
 * amount.
 */
export function yieldFeeOnWithdrawal({ amount, value, netValueAfter, basis }: Withdrawal, feeWad: bigint): bigint {
  const earned = netValueAfter > basis ? netValueAfter - basis : 0n;
  const feeInLoan = ((earned < value ? earned : value) * feeWad) / WAD;
  return feeInLoan === 0n ? 0n : (feeInLoan * amount) / value;
}
