import type { Chain, Market } from '../../catalog/types.ts';
import { type Decimal, fromUnits, toUnits } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { reallocationFee } from '../build/flash-leverage-router.ts';
import type { Issue, Reallocation } from '../types.ts';

/** What the vaults ask for moving liquidity, in loan base units; `undefined` where the native or the loan token has no price. */
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

/** Say that a fee in native tokens could not be counted against what an opening may cost. */
export function unpricedFee({ native }: Chain): Issue {
  return {
    kind: 'PRICE_UNVERIFIED',
    token: native.address,
    message: `The fee for moving liquidity into the market is paid in ${native.symbol}, which has no price now: it is not counted in what the opening may cost, compare it yourself.`,
  };
}
