import { encodeFunctionData } from '../../abi/calldata.ts';
import { savingsRateAbi } from '../../abi/savings-rate.ts';
import type { Token } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import { decodeRayRate, readingsOf } from '../decode.ts';
import type { Call, CallResult, Readings } from '../types.ts';

/** A token whose contract publishes its growth per second. */
export type RatedToken = Token & { readonly onchainRate: NonNullable<Token['onchainRate']> };

/** Check whether the catalog names the view of a token's rate. */
export function isRated(token: Token): token is RatedToken {
  return token.onchainRate !== undefined;
}

export function planOnchainRates(tokens: readonly RatedToken[]): readonly Call[] {
  return tokens.map(({ address, onchainRate }) => ({
    to: address,
    data: encodeFunctionData({ abi: savingsRateAbi, functionName: onchainRate }),
  }));
}

/** Fold the answers, in the order of `planOnchainRates`: growth factor per second in ray, by token. */
export function foldOnchainRates(
  tokens: readonly RatedToken[],
  results: readonly CallResult[],
): Readings<Address, bigint> {
  return readingsOf(tokens.map(({ address }, i) => [address, decodeRayRate(results[i])]));
}
