import { readFileSync } from 'node:fs';
import { withoutUndefined } from '../src/shared/without-undefined.ts';
import { OPS_KEY, PARTNER_KEY } from '../test/http/test-gateway.ts';
import type { Shot } from './load.ts';
import { BUILD, BUILD_PATH, type PartnerWorld } from './partner-world.ts';

/** Positions of many wallets. */
export const WALLETS = `query Wallets($addresses: [Address!]!) {
  wallets(addresses: $addresses, chainIds: [1]) {
    address
    positions { nodes { positionId strategyId status ltvPct ltvHeadroomPct netValueUsd leverageApyPct liquidationPrice } }
  }
}`;

/** A page of portfolios. */
export const PORTFOLIOS = `{
  ops {
    portfolios(first: 50, chainIds: [1]) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes {
        wallet readAt { blockAt } header { openCount totalDepositedUsd } pnl { totalUsd netValueUsd }
        items(statuses: [OPEN], first: 10) { nodes { ... on PortfolioLoop { position { strategyId status netValueUsd ltvPct ltvHeadroomPct } drift { kind severity } } } }
      }
    }
  }
}`;

/** The screen of a wallet, as the guide has it. */
export const SCREEN: string = screenOf(readFileSync('docs/positions.md', 'utf8'));

/** @throws Error when the guide does not have it any more */
function screenOf(guide: string): string {
  const body = /-d '(\{"query":"query Screen.*\})'/.exec(guide)?.[1];
  if (body === undefined) throw new Error('docs/positions.md has no query Screen');
  return (JSON.parse(body) as { readonly query: string }).query;
}

export interface PartnerRow {
  readonly title: string;
  readonly shot: Shot;
  /** Sequential network steps. */
  readonly steps?: number;
}

export function rowsOf({
  strategyId,
  loan,
  collateral,
  wallets,
  screens,
  ...steps
}: PartnerWorld): readonly PartnerRow[] {
  const post = (path: string, body: object, headers: Readonly<Record<string, string>>): Shot => {
    const text = JSON.stringify(body);
    return { path, method: 'POST', headers, body: () => text };
  };
  const build = (payToken: string) =>
    post(BUILD_PATH, { ...BUILD, strategyId, payToken, userAddress: wallets[0] }, PARTNER_KEY);
  return [
    { title: 'build of an open, one swap', shot: build(collateral), steps: steps.stepsOneSwap },
    { title: 'build of an open, two swaps', shot: build(loan), steps: steps.stepsTwoSwaps },
    {
      title: 'positions of one wallet, REST',
      shot: { path: `/v1/partner/positions/${wallets[1]}`, headers: PARTNER_KEY },
    },
    {
      title: 'positions of 100 wallets (500 positions), GraphQL',
      shot: post('/graphql', { query: WALLETS, variables: { addresses: wallets } }, PARTNER_KEY),
    },
    ...screens.map(([address, positions]) => ({
      title: `screen of a wallet with ${positions} position${positions === 1 ? '' : 's'}, GraphQL`,
      shot: post('/graphql', { query: SCREEN, variables: { address, chainIds: [1], first: 100 } }, PARTNER_KEY),
    })),
    { title: 'page of 50 portfolios of 1,000, GraphQL', shot: post('/graphql', { query: PORTFOLIOS }, OPS_KEY) },
  ];
}

/** A request in the form of `fetch`. */
export function initOf({ method = 'GET', headers = {}, body }: Shot): RequestInit {
  return {
    method,
    headers: withoutUndefined({ ...headers, 'content-type': body && 'application/json' }),
    body: body?.() ?? null,
  };
}
