import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { toLenders, underWaterOf } from '../under-water.ts';
import type { DeleverageOption, DeleverageOptions, DeleverageStep } from './types.ts';

/** Whether a wallet holds the amount that an option takes. */
export type Affordability = 'affordable' | 'not_affordable' | 'nothing_to_pay' | 'unknown';

/** Whether the wallet holds the amount that an option takes. */

/** The values that an option is ranked by. */
export interface RankedBy {
  /** Whether it can be built now. */
  readonly isPossible: boolean;
  /** All of its costs, USD; absent = one of them has no price, or it is not possible. */
  readonly costUsd?: Decimal | undefined;
  /** Value that the wallet has to bring, loan base units at the oracle's price. */
  readonly payment: bigint;
}

/**
 * Order options: the cheapest first, of equal costs the one that takes less from the wallet; then those of unknown cost, and at
 * last those that are not possible now.
 */
export function compareOptions(a: RankedBy, b: RankedBy): number {
  const group = groupOf(a) - groupOf(b);
  if (group !== 0) return group;
  const cost = a.isPossible && a.costUsd && b.costUsd ? a.costUsd.comparedTo(b.costUsd) : 0;
  if (cost) return cost;
  return a.payment === b.payment ? 0 : a.payment < b.payment ? -1 : 1;
}

function groupOf({ isPossible, costUsd }: RankedBy): number {
  if (!isPossible) return 2;
  return costUsd ? 0 : 1;
}

/** The step that the wallet pays for; absent = it pays nothing: the action is paid with collateral of the position. */
export function paidStep({ steps }: Pick<DeleverageOption, 'steps'>): DeleverageStep | undefined {
  return steps.find(({ action, fromProceeds }) => action !== 'close' && !fromProceeds);
}

/** Value that the wallet brings, loan base units at the oracle's price. */
export function paymentOf(
  option: Pick<DeleverageOption, 'steps'>,
  { market, live }: Pick<DeleverageOptions, 'market' | 'live'>,
): bigint {
  const paid = paidStep(option);
  if (!paid) return 0n;
  return paid.token.address === market.collateral.address
    ? collateralValueInLoan(paid.amount, live.price)
    : paid.amount;
}

/**
 * The part of an option's payment that goes to the lenders, loan base units: of a position whose debt is above the value of its
 * collateral at the oracle's price the excess, which its owner does not have to pay.
 */
export function lostToLenders(
  option: Pick<DeleverageOption, 'steps'>,
  found: Pick<DeleverageOptions, 'market' | 'position' | 'live'>,
): bigint {
  return toLenders(paymentOf(option, found), underWaterOf(found));
}

/** Compare the balance of the wallet with the payment of an option. */
export function affordabilityOf(
  option: Pick<DeleverageOption, 'steps'>,
  balances: ReadonlyMap<Address, bigint | undefined>,
): Affordability {
  const paid = paidStep(option);
  if (!paid) return 'nothing_to_pay';
  const held = balances.get(paid.token.address);
  if (held === undefined) return 'unknown';
  return held >= paid.amount ? 'affordable' : 'not_affordable';
}
