import { MathLib } from '@morpho-org/blue-sdk';
import type { Token } from '../catalog/types.ts';
import { type Decimal, formatUnitsPlain, toFixedHalfUp } from '../shared/decimal.ts';
import { formatAmount } from './messages.ts';
import { equityValueOf } from './preview/costs.ts';
import type { Issue, PositionState } from './types.ts';

/** A position whose debt is above the value of its collateral at the oracle's price, loan base units. */
export interface UnderWater {
  readonly debt: bigint;
  readonly collateralValue: bigint;
  /** The debt above the value: a payment into the position gives it to the lenders. */
  readonly excess: bigint;
}

interface Priced {
  readonly position: PositionState;
  readonly live: { readonly price: bigint };
}

type Loan = Pick<Token, 'address' | 'symbol' | 'decimals'>;

/** Compare the debt of a position with the value of its collateral; `undefined` = it is not under water. */
export function underWaterOf({ position, live }: Priced): UnderWater | undefined {
  const excess = -equityValueOf(position, live.price);
  if (excess <= 0n) return undefined;
  return { debt: position.debt, collateralValue: position.debt - excess, excess };
}

/** The part of a payment into a position that goes to the lenders, both in loan base units. */
export function toLenders(payment: bigint, under: UnderWater | undefined): bigint {
  return under && payment > 0n ? MathLib.min(payment, under.excess) : 0n;
}

/** Say by how much a debt is above its collateral. */
export function underWaterFact({ debt, collateralValue }: UnderWater, loan: Loan): string {
  return `The debt of ${formatAmount(debt, loan)} is above the value of the collateral, ${formatAmount(collateralValue, loan)}.`;
}

/** The true ways on from a position under water, for refusals. */
export const UNDER_WATER_WAYS =
  'Wait for a higher price, repay only if you believe in it, or leave the position: the owner does not have to pay the difference.';

/** Report a payment into a position under water, loan base units, with the part of it that goes to the lenders; nothing otherwise. */
export function underWaterIssues(
  payment: bigint,
  found: Priced,
  loan: Loan,
  usdOf: (units: bigint) => Decimal | undefined,
): readonly Issue[] {
  const under = underWaterOf(found);
  const lost = toLenders(payment, under);
  if (!under || lost === 0n) return [];
  const usd = usdOf(lost);
  const amount = `${formatAmount(lost, loan)}${usd ? ` (${toFixedHalfUp(usd, 2)} USD)` : ''}`;
  return [
    {
      kind: 'UNDER_WATER',
      token: loan.address,
      toLenders: formatUnitsPlain(lost, loan.decimals),
      costUsd: usd && toFixedHalfUp(usd, 2),
      message: `${underWaterFact(under, loan)} Of this payment ${amount} goes to the lenders: the owner does not have to pay it, and nothing more is lost without it.`,
    },
  ];
}
