import { MathLib, ORACLE_PRICE_SCALE } from '@morpho-org/blue-sdk';
import type { Market } from '../../catalog/types.ts';
import { beforeDepositFee } from '../../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { leastCollateral, loanInCollateral, mostDebt } from '../preview/ltv.ts';
import type { PositionState } from '../types.ts';

export interface DeleverageInput {
  readonly market: Pick<Market, 'lltv'>;
  /** Base units, with the interest that the debt has when the action is executed. */
  readonly position: PositionState;
  /** Loan base units per collateral base unit, scaled by 1e36. Above 0. */
  readonly price: bigint;
  readonly targetLtvPct: Decimal;
  /** Share in WAD that the contract takes of a repayment or of added collateral. */
  readonly depositFee: bigint;
}

/** Amounts that each alone bring a position down to a target LTV, base units. */
export interface DeleverageSizes {
  /** Loan tokens to send, the deposit fee included. */
  readonly repay: bigint;
  /** Collateral to send, the deposit fee included; absent = no amount is enough for a target of 0. */
  readonly addCollateral?: bigint | undefined;
  /** Collateral to sell at the oracle's price, its proceeds being repaid; absent = no part of the collateral is enough. */
  readonly sell?: bigint | undefined;
}

const WAD = 10n ** 18n;
/** Loan base units that the protocol may round against a debt: shares down in a repayment, and the rest of it up. */
export const ROUNDING = 2n;

/** The debt above the target LTV, loan base units; not positive = the position is at or below it. */
export function excessDebt({
  position: { collateral, debt },
  price,
  targetLtvPct,
}: Pick<DeleverageInput, 'position' | 'price' | 'targetLtvPct'>): bigint {
  return debt - mostDebt(collateral, price, targetLtvPct);
}

/** Size the ways to a target LTV, rounded so that each ends at or below it; `undefined` = the position is not above it. */
export function deleverageSizes(input: DeleverageInput): DeleverageSizes | undefined {
  const { position, price, targetLtvPct, depositFee } = input;
  const excess = excessDebt(input);
  if (excess <= 0n) return undefined;
  const isZero = mostDebt(WAD, ORACLE_PRICE_SCALE, targetLtvPct) === 0n;
  const missing = () => leastCollateral(position.debt, price, targetLtvPct) - position.collateral;
  return {
    repay: beforeDepositFee(excess, depositFee),
    addCollateral: isZero ? undefined : beforeDepositFee(missing(), depositFee),
    sell: partToSell(input, excess),
  };
}

function partToSell(
  { market, position, price, targetLtvPct, depositFee }: DeleverageInput,
  excess: bigint,
): bigint | undefined {
  const { collateral, debt } = position;
  const value = collateralValueInLoan(collateral, price);
  // At its liquidation LTV, or above it, no part of a position can be held once another one is sold.
  if (debt >= MathLib.wMulDown(value, market.lltv)) return undefined;
  // As if all proceeds carried the fee when they are repaid: the contract repays a part of them without one.
  const relief = WAD - depositFee - BigInt(targetLtvPct.shiftedBy(16).integerValue().toFixed(0));
  if (relief <= 0n) return undefined;
  const sold = loanInCollateral(MathLib.mulDivUp(excess, WAD, relief), price) + 1n;
  return sold < collateral ? sold : undefined;
}

/** A sale that was tried: so much was sold, and so much debt was too much afterwards. */
export interface TriedSale {
  readonly sold: bigint;
  /** Loan base units; not positive = the target is reached. */
  readonly excess: bigint;
}

/** A larger sale has a larger loss, so the correction of a size is exceeded by this share of it. */
const OVERSHOOT_DIVISOR = 50n;

/**
 * Correct the size of a sale by the outcome of a tried one, as if each sold unit lowered the excess by the same amount, and a
 * little more. `undefined` = selling does not lower the LTV.
 * @param before excess without a sale, loan base units
 */
export function correctedSale(before: bigint, { sold, excess }: TriedSale): bigint | undefined {
  const relieved = before - excess;
  if (relieved <= 0n) return undefined;
  const exact = MathLib.mulDivUp(sold, before, relieved);
  return exact > sold ? exact + (exact - sold) / OVERSHOOT_DIVISOR + 1n : exact;
}
