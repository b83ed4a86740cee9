import type { Visibility, VisibilityCheck } from '../../domain/strategy/types.ts';
import { builder } from '../builder.ts';
import { FreshnessRef } from '../common/stamp.ts';

const CheckRef = builder.objectRef<VisibilityCheck>('VisibilityCheck').implement({
  description: 'One listing rule and how the strategy fares.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the rule.' }),
    passed: t.exposeBoolean('passed', { description: 'Whether it is met.' }),
    value: t.exposeString('value', { nullable: true, description: 'What was found; `null` = not known.' }),
    threshold: t.exposeString('threshold', { nullable: true, description: 'The limit; `null` = the rule has none.' }),
    source: t.exposeString('source', {
      nullable: true,
      description:
        'Of rules about the deployed contract: who told it; `null` of other rules, and while nothing was measured.',
    }),
    freshness: t.expose('stamp', {
      type: FreshnessRef,
      nullable: true,
      description: 'Of rules about the deployed contract: when it was told; `null` as `source`.',
    }),
    note: t.exposeString('note', {
      nullable: true,
      description: 'What is taken because the rule cannot tell, and why it cannot; `null` where it can.',
    }),
  }),
});

export const VisibilityRef = builder.objectRef<Visibility>('Visibility').implement({
  description: 'Whether a strategy is listed, and the rules that decided.',
  fields: (t) => ({
    visible: t.exposeBoolean('visible', { description: 'Whether it is listed: all rules are met.' }),
    checks: t.expose('checks', {
      type: [CheckRef],
      complexity: { field: 1, multiplier: 9 },
      description: 'Every rule, met or not.',
    }),
  }),
});
