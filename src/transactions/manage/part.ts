import { MathLib } from '@morpho-org/blue-sdk';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { SENT_WITHIN_SEC } from '../liquidity.ts';
import { debtOf } from '../read/market-state.ts';
import type { LivePosition } from '../read/position.ts';
import type { ManageContext } from './types.ts';

/** A position on its market. */
export interface Held extends Pick<ManageContext, 'market' | 'live'> {
  readonly position: Pick<LivePosition, 'collateral' | 'debt' | 'borrowShares'>;
}

/** Loan base units by which shares of a debt may be rounded up, in the position and in the repayment. */
const ROUNDING = 2n;

/** The debt that a part of the collateral repays where it is the same share of both, and until the bundle lapses; rounded up. */
export function shareOfDebt({ position, live }: Held, amount: bigint): bigint {
  const debt = debtOf(live, position.borrowShares, SENT_WITHIN_SEC);
  return debt === 0n ? 0n : MathLib.mulDivUp(debt, amount, position.collateral) + ROUNDING;
}

/**
 * The most collateral that can be sold while some is left: the rest must carry its share of the debt after rounding. 0 = the
 * position is at its liquidation LTV, where no part can be held.
 */
export function mostOfPart({ market, position, live }: Held): bigint {
  const { collateral, debt } = position;
  if (debt === 0n) return collateral - 1n;
  const spare = MathLib.wMulDown(collateralValueInLoan(collateral, live.price), market.lltv) - debt;
  if (spare <= 0n) return 0n;
  // Of a position with n units of spare, 1/n of it has one: two are lost to rounding the debt, one to the value's.
  const least = MathLib.mulDivUp(collateral, ROUNDING + 1n, spare) + 1n;
  return MathLib.zeroFloorSub(collateral, least);
}

/** The part of a position that may stay behind where all of it cannot be named; more = it is not left. */
const MOST_LEFT = 1_000n;

/** How a close names an amount, so that collateral that somebody adds before it is mined stays behind. */
export interface ExactAmount {
  /** Collateral base units. */
  readonly amount: bigint;
  /** Whether added collateral leaves it possible, however much it is. */
  readonly isImmune: boolean;
}

/**
 * The amount of a close that added collateral cannot block: as little less than all that was read that the rest can carry its share of
 * the debt after rounding. A position at its liquidation LTV can leave nothing behind.
 */
export function immuneAmount(held: Held): ExactAmount {
  const { collateral, borrowShares } = held.position;
  if (borrowShares === 0n) return { amount: collateral, isImmune: true };
  const debt = debtOf(held.live, borrowShares, SENT_WITHIN_SEC);
  const most = mostOfPart({ ...held, position: { ...held.position, debt } });
  const isLittle = (collateral - most) * MOST_LEFT <= collateral;
  return isLittle ? { amount: most, isImmune: true } : { amount: collateral, isImmune: false };
}

/** The largest part whose share of the debt the protocol holds; 0 = none. Collateral base units. */
export function largestPart(held: Held): bigint {
  const { collateral, borrowShares } = held.position;
  const most = mostOfPart(held);
  const debt = debtOf(held.live, borrowShares, SENT_WITHIN_SEC);
  if (debt === 0n) return most;
  return MathLib.min(most, (collateral * MathLib.zeroFloorSub(held.live.idle, ROUNDING)) / debt);
}
