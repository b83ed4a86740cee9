import type { ChainId } from '../../shared/ids.ts';
import { NotSimulatedError } from '../errors.ts';
import type { Issue, PayToken } from '../types.ts';

export interface Unsimulated {
  readonly chainId: ChainId;
  /** What is built. */
  readonly what: 'transaction' | 'batch';
  /** Why it could not be tried out: its token cannot be lent, or no node can. */
  readonly because: 'token' | 'node';
  readonly token?: Pick<PayToken, 'address' | 'symbol'> | undefined;
  /** Whether it takes risk back, and the caller said that it may go untried. */
  readonly takesRiskBack: boolean;
  readonly isAllowed: boolean;
}

/**
 * Say that something is handed out which was not tried out. Where no node can try anything out only what takes risk back is, and
 * only when the caller asked for it.
 * @throws NotSimulatedError
 */
export function unsimulatedIssue({ chainId, what, because, token, takesRiskBack, isAllowed }: Unsimulated): Issue {
  if (because === 'token') {
    return {
      kind: 'NOT_SIMULATED',
      ...(token ? { token: token.address } : {}),
      message: `NOT_SIMULATED: the ${what} could not be tried out beforehand: the wallet lacks ${token?.symbol ?? 'its token'} and none can be lent to it in simulation. Build again when the funds have arrived.`,
    };
  }
  if (!takesRiskBack || !isAllowed) throw new NotSimulatedError(chainId, takesRiskBack);
  return {
    kind: 'NOT_SIMULATED',
    message: `NOT_SIMULATED: the ${what} was not tried out beforehand, as allowUnsimulated allows: no node of the chain can. What it does follows from the plan alone, and it may revert. Let the wallet simulate it before it signs.`,
  };
}
