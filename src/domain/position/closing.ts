import type { Market } from '../../catalog/types.ts';
import { type Decimal, formatUnitsPlain, fromUnits, toFixedHalfUp } from '../../shared/decimal.ts';
import { yieldFeeOnReturn } from '../leverage/fees.ts';
import type { Valuation } from './valuation.ts';

/** What closing a position now comes to at the oracle's price, loan base units. What its swap loses is not in it. */
export interface Closing {
  /** Of what is above the deposit basis, rounded down as the contract does. */
  readonly yieldFee: bigint;
  /** What is left after the debt and the fee; 0 under water. */
  readonly paysOut: bigint;
  /** What is left after the debt, less the deposit basis; negative = a loss, of the basis at most. */
  readonly pnlBeforeFee: bigint;
  readonly pnlAfterFee: bigint;
}

/** Tell what closing comes to. `yieldFee` is a share in WAD, 0 on an uncorrelated market. */
export function closingOf(
  { collateralValue, debt }: Pick<Valuation, 'collateralValue' | 'debt'>,
  basis: bigint,
  yieldFee: bigint,
): Closing {
  // A loan is paid back with its collateral at most: who owes more has lost what was put in, and nothing beyond.
  const returned = collateralValue > debt ? collateralValue - debt : 0n;
  const fee = yieldFeeOnReturn(returned, basis, yieldFee);
  const paysOut = returned - fee;
  return { yieldFee: fee, paysOut, pnlBeforeFee: returned - basis, pnlAfterFee: paysOut - basis };
}

/** The same ready to show: whole loan tokens, and USD with 2 places where the loan token has a price. */
export interface ShownClosing {
  readonly yieldFee: string;
  readonly paysOut: string;
  readonly pnlBeforeFee: string;
  readonly pnlAfterFee: string;
  readonly yieldFeeUsd?: string;
  readonly paysOutUsd?: string;
  readonly pnlBeforeFeeUsd?: string;
  readonly pnlAfterFeeUsd?: string;
}

/** Show what closing comes to. */
export function formatClosing(
  closing: Closing,
  { loan }: Pick<Market, 'loan'>,
  loanUsd: Decimal | undefined,
): ShownClosing {
  const { yieldFee, paysOut, pnlBeforeFee, pnlAfterFee } = closing;
  const whole = (assets: bigint) => formatUnitsPlain(assets, loan.decimals);
  const shown = {
    yieldFee: whole(yieldFee),
    paysOut: whole(paysOut),
    pnlBeforeFee: whole(pnlBeforeFee),
    pnlAfterFee: whole(pnlAfterFee),
  };
  if (!loanUsd) return shown;
  const usd = (assets: bigint) => toFixedHalfUp(fromUnits(assets, loan.decimals).times(loanUsd), 2);
  return {
    ...shown,
    yieldFeeUsd: usd(yieldFee),
    paysOutUsd: usd(paysOut),
    pnlBeforeFeeUsd: usd(pnlBeforeFee),
    pnlAfterFeeUsd: usd(pnlAfterFee),
  };
}
