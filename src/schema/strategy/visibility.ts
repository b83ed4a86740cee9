import type { Visibility, VisibilityCheck, VisibilityCheckName } from '../../domain/strategy/types.ts';
import { VISIBILITY_CHECKS } from '../../domain/strategy/types.ts';
import { builder } from '../builder.ts';
import { FreshnessRef } from '../common/stamp.ts';

const RULE_DESCRIPTIONS: Readonly<Record<VisibilityCheckName, string>> = {
  has_yield: 'Something that the strategy earns is above zero; `value` is the largest yield. Percent.',
  swap_route: 'The collateral has a swap route; `value` is `available` or `none`.',
  maturity: 'A principal token does not mature too soon; `value` are days left.',
  liquidity: 'Enough can be borrowed at once; `value` is USD.',
  unsupported: 'The deployed contract opens positions on the market; `value` is `supported` or `unsupported`.',
  paused: 'The deployed contract is not paused; `value` is `open` or `paused`.',
  venue_not_allowed:
    'The deployed contract allows a router of a venue at which the collateral is traded; `value` are the allowed venues.',
  catalog_mismatch: 'Chain and catalog agree on the market, its tokens and the contract; `value` is the difference.',
  operator_not_approved: 'Of vaults: the deployed contract has approved the router that enters them.',
};

export const ListingRuleRef = builder.enumType('ListingRule', {
  description: 'Rule that decides whether a strategy is listed.',
  values: Object.fromEntries(
    VISIBILITY_CHECKS.map((rule) => [rule.toUpperCase(), { value: rule, description: RULE_DESCRIPTIONS[rule] }]),
  ) as Record<string, { value: VisibilityCheckName; description: string }>,
});

const CheckRef = builder.objectRef<VisibilityCheck>('VisibilityCheck').implement({
  description:
    'One listing rule and how the strategy fares. A rule with an unknown input passes, with `note` and an entry in `gaps` of the strategy.',
  fields: (t) => ({
    rule: t.expose('name', { type: ListingRuleRef, description: 'Rule.' }),
    passed: t.exposeBoolean('passed', { description: 'Whether the rule is met.' }),
    value: t.exposeString('value', { nullable: true, description: 'Value found; `null` = not known, see `note`.' }),
    threshold: t.exposeString('threshold', { nullable: true, description: 'Limit; `null` = the rule has none.' }),
    source: t.exposeString('source', {
      nullable: true,
      description:
        'Public name of the source, of rules about the deployed contract; `null` = another rule, or nothing was measured.',
    }),
    freshness: t.expose('stamp', {
      type: FreshnessRef,
      nullable: true,
      description:
        'Age of the measurement, of rules about the deployed contract; `null` = another rule, or nothing was measured.',
    }),
    note: t.exposeString('note', {
      nullable: true,
      description: 'Assumption of the rule without a value, and the reason; `null` = the rule has its value.',
    }),
  }),
});

export const VisibilityRef = builder.objectRef<Visibility>('Visibility').implement({
  description: 'Whether a strategy is listed, and the rules that decided.',
  fields: (t) => ({
    listed: t.exposeBoolean('visible', { description: 'Whether all rules are met.' }),
    checks: t.expose('checks', {
      type: [CheckRef],
      complexity: { field: 1, multiplier: 9 },
      description: `Every rule that applies, met or not; at most ${VISIBILITY_CHECKS.length}.`,
    }),
  }),
});
