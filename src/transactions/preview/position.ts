import { MathLib } from '@morpho-org/blue-sdk';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { exactApyPctAtLtv, leverageFromLtvPct } from '../../domain/leverage/leveraged-apy.ts';
import { Decimal, HUNDRED } from '../../shared/decimal.ts';
import { NAMES } from '../../shared/names.ts';
import { LimitExceededError } from '../errors.ts';
import { leastOutput } from '../input.ts';
import { lossPct } from '../quote/loss.ts';
import { withMinimum } from '../quote/planned.ts';
import type { EffectiveSlippage, PlannedSwap, PositionPreview, PositionState } from '../types.ts';
import { leastCollateral, ltvPctOf } from './ltv.ts';
import type { MarketRates } from './rates.ts';

export interface PositionPreviewInput {
  readonly price: bigint;
  /** After the expected fill. */
  readonly after: PositionState;
  /** After the worst fill that the contracts accept; the same where nothing is swapped. */
  readonly worst?: PositionState | undefined;
  /** Deposit basis after it, loan base units; absent where only a simulation shows it. */
  readonly basis?: bigint | undefined;
  readonly requestedLtvPct?: Decimal | undefined;
  readonly rates?: MarketRates | undefined;
  readonly swap?:
    | { readonly source: PlannedSwap['quote']['source']; readonly priceImpactPct?: Decimal | undefined }
    | undefined;
}

/** Preview a position. @throws RangeError when it would have debt and no collateral value */
export function previewPosition(input: PositionPreviewInput): PositionPreview {
  const { price, after, worst = after, basis, requestedLtvPct, rates, swap } = input;
  const effectiveLtvPct = ltvPctOf(after, price);
  const worstLtvPct = ltvPctOf(worst, price);
  if (!effectiveLtvPct || !worstLtvPct) throw new RangeError('a position with debt needs collateral');
  const apys = rates && effectiveLtvPct.lt(HUNDRED) ? apysAt(rates, effectiveLtvPct, after.debt) : undefined;
  return {
    requestedLtvPct,
    effectiveLtvPct,
    worstLtvPct,
    after,
    worst,
    basis,
    rates,
    expectedLeverageApyPct: apys?.after,
    leverageApyBeforePct: apys?.before,
    swapSource: swap?.source,
    priceImpactPct: swap?.priceImpactPct,
  };
}

/** Add the interest until the plan expires, loan base units, to the worst case. */
export function withInterest(preview: PositionPreview, interest: bigint, price: bigint): PositionPreview {
  if (preview.worst.debt === 0n) return preview;
  const worst = { ...preview.worst, debt: preview.worst.debt + interest };
  return { ...preview, worst, worstLtvPct: ltvPctOf(worst, price) ?? preview.worstLtvPct };
}

/** Preview the same with the position that a simulation ended with. @throws RangeError as `previewPosition` */
export function previewSimulated(
  planned: PositionPreview,
  {
    after,
    basis,
    price,
    lossPct,
  }: Pick<PositionPreviewInput, 'after' | 'basis' | 'price'> & {
    /** Of the last swap as filled. */
    readonly lossPct: Decimal | undefined;
  },
): PositionPreview {
  const { requestedLtvPct, rates, swapSource, priceImpactPct } = planned;
  const impact = priceImpactPct && (lossPct ?? priceImpactPct);
  const swap = swapSource && { source: swapSource, priceImpactPct: impact };
  const simulated = previewPosition({ price, after, basis, rates, requestedLtvPct, swap });
  const isWorse = simulated.effectiveLtvPct.gt(planned.worstLtvPct);
  const { worst, worstLtvPct } = isWorse ? simulated : planned;
  return { ...simulated, worst, worstLtvPct };
}

/** Leverage of a previewed position at full precision. `undefined` from 100 % LTV on. */
export function leverageOf({ effectiveLtvPct }: PositionPreview): Decimal | undefined {
  return effectiveLtvPct.lt(HUNDRED) ? leverageFromLtvPct(effectiveLtvPct) : undefined;
}

/** How much of a loan-to-collateral swap's value is lost at the oracle's price, percent; negative = gained. */
export function buyImpactPct(amountIn: bigint, collateralOut: bigint, price: bigint): Decimal {
  return lossPct(amountIn, collateralValueInLoan(collateralOut, price));
}

/** How much of a collateral-to-loan swap's value is lost at the oracle's price, percent. */
export function sellImpactPct(collateralIn: bigint, amountOut: bigint, price: bigint): Decimal {
  return lossPct(collateralValueInLoan(collateralIn, price), amountOut);
}

/**
 * Give the swap inside a flash loan its minimum: `quote × (1 − slippage)`, or more where that would leave the position above
 * the contracts' LTV limit.
 * @throws LimitExceededError when even the expected fill would
 */
export function withinMaxLtv(
  swap: PlannedSwap,
  position: {
    /** Collateral that is there without the swap; the least where another swap gives it. */
    readonly collateral: bigint;
    readonly debt: bigint;
    readonly price: bigint;
    readonly slippage: EffectiveSlippage;
    readonly maxLtvPct: Decimal;
    readonly requested: { readonly field: string; readonly value: string };
  },
): PlannedSwap {
  const { collateral, debt, price, slippage, maxLtvPct, requested } = position;
  const { expectedOut } = swap;
  const needed = leastCollateral(debt, price, maxLtvPct) - collateral;
  if (needed > expectedOut) {
    const ltv = ltvPctOf({ collateral: collateral + expectedOut, debt }, price);
    throw new LimitExceededError(
      `At today's swap prices ${NAMES.input(requested.field)} ${requested.value} would end at an LTV of ${ltv?.toFixed(2, Decimal.ROUND_UP) ?? 'above 100'} %, and the contracts accept at most ${maxLtvPct.toFixed()} %. Ask for less.`,
      { ...requested, limit: { maxLtvPct: maxLtvPct.toFixed() } },
    );
  }
  return withMinimum(swap, MathLib.max(needed, leastOutput(expectedOut, slippage.value)));
}

/** APY of a position as it stands, percent; `undefined` without rates, and from an LTV of 100 % on. */
export function apyNow(position: PositionState, price: bigint, rates: MarketRates | undefined): Decimal | undefined {
  const ltvPct = ltvPctOf(position, price);
  return rates && ltvPct?.lt(HUNDRED) ? apysAt(rates, ltvPct, position.debt).before : undefined;
}

/** APY of the position at the borrow rate of now, and at the one that it leaves behind. */
function apysAt({ collateralApyPct, incentiveAprPct, borrowApyPct }: MarketRates, ltvPct: Decimal, debt: bigint) {
  const { before, after } = borrowApyPct(debt);
  const at = (rate: Decimal) => exactApyPctAtLtv(collateralApyPct, rate.minus(incentiveAprPct), ltvPct);
  return { before: at(before), after: at(after) };
}
