import type { EquityVault } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import type { DepositFees } from './types.ts';

/** Referral fee of swaps into a position, basis points: markets whose two sides follow one price, and all others. */
const CORRELATED_BPS = 5;
const UNCORRELATED_BPS = 25;

/** The referral fees of a deposit; none where nobody receives them. */
export function depositFees({ yieldMarket }: EquityVault, feeReceiver: Address | undefined): DepositFees {
  if (feeReceiver === undefined) return { stockLegBps: 0, yieldLegBps: 0 };
  return { stockLegBps: UNCORRELATED_BPS, yieldLegBps: yieldMarket.correlated ? CORRELATED_BPS : UNCORRELATED_BPS };
}
