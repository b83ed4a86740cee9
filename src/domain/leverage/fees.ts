const WAD = 10n ** 18n;
/** What the published source takes at deployment, used where the contract does not tell: 5 % of the yield, and the most for a deposit. */
export const DEFAULT_YIELD_FEE: bigint = 5n * 10n ** 16n;
export const DEFAULT_DEPOSIT_FEE: bigint = 10n ** 16n;

/** What the contract keeps of a deposit of `amount` base units at a fee in WAD, rounded down. */
export function depositFeeOf(amount: bigint, feeWad: bigint): bigint {
  return (amount * feeWad) / WAD;
}

/** The least deposit of which at least `net` base units are left after the fee. */
export function beforeDepositFee(net: bigint, feeWad: bigint): bigint {
  if (net <= 0n || feeWad === 0n) return net;
  // gross − ⌊gross × fee⌋ ≥ net exactly when gross × (1 − fee) > net − 1.
  return ((net - 1n) * WAD) / (WAD - feeWad) + 1n;
}

/** The fee on what closing returns, loan base units: a share of what is above the deposit basis. */
export function yieldFeeOnReturn(returned: bigint, basis: bigint, feeWad: bigint): bigint {
  return returned > basis ? ((returned - basis) * feeWad) / WAD : 0n;
}

export interface Withdrawal {
  /** Collateral base units taken out, and what they are worth in loan base units. */
  readonly amount: bigint;
  readonly value: bigint;
  /** What collateral and debt leave after the withdrawal, loan base units. */
  readonly netValueAfter: bigint;
  readonly basis: bigint;
}

/** The fee on a withdrawal in collateral base units: a share of the yield that is left in the position, as far as the withdrawal goes. */
export function yieldFeeOnWithdrawal({ amount, value, netValueAfter, basis }: Withdrawal, feeWad: bigint): bigint {
  const earned = netValueAfter > basis ? netValueAfter - basis : 0n;
  const feeInLoan = ((earned < value ? earned : value) * feeWad) / WAD;
  return feeInLoan === 0n ? 0n : (feeInLoan * amount) / value;
}
