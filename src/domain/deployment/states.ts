import type { Chain } from '../../catalog/types.ts';
import type { ChainFacts } from '../facts.ts';
import { contractOf, isOperatorApproved, isVenueAllowed, operatorsOf } from './routers.ts';

/** Counts of the deployment's restrictions on the catalog. An unknown value counts only in `unknown`. */
export interface DeploymentStates {
  /** 1 while the contract is paused. */
  readonly paused: number;
  /** Loop markets in which the contract opens no positions. */
  readonly unsupported: number;
  /** Venues of the catalog without any allowed router. */
  readonly venue_not_allowed: number;
  /** The product's routers that may not act for users. */
  readonly operator_not_approved: number;
  /** Terms of the contract for which the documented default is used. */
  readonly unknown: number;
}

/** Count the restrictions in the last reading of a chain's deployment. */
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
