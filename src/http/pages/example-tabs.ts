import type { Config } from '../../config/config.ts';
import { EXAMPLE_QUERIES } from '../../schema/common/examples.ts';
import { OPS_EXAMPLE_QUERIES } from '../../schema/ops/ops-examples.ts';
import { PARTNER_EXAMPLE_QUERIES } from '../../schema/transaction/partner-examples.ts';

/**
 * Make the initial tabs of GraphiQL. An example with a key contains a sample key in the local world, otherwise a placeholder.
 */
export function exampleTabs(sampleKeys: Config['sampleKeys']) {
  return [...EXAMPLE_QUERIES, ...PARTNER_EXAMPLE_QUERIES, ...OPS_EXAMPLE_QUERIES].map(({ query, variables, tier }) => {
    const [key = '<API_KEY>'] = [...sampleKeys].find(([, sample]) => sample.tier === tier) ?? [];
    return {
      query,
      variables: variables === undefined ? undefined : JSON.stringify(variables, null, 2),
      headers: tier === undefined ? undefined : JSON.stringify({ authorization: `Bearer ${key}` }, null, 2),
    };
  });
}
