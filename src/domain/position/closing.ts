import type { Market } from '../../catalog/types.ts';
import { type Decimal, formatUnitsPlain, fromUnits, toFixedHalfUp } from '../../shared/decimal.ts';
import { yieldFeeOnReturn } from '../leverage/fees.ts';
import type { Valuation } from './valuation.ts';

/** Result of closing a position now at the oracle's price, loan base units, before losses of the swap. */
export interface Closing {
  /** Share of the proceeds above the deposit basis, rounded down as in the contract. */
  readonly yieldFee: bigint;
  /** Proceeds after debt and fee; 0 under water. */
  readonly paysOut: bigint;
  /** Proceeds after the debt, minus the deposit basis; negative = a loss, at most of the basis. */
  readonly pnlBeforeFee: bigint;
  readonly pnlAfterFee: bigint;
}

/** Compute the result of closing. `yieldFee` is a share in WAD, 0 on an uncorrelated market. */
export function closingOf(
  { collateralValue, debt }: Pick<Valuation, 'collateralValue' | 'debt'>,
  basis: bigint,
  yieldFee: bigint,
): Closing {
  // Loans are non-recourse: an owner whose debt exceeds the collateral loses the deposit and nothing more.
  const returned = collateralValue > debt ? collateralValue - debt : 0n;
  const fee = yieldFeeOnReturn(returned, basis, yieldFee);
  const paysOut = returned - fee;
  return { yieldFee: fee, paysOut, pnlBeforeFee: returned - basis, pnlAfterFee: paysOut - basis };
}

/** Formatted values: whole loan tokens, and USD with 2 places where the loan token has a price. */
export interface FormattedClosing {
  readonly yieldFee: string;
  readonly paysOut: string;
  readonly pnlBeforeFee: string;
  readonly pnlAfterFee: string;
  readonly yieldFeeUsd?: string | undefined;
  readonly paysOutUsd?: string | undefined;
  readonly pnlBeforeFeeUsd?: string | undefined;
  readonly pnlAfterFeeUsd?: string | undefined;
}

export function formatClosing(
  closing: Closing,
  { loan }: Pick<Market, 'loan'>,
  loanUsd: Decimal | undefined,
): FormattedClosing {
  const { yieldFee, paysOut, pnlBeforeFee, pnlAfterFee } = closing;
  const whole = (assets: bigint) => formatUnitsPlain(assets, loan.decimals);
  const result = {
    yieldFee: whole(yieldFee),
    paysOut: whole(paysOut),
    pnlBeforeFee: whole(pnlBeforeFee),
    pnlAfterFee: whole(pnlAfterFee),
  };
  if (!loanUsd) return result;
  const usd = (assets: bigint) => toFixedHalfUp(fromUnits(assets, loan.decimals).times(loanUsd), 2);
  return {
    ...result,
    yieldFeeUsd: usd(yieldFee),
    paysOutUsd: usd(paysOut),
    pnlBeforeFeeUsd: usd(pnlBeforeFee),
    pnlAfterFeeUsd: usd(pnlAfterFee),
  };
}
