import type { Market } from '../../catalog/types.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { Decimal, fromUnits, toUnits } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { loanInCollateral } from '../preview/ltv.ts';
import type { PayToken } from '../types.ts';

export interface ReferenceInput {
  readonly market: Market;
  /** The market's oracle. */
  readonly price: bigint;
  readonly tokenIn: Pick<PayToken, 'address' | 'decimals'>;
  readonly tokenOut: Pick<PayToken, 'address' | 'decimals'>;
  readonly amountIn: bigint;
  /** USD per whole token where it is believed. */
  readonly usdOf: (token: Address) => Decimal | undefined;
}

/** What a swap would give at the oracle's price, or at USD prices where the oracle does not price the pair; base units. */
export function referenceOutput({
  market,
  price,
  tokenIn,
  tokenOut,
  amountIn,
  usdOf,
}: ReferenceInput): bigint | undefined {
  const { collateral, loan } = market;
  if (tokenIn.address === collateral.address && tokenOut.address === loan.address) {
    return collateralValueInLoan(amountIn, price);
  }
  if (tokenIn.address === loan.address && tokenOut.address === collateral.address) {
    return loanInCollateral(amountIn, price);
  }
  const usd = (address: Address): Decimal | undefined => {
    if (address !== collateral.address) return usdOf(address);
    const loanUsd = usdOf(loan.address);
    return loanUsd && new Decimal(price.toString()).shiftedBy(collateral.decimals - loan.decimals - 36).times(loanUsd);
  };
  const usdIn = usd(tokenIn.address);
  const usdOut = usd(tokenOut.address);
  if (!usdIn || !usdOut || usdOut.isZero()) return undefined;
  return toUnits(fromUnits(amountIn, tokenIn.decimals).times(usdIn).div(usdOut), tokenOut.decimals);
}
