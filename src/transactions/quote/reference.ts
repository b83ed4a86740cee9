import type { Market } from '../../catalog/types.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { wholePrice } from '../../domain/position/valuation.ts';
import { type Decimal, fromUnits, toUnits } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { loanInCollateral } from '../preview/ltv.ts';
import type { Issue, PayToken } from '../types.ts';

/** Source of a reference: the market's oracle alone, or USD prices as well. */
export type ReferenceBasis = 'ORACLE' | 'USD';

/** Value of a swap's input in its output at prices that no venue influences. */
export interface Reference {
  /** Base units of the output token, rounded down. */
  readonly amountOut: bigint;
  readonly basis: ReferenceBasis;
}

export interface ReferenceInput {
  readonly market: Market;
  /** The market's oracle, at the block that the build reads. */
  readonly price: bigint;
  readonly tokenIn: Pick<PayToken, 'address' | 'decimals'>;
  readonly tokenOut: Pick<PayToken, 'address' | 'decimals'>;
  /** Base units of `tokenIn`. */
  readonly amountIn: bigint;
  /** USD per whole token where the price is fresh and passed its checks. */
  readonly usdOf: (token: Address) => Decimal | undefined;
}

/**
 * Value a swap at prices that no venue influences: between the collateral and the loan token of the market at its oracle,
 * otherwise at USD prices, where the collateral has the price of its oracle times the price of the loan token.
 * `undefined` = nothing prices the pair.
 */
export function referenceFor(input: ReferenceInput): Reference | undefined {
  const { market, price, tokenIn, tokenOut, amountIn, usdOf } = input;
  const { collateral, loan } = market;
  if (tokenIn.address === collateral.address && tokenOut.address === loan.address) {
    return { amountOut: collateralValueInLoan(amountIn, price), basis: 'ORACLE' };
  }
  if (tokenIn.address === loan.address && tokenOut.address === collateral.address) {
    return { amountOut: loanInCollateral(amountIn, price), basis: 'ORACLE' };
  }
  const usd = (address: Address): Decimal | undefined =>
    address === collateral.address ? collateralUsd(market, price, usdOf(loan.address)) : usdOf(address);
  const usdIn = usd(tokenIn.address);
  const usdOut = usd(tokenOut.address);
  if (!usdIn || !usdOut || usdOut.isZero()) return undefined;
  const amountOut = toUnits(fromUnits(amountIn, tokenIn.decimals).times(usdIn).div(usdOut), tokenOut.decimals);
  return { amountOut, basis: 'USD' };
}

/** USD per whole collateral token: the oracle's price in loan tokens times the loan token's. */
function collateralUsd(market: Market, price: bigint, loanUsd: Decimal | undefined): Decimal | undefined {
  return loanUsd && wholePrice(price, market).times(loanUsd);
}

/** Report that only the venue itself prices a token. */
export function unverifiedPrice({ address, symbol }: PayToken): Issue {
  return {
    kind: 'PRICE_UNVERIFIED',
    token: address,
    message: `The service has no price of ${symbol} to check its swap quote with: compare the expected output yourself.`,
  };
}
