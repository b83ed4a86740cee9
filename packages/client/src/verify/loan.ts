import { VerificationError } from './errors.ts';
import { less, more, percentOf, READING_TOLERANCE, unitsText, WAD } from './numbers.ts';
import { amountOf, type Proof } from './proof.ts';
import type { TrustedMarket } from './types.ts';

interface LoanCheck {
  readonly index: number;
  readonly token: string;
  readonly amount: bigint;
  /** LTV, WAD. */
  readonly target: bigint;
  /** The lowest that it may end at, where the target is a limit; absent = the target itself. */
  readonly lowestTarget?: bigint | undefined;
  /** Of the collateral that is there without the loan: by the reference, and at the least. Loan base units. */
  readonly value: bigint;
  readonly valueAtLeast: bigint;
  readonly debt: bigint;
  /** Of the loan's swap, WAD. */
  readonly loss: bigint;
}

/**
 * Prove that a flash loan is that of the target: with it the LTV is at most the target when the swap loses nothing, and the
 * loan is at least the one that reaches it when everything loses as much as is allowed. @throws VerificationError
 */
export function proveLoan(proof: Proof, check: LoanCheck): void {
  const { index, token, amount, target, lowestTarget = target, value, valueAtLeast, debt, loss } = check;
  const sized = (ltv: bigint, worth: bigint, owed: bigint, returned: bigint) => {
    const room = (ltv * worth) / WAD - owed;
    return room <= 0n ? 0n : (room * WAD) / (WAD - (ltv * returned) / WAD);
  };
  const most = more(
    sized(target, more(value, READING_TOLERANCE), less(debt, READING_TOLERANCE), WAD),
    READING_TOLERANCE,
  );
  const least = sized(lowestTarget, less(valueAtLeast, READING_TOLERANCE), more(debt, READING_TOLERANCE), WAD - loss);
  const text = (units: bigint) => amountOf(proof, token, units).text;
  if (amount > most || amount === 0n) {
    throw new VerificationError(
      'loan',
      `it borrows ${text(amount)}, and the target needs at most ${text(most)}.`,
      index,
    );
  }
  if (amount < less(least, READING_TOLERANCE)) {
    throw new VerificationError(
      'loan',
      `it borrows ${text(amount)}, and the target needs at least ${text(least)}.`,
      index,
    );
  }
}

/**
 * The highest LTV of a position, percent, by its debt and the value of its collateral at the least, both in loan base units.
 *
 * @throws VerificationError where that is the liquidation LTV of its market or more
 */
export function ltvBelowLiquidation(index: number, { lltv }: TrustedMarket, debt: bigint, value: bigint): string {
  const pct = percentOf(debt, value);
  if (debt * WAD < value * BigInt(lltv)) return pct;
  const most = unitsText(BigInt(lltv), 16);
  throw new VerificationError(
    'loan',
    `its LTV may be ${pct} % at the least outputs of its swaps, and the market liquidates at ${most} %.`,
    index,
  );
}
