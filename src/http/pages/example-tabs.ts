import type { Config } from '../../config/config.ts';
import type { ExampleQuery } from '../../schema/common/examples.ts';
import { STARTER_QUERIES } from '../../schema/common/starters.ts';
import { EXAMPLES } from '../../schema/examples.ts';

/** A tab of GraphiQL: texts of its editors. */
export interface ExampleTab {
  readonly query: string;
  readonly variables?: string | undefined;
  readonly headers?: string | undefined;
}

export interface ExampleTabs {
  /** The initial tabs. */
  readonly starters: readonly ExampleTab[];
  /** The menu of further examples. */
  readonly menu: readonly {
    readonly group: string;
    readonly examples: readonly (ExampleTab & { readonly title: string })[];
  }[];
}

/** Make the tabs of GraphiQL. An example with a key contains a sample key in the local world, otherwise a placeholder. */
export function exampleTabs(sampleKeys: Config['sampleKeys']): ExampleTabs {
  const tabOf = ({ query, variables, tier }: ExampleQuery): ExampleTab => {
    const [key = '<API_KEY>'] = [...sampleKeys].find(([, sample]) => sample.tier === tier) ?? [];
    return {
      query,
      variables: variables === undefined ? undefined : JSON.stringify(variables, null, 2),
      headers: tier === undefined ? undefined : JSON.stringify({ authorization: `Bearer ${key}` }, null, 2),
    };
  };
  const groupOf = (group: string, queries: readonly ExampleQuery[]) => ({
    group,
    examples: queries.map((example) => ({ title: example.title.replace(/^\w+: /, ''), ...tabOf(example) })),
  });
  return {
    starters: STARTER_QUERIES.map(tabOf),
    menu: [groupOf('Public', EXAMPLES.public), groupOf('Partner', EXAMPLES.partner), groupOf('Ops', EXAMPLES.ops)],
  };
}
