import type { Chain } from '../../catalog/types.ts';
import { agreementOf, type Disagreement } from '../../domain/deployment/disagreements.ts';
import { contractOf, isOperatorApproved, isRouterAllowed, operatorsOf } from '../../domain/deployment/routers.ts';
import { contractTerms } from '../../domain/deployment/terms.ts';
import type { AppContext } from '../common/context.ts';

/** Read the terms of a chain's deployed contract and its approval of the catalog's routers. */
export function readDeployment(chain: Chain, ctx: AppContext) {
  const facts = ctx.loaders.facts(chain.chainId);
  const contract = contractOf(facts)?.value;
  const nameOf = new Map(Object.entries(chain.contracts).map(([name, address]) => [address, name] as const));
  return {
    ...contractTerms(facts, ctx.services.budgets.deployment),
    swapRouters: Object.entries(chain.swapRouters).flatMap(([name, routers]) =>
      (routers ?? []).map((address) => ({ name, address, isAllowed: isRouterAllowed(contract, address) })),
    ),
    actingRouters: operatorsOf(chain).map((address) => ({
      name: nameOf.get(address) ?? '',
      address,
      isAllowed: isOperatorApproved(chain, contract, address),
    })),
  };
}

/** List the disagreements between a chain and its catalog. */
export function readDisagreements(chain: Chain, ctx: AppContext): readonly Disagreement[] {
  return agreementOf(chain, ctx.loaders.facts(chain.chainId)).disagreements;
}
