import { features } from '#features';
import { EXAMPLE_QUERIES, type ExampleQuery } from './common/examples.ts';
import { OPS_EXAMPLE_QUERIES } from './ops/ops-examples.ts';
import { PARTNER_EXAMPLE_QUERIES } from './transaction/partner-examples.ts';

const all: readonly ExampleQuery[] = [
  ...EXAMPLE_QUERIES,
  ...PARTNER_EXAMPLE_QUERIES,
  ...OPS_EXAMPLE_QUERIES,
  ...features.flatMap(({ examples }) => examples ?? []),
];

/** Queries worth starting from, by the key that they need: GraphiQL opens with them, the guide shows them, and a test runs every one. */
export const EXAMPLES = {
  public: all.filter(({ tier }) => tier === undefined),
  partner: all.filter(({ tier }) => tier === 'partner'),
  ops: all.filter(({ tier }) => tier === 'ops'),
} as const;
