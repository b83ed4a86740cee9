import type { Chain, Market } from '../../catalog/types.ts';
import { type Decimal, fromUnits, toUnits } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { reallocationFee } from '../build/flash-leverage-router.ts';
import type { Issue, Reallocation } from '../types.ts';

/** Fees of the vaults for moving liquidity, loan base units; `undefined` where the native or the loan token has no price. */
export function reallocationFeeInLoan(
  reallocations: readonly Reallocation[],
  { native }: Chain,
  { loan }: Market,
  usdOf: (token: Address) => Decimal | undefined,
): bigint | undefined {
  const wei = reallocationFee(reallocations);
  if (wei === 0n) return 0n;
  const [nativeUsd, loanUsd] = [usdOf(native.address), usdOf(loan.address)];
  if (!nativeUsd || !loanUsd?.gt(0)) return undefined;
  return toUnits(fromUnits(wei, native.decimals).times(nativeUsd).div(loanUsd), loan.decimals);
}

/** Report a fee in native tokens that the bounds of an opening do not count. */
export function unpricedFee({ native }: Chain): Issue {
  return {
    kind: 'PRICE_UNVERIFIED',
    token: native.address,
    message: `The fee for moving liquidity into the market is paid in ${native.symbol}, which has no price now: the bounds of the costs do not count it, compare it yourself.`,
  };
}
