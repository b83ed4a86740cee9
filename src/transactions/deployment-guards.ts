import type { Chain, Market } from '../catalog/types.ts';
import { agreementOf, type Disagreement } from '../domain/deployment/disagreements.ts';
import { contractOf, isOperatorApproved } from '../domain/deployment/routers.ts';
import type { ChainFacts } from '../domain/facts.ts';
import type { Strategy, VisibilityCheckName } from '../domain/strategy/types.ts';
import type { Address } from '../shared/ids.ts';
import { NAMES } from '../shared/names.ts';
import { type Ineligibility, NotEligibleError } from './errors.ts';

/**
 * Refuse a build on a part of the catalog that differs on the chain.
 * @param addsRisk whether the action adds risk: a market of another kind can still be left
 * @throws NotEligibleError
 */
export function requireAgreement(
  chain: Chain,
  facts: ChainFacts,
  markets: readonly Market[],
  { addsRisk }: { readonly addsRisk: boolean },
): void {
  const agreement = agreementOf(chain, facts);
  const blocking = markets.flatMap((market) => agreement.against(market));
  refuseOn(blocking.find(({ effect }) => effect === 'no_builds' || (addsRisk && effect === 'no_new_risk')));
}

/** Refuse a token or contract of the catalog that differs on the chain. @throws NotEligibleError */
export function requireSound(chain: Chain, facts: ChainFacts, address: Address): void {
  const { disagreements } = agreementOf(chain, facts);
  refuseOn(disagreements.find(({ key, effect }) => key === address && effect === 'no_builds'));
}

function refuseOn(found: Disagreement | undefined): void {
  if (!found) return;
  const { kind, name, key, catalog, chain } = found;
  throw new NotEligibleError(
    `${name} (${key}) differs on the chain from the catalog (${kind}: ${shortened(catalog)} in the catalog, ${shortened(chain)} on the chain). Nothing is built on it until that is resolved: choose another strategy, or try again later.`,
    { reason: 'catalog_mismatch', rule: 'catalog_mismatch', pointer: NAMES.places.freshness },
  );
}

const MAX_PRINTED = 80;

function shortened(text: string): string {
  return text.length > MAX_PRINTED ? `${text.slice(0, MAX_PRINTED)}...` : text;
}

/**
 * Refuse a path through a router of the product that may not act for users: its transactions would revert.
 * @param instead the way that works without it
 * @throws NotEligibleError
 */
export function requireOperator(chain: Chain, facts: ChainFacts, operator: Address, instead: string): void {
  if (isOperatorApproved(chain, contractOf(facts)?.value, operator) !== false) return;
  throw new NotEligibleError(
    `The router ${operator} may not act for users now: the contract that holds positions has not approved it. ${instead}`,
    { reason: 'operator_not_approved', rule: 'operator_not_approved' },
  );
}

/** Whether reallocations and swaps before an open can be done at all: they go through the router. */
export function hasOperator(chain: Chain, facts: ChainFacts): boolean {
  return isOperatorApproved(chain, contractOf(facts)?.value, chain.contracts.flashLeverageRouter) !== false;
}

/**
 * Refuse an action through the contract of a position that is in manual mode: it would revert.
 * @throws NotEligibleError
 */
export function requireManaged(
  { manualMode }: { readonly manualMode?: boolean | undefined },
  { chainId }: Pick<Chain, 'chainId'>,
  user: Address,
  id: number,
): void {
  if (manualMode !== true) return;
  throw new NotEligibleError(
    `Position ${id} is in manual mode: only its wallet can act through the contract that holds it, FlashLeverage cannot. Send its manualModeCalls: they repay its debt and take the collateral out.`,
    { reason: 'manual_mode', pointer: NAMES.places.positions(user, chainId) },
  );
}

/** Rules about the deployment that a build does not read from the chain again. */
const RULES = {
  venue_not_allowed:
    'the contract that holds positions allows no router of the venues at which its collateral is traded',
  operator_not_approved: 'the contract that holds positions has not approved the router that enters it',
} as const satisfies Partial<Record<VisibilityCheckName & Ineligibility, string>>;

/**
 * Refuse to add risk where a listing rule says that the deployed contract would revert.
 * @param next the next step
 * @throws NotEligibleError
 */
export function requireDeployed(strategy: Pick<Strategy, 'visibility'> | undefined, next: string): void {
  for (const { name, passed, value } of strategy?.visibility.checks ?? []) {
    if (passed || !(name in RULES)) continue;
    const rule = name as keyof typeof RULES;
    throw new NotEligibleError(
      `This strategy is not offered now (${rule}: ${value ?? 'unknown'}): ${RULES[rule]}. ${next}`,
      { reason: rule, rule, pointer: NAMES.places.strategies() },
    );
  }
}
