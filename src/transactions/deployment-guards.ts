import type { Chain, Market } from '../catalog/types.ts';
import { agreementOf, type Disagreement } from '../domain/deployment/disagreements.ts';
import { contractOf, isOperatorApproved } from '../domain/deployment/routers.ts';
import type { ChainFacts } from '../domain/facts.ts';
import type { Strategy, VisibilityCheckName } from '../domain/strategy/types.ts';
import type { Address } from '../shared/ids.ts';
import { type Ineligibility, NotEligibleError } from './errors.ts';

/**
 * Refuse what stands on something of the catalog that the chain says otherwise.
 * @param addsRisk whether what is built adds risk: a market of another kind can still be left
 * @throws NotEligibleError
 */
export function requireAgreement(
  chain: Chain,
  facts: ChainFacts,
  markets: readonly Market[],
  { addsRisk }: { readonly addsRisk: boolean },
): void {
  const agreement = agreementOf(chain, facts);
  const standing = markets.flatMap((market) => agreement.against(market));
  refuseOn(standing.find(({ effect }) => effect === 'no_builds' || (addsRisk && effect === 'no_new_risk')));
}

/** Refuse to count in a token, or to call a contract, of the catalog that the chain says otherwise of. @throws NotEligibleError */
export function requireSound(chain: Chain, facts: ChainFacts, address: Address): void {
  const { disagreements } = agreementOf(chain, facts);
  refuseOn(disagreements.find(({ key, effect }) => key === address && effect === 'no_builds'));
}

function refuseOn(found: Disagreement | undefined): void {
  if (!found) return;
  const { kind, name, key, catalog, chain } = found;
  throw new NotEligibleError(
    `${name} (${key}) is not on chain what it is here (${kind}: ${shortened(catalog)} here, ${shortened(chain)} there). Nothing is built on it until that is cleared up: choose another strategy, or try again later.`,
    { reason: 'catalog_mismatch', rule: 'catalog_mismatch', pointer: '/health' },
  );
}

const MAX_SHOWN = 80;

function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

/**
 * Refuse a path through one of our routers that may not act for users: everything sent there would revert.
 * @param instead what can be done without it
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
 * Refuse what has to act through the contract of a position that is in manual mode: it would revert.
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
    `Position ${id} is in manual mode: only its wallet acts through the contract that holds it, FlashLeverage can not. Send its manualModeCalls, which repay its debt and take the collateral out.`,
    { reason: 'manual_mode', pointer: `/v1/partner/positions/${user}?chainId=${chainId}` },
  );
}

/** Rules about the deployment that the chain is not asked about again when something is built. */
const RULES = {
  venue_not_allowed:
    'the contract that holds positions allows no router of the venues at which its collateral is traded',
  operator_not_approved: 'the contract that holds positions has not approved the router that enters it',
} as const satisfies Partial<Record<VisibilityCheckName & Ineligibility, string>>;

/**
 * Refuse to add risk to what the deployed contract would not take, by the listing rules that say so.
 * @param next what to do instead
 * @throws NotEligibleError
 */
export function requireDeployed(strategy: Pick<Strategy, 'visibility'> | undefined, next: string): void {
  for (const { name, passed, value } of strategy?.visibility.checks ?? []) {
    if (passed || !(name in RULES)) continue;
    const rule = name as keyof typeof RULES;
    throw new NotEligibleError(
      `This strategy is not offered now (${rule}: ${value ?? 'unknown'}): ${RULES[rule]}. ${next}`,
      { reason: rule, rule, pointer: '/v1/strategies' },
    );
  }
}
