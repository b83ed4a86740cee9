import type { Chain } from '../../catalog/types.ts';
import { NotSimulatedError } from '../errors.ts';
import type { Issue, PayToken } from '../types.ts';

/** A transaction or batch that was built and could not be simulated. */
export interface Unsimulated {
  readonly chain: Pick<Chain, 'chainId'>;
  readonly what: 'transaction' | 'batch';
  readonly pays?: { readonly token: Pick<PayToken, 'address' | 'symbol'> } | undefined;
  readonly lowersRisk: boolean;
  readonly allowUnsimulated?: boolean | undefined;
}

/**
 * Say that calls were not simulated: the wallet lacks a token that cannot be lent to it in simulation, or no node of the chain
 * can simulate. Then only calls that take risk back are built, and only when the caller allows it.
 * @throws NotSimulatedError
 */
export function unsimulatedIssue(
  { chain, what, pays, lowersRisk, allowUnsimulated }: Unsimulated,
  lacking: 'token' | 'node',
): Issue {
  if (lacking === 'token') {
    return {
      kind: 'NOT_SIMULATED',
      token: pays?.token.address,
      message: `NOT_SIMULATED: the ${what} could not be simulated: the wallet lacks ${pays?.token.symbol ?? 'its token'}, and it cannot be lent to the wallet in simulation. Build again when the funds have arrived.`,
    };
  }
  if (!lowersRisk || allowUnsimulated !== true) {
    throw new NotSimulatedError(chain.chainId, lowersRisk);
  }
  return {
    kind: 'NOT_SIMULATED',
    message: `NOT_SIMULATED: no node of the chain can simulate the ${what}, and allowUnsimulated accepts that. Its effects are known from the plan alone, and it may revert. Let the wallet simulate it before it signs.`,
  };
}
