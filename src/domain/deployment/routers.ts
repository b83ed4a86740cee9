import type { SwapSource } from '../../catalog/schema.ts';
import type { Chain, Token } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import { type ChainFacts, DEPLOYMENT_KEY, type Fact } from '../facts.ts';
import type { ContractDeployment } from './types.ts';

/** Return the last reading of the deployed contract of a chain. */
export function contractOf({ groups }: ChainFacts): Fact<ContractDeployment> | undefined {
  return groups.deployment.items.get(DEPLOYMENT_KEY);
}

/** The product's own routers, which act for users. */
export function operatorsOf({ contracts: { flashLeverageRouter, equityRouter } }: Chain): readonly Address[] {
  return equityRouter === undefined ? [flashLeverageRouter] : [flashLeverageRouter, equityRouter];
}

/** The venues that trade a collateral. A principal token is traded on the yield market where the chain has one. */
export function venuesOf({ providers }: Chain, { isPt }: Pick<Token, 'isPt'>): readonly SwapSource[] {
  if (isPt && providers.pendle === true) return ['YieldMarket'];
  return [
    ...(providers.kyberswap === undefined ? [] : (['AggregatorOne'] as const)),
    ...(providers.openocean === undefined ? [] : (['AggregatorTwo'] as const)),
  ];
}

/** Whether swaps may go through a router: the contract allows it, and there is code. `undefined` = not known. */
export function isRouterAllowed(contract: ContractDeployment | undefined, router: Address): boolean | undefined {
  if (hasNoCode(contract, router)) return false;
  return contract?.swapRouters.find(({ address }) => address === router)?.isAllowed;
}

/** Whether any router of a venue may be used. `undefined` = not known. */
export function isVenueAllowed(
  { swapRouters }: Chain,
  contract: ContractDeployment | undefined,
  source: SwapSource,
): boolean | undefined {
  const known = (swapRouters[source] ?? []).map((router) => isRouterAllowed(contract, router));
  if (known.includes(true)) return true;
  return known.length === 0 || known.includes(undefined) ? undefined : false;
}

/**
 * Whether one of the product's routers may act for users: it is approved, has code, and is linked to the contracts of the
 * catalog. `undefined` = not known.
 */
export function isOperatorApproved(
  { contracts }: Chain,
  contract: ContractDeployment | undefined,
  operator: Address,
): boolean | undefined {
  if (hasNoCode(contract, operator)) return false;
  const links = contract?.links?.filter(({ address }) => address === operator) ?? [];
  if (links.some(({ to, target }) => contracts[to] !== undefined && contracts[to] !== target)) return false;
  return contract?.operators.find(({ address }) => address === operator)?.isAllowed;
}

function hasNoCode(contract: ContractDeployment | undefined, of: Address): boolean {
  return contract?.code?.some(({ address, hasCode }) => address === of && !hasCode) ?? false;
}
