import type { LtvLimits } from './parts/ltv-bar.ts';

/** A query of GraphQL, where one request takes the place of many rows. */
export type Query = <Data>(query: string, variables: object, signal: AbortSignal) => Promise<Data>;

export function createQuery(baseUrl: string, apiKey: string): Query {
  return async (query, variables, signal) => {
    const response = await fetch(`${baseUrl}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ query, variables }),
      signal,
    });
    const { data } = await response.json();
    if (!data) throw new Error(`GraphQL answered ${response.status} without data.`);
    return data;
  };
}

const HISTORIES = `query Histories($days: Int!) {
  strategies(first: 500) { nodes { strategyId leveragedApyHistory(days: $days) { points { ratePct } } } }
}`;

interface Histories {
  readonly strategies: {
    readonly nodes: readonly {
      readonly strategyId: string;
      readonly leveragedApyHistory: { readonly points: readonly { readonly ratePct: string }[] } | null;
    }[];
  } | null;
}

/** The leveraged APY of every listed strategy, day by day, in one request. */
export async function historiesOf(
  query: Query,
  days: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const { strategies } = await query<Histories>(HISTORIES, { days }, signal);
  return new Map(
    strategies?.nodes.map(({ strategyId, leveragedApyHistory }) => [
      strategyId,
      leveragedApyHistory?.points.map(({ ratePct }) => Number(ratePct)) ?? [],
    ]),
  );
}

interface TokenFacts {
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
}

/** What a position does not say about its strategy. */
export interface StrategyFacts {
  readonly collateral: TokenFacts;
  readonly loan: TokenFacts;
  readonly limits: LtvLimits;
}

type Answer = Readonly<
  Record<
    string,
    {
      readonly collateral: TokenFacts & { readonly displaySymbol: string };
      readonly loan: TokenFacts & { readonly displaySymbol: string };
      readonly ltvLimits: {
        readonly safePct: string | null;
        readonly maxPct: string | null;
        readonly liquidationPct: string;
      } | null;
    } | null
  >
>;

const TOKEN = '{ address symbol displaySymbol decimals }';
const known = new Map<string, StrategyFacts>();

/** Tokens and limits of strategies, listed or not; one request for those that are not known yet. A missing one is not known. */
export async function strategyFacts(
  query: Query,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, StrategyFacts>> {
  const missing = [...new Set(ids)].filter((id) => !known.has(id));
  if (missing.length > 0) {
    const fields = missing.map(
      (_, i) =>
        `s${i}: strategy(id: $i${i}) { collateral ${TOKEN} loan ${TOKEN} ltvLimits { safePct maxPct liquidationPct } }`,
    );
    const inputs = missing.map((_, i) => `$i${i}: StrategyId!`);
    const variables = Object.fromEntries(missing.map((id, i) => [`i${i}`, id]));
    const answer = await query<Answer>(`query Facts(${inputs.join(', ')}) { ${fields.join(' ')} }`, variables, signal);
    for (const [i, id] of missing.entries()) {
      const found = answer[`s${i}`];
      if (!found) continue;
      const { collateral, loan, ltvLimits } = found;
      known.set(id, {
        collateral: { ...collateral, symbol: collateral.displaySymbol },
        loan: { ...loan, symbol: loan.displaySymbol },
        limits: {
          safe: ltvLimits?.safePct ?? undefined,
          max: ltvLimits?.maxPct ?? undefined,
          liquidation: ltvLimits?.liquidationPct,
        },
      });
    }
  }
  return known;
}
