import type { Chain } from '../../catalog/types.ts';
import type { ChainFacts } from '../facts.ts';
import { contractOf, isOperatorApproved, isVenueAllowed, operatorsOf } from './routers.ts';

/** What of a deployment keeps users from what the catalog offers, counted. What is not known is counted as such alone. */
export interface DeploymentStates {
  /** 1 while the contract lets nothing happen. */
  readonly paused: number;
  /** Loop markets in which it opens no positions. */
  readonly unsupported: number;
  /** Venues of the catalog none of whose routers it allows. */
  readonly venue_not_allowed: number;
  /** Our own routers that may not act for users. */
  readonly operator_not_approved: number;
  /** Terms of the contract that stand on their documented defaults. */
  readonly unknown: number;
}

/** Count what a chain's deployment was last measured to say. */
export function deploymentStates(chain: Chain, facts: ChainFacts): DeploymentStates {
  const contract = contractOf(facts)?.value;
  const support = facts.groups.marketSupport.items;
  const loops = chain.markets.filter(({ kind }) => kind === 'loop');
  const venues = Object.keys(chain.swapRouters) as (keyof Chain['swapRouters'])[];
  const terms = [contract?.liquidationBuffer, contract?.yieldFee, contract?.depositFee, contract?.isPaused];
  return {
    paused: Number(contract?.isPaused === true),
    unsupported: loops.filter(({ id }) => support.get(id)?.value.isSupported === false).length,
    venue_not_allowed: venues.filter((source) => isVenueAllowed(chain, contract, source) === false).length,
    operator_not_approved: operatorsOf(chain).filter((at) => isOperatorApproved(chain, contract, at) === false).length,
    unknown: terms.filter((term) => term === undefined).length,
  };
}
