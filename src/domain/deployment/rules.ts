import type { Chain, Market } from '../../catalog/types.ts';
import type { ChainFacts, FreshnessBudgets, GroupState } from '../facts.ts';
import { gap, gapOfGroup } from '../freshness/gaps.ts';
import { stampOf } from '../freshness/stamp.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import type { VisibilityCheck, VisibilityCheckName } from '../strategy/types.ts';
import { type Agreement, agreementOf } from './disagreements.ts';
import { contractOf, isOperatorApproved, isVenueAllowed, venuesOf } from './routers.ts';
import { assumed, whyUnknown, whyUnsupported } from './terms.ts';

/** Listing rules about the deployment, with notes on the assumptions for rules that are undecided. */
export interface DeploymentRules {
  readonly checks: readonly VisibilityCheck[];
  readonly gaps: readonly Gap[];
}

/** The rules of one chain at one version of its facts. */
export interface ChainRules {
  readonly agreement: Agreement;
  /** For positions on a loop market: `unsupported`, `paused`, `venue_not_allowed`. */
  of(market: Market): DeploymentRules;
  /** For strategies that are entered through the equity router: `operator_not_approved`. */
  readonly equity: DeploymentRules;
  /** Whether the chain agrees with the catalog on all of these markets: `catalog_mismatch`. */
  matching(...markets: readonly Market[]): DeploymentRules;
}

type Rule = { readonly check: VisibilityCheck; readonly gap?: Gap | undefined };
type Measured = Pick<VisibilityCheck, 'source' | 'stamp'>;

const TAKEN = 'a build reads the contract again, and its simulation decides.';
const INSTEAD = {
  paused: `The contract counts as not paused: ${TAKEN}`,
  unsupported: `The market counts as supported: ${TAKEN}`,
  venue_not_allowed: `The routers of its venues count as allowed: ${TAKEN}`,
  operator_not_approved: `The router counts as approved: ${TAKEN}`,
  catalog_mismatch: 'The catalog counts as right without a comparison.',
} as const satisfies Partial<Record<VisibilityCheckName, string>>;

/** Prepare the rules of a chain. Results that many markets share are computed once. */
export function chainRules(chain: Chain, facts: ChainFacts, budgets: FreshnessBudgets): ChainRules {
  const { deployment, marketSupport } = facts.groups;
  const contract = contractOf(facts);
  const measured = measuredAt(contract, budgets.deployment);
  const agreement = agreementOf(chain, facts);
  const paused = ruleOf('paused', contract?.value.isPaused, measured, ['paused', 'open'], () =>
    whyUnknown(deployment, 'isPaused'),
  );
  const venues = { true: venueRule(true), false: venueRule(false) };

  function venueRule(isPt: boolean): Rule {
    const sources = venuesOf(chain, { isPt });
    const known = sources.map((source) => isVenueAllowed(chain, contract?.value, source));
    const allowed = sources.filter((_, i) => known[i] === true);
    const closed = known.length === 0 || known.includes(undefined) ? undefined : true;
    const isClosed = allowed.length > 0 ? false : closed;
    const values = ['none', allowed.join(', ')] as const;
    return ruleOf('venue_not_allowed', isClosed, measured, values, () => whyUnknown(deployment, 'swapRouters'));
  }

  return {
    agreement,
    of(market) {
      const support = marketSupport.items.get(market.id);
      const { isSupported } = support?.value ?? {};
      const unsupported = ruleOf(
        'unsupported',
        isSupported === undefined ? undefined : !isSupported,
        measuredAt(support, budgets.marketSupport),
        ['unsupported', 'supported'],
        () => whyUnsupported(marketSupport, market.id),
      );
      return together(unsupported, paused, venues[`${market.collateral.isPt}`]);
    },
    get equity() {
      const { equityRouter } = chain.contracts;
      const isApproved = equityRouter && isOperatorApproved(chain, contract?.value, equityRouter);
      const isRefused = isApproved === undefined ? undefined : !isApproved;
      return together(
        ruleOf('operator_not_approved', isRefused, measured, ['not approved', 'approved'], () =>
          whyUnknown(deployment, 'operators'),
        ),
      );
    },
    matching: (...markets) => together(mismatchRule(markets, agreement, facts, budgets)),
  };
}

const NOT_READ = gap('', 'NOT_MEASURED', 'A market or a token does not return the values for the comparison.');

function mismatchRule(
  markets: readonly Market[],
  agreement: Agreement,
  { groups: { marketSupport, tokenContract } }: ChainFacts,
  budgets: FreshnessBudgets,
): Rule {
  const blocking = markets.flatMap((market) => agreement.against(market)).filter(({ effect }) => effect !== 'warning');
  const kinds = [...new Set(blocking.map(({ kind }) => kind))];
  let measured: Measured = {};
  let missing: Gap | undefined;
  const compare = <T>(group: GroupState<T>, key: string, budgetSec: number, isKnown: (value: T) => boolean) => {
    const fact = group.items.get(key);
    if (!fact) missing ??= gapOfGroup('', group, key);
    else if (!isKnown(fact.value)) missing ??= { ...NOT_READ, sinceMs: fact.asOfMs };
    const isOlder = fact && (measured.stamp === undefined || fact.asOfMs < measured.stamp.asOfMs);
    if (isOlder) measured = measuredAt(fact, budgetSec);
  };
  for (const { id, collateral, loan } of markets) {
    compare(marketSupport, id, budgets.marketSupport, ({ params }) => params !== undefined);
    for (const { isNative, address } of [collateral, loan]) {
      if (isNative) continue;
      compare(tokenContract, address, budgets.tokenContract, (token) => !token.hasCode || token.decimals !== undefined);
    }
  }
  const isWrong = kinds.length > 0 ? true : missing ? undefined : false;
  const why = missing;
  return ruleOf('catalog_mismatch', isWrong, measured, [kinds.join(', '), 'none'], () => why as Gap);
}

/** A rule that fails if a condition is known to hold, and passes if it does not hold or is unknown. */
function ruleOf(
  name: keyof typeof INSTEAD,
  isSo: boolean | undefined,
  measured: Measured,
  [so, not]: readonly [so: string, not: string],
  why: () => Gap,
): Rule {
  const gap = isSo === undefined ? assumed(`visibility.checks.${name.toUpperCase()}`, INSTEAD[name], why()) : undefined;
  const check: VisibilityCheck = {
    name,
    passed: isSo !== true,
    value: isSo === undefined ? null : isSo ? so : not,
    threshold: null,
    source: measured.source,
    stamp: measured.stamp,
    note: gap?.message,
  };
  return { check, gap };
}

function together(...rules: readonly Rule[]): DeploymentRules {
  return { checks: rules.map(({ check }) => check), gaps: rules.flatMap(({ gap }) => gap ?? []) };
}

function measuredAt(
  fact: { readonly asOfMs: number; readonly source: string } | undefined,
  budgetSec: number,
): { readonly source?: string | undefined; readonly stamp?: Stamp | undefined } {
  return fact ? { source: fact.source, stamp: stampOf(fact, budgetSec) } : {};
}
