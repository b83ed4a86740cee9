import { z } from 'zod';
import type { ErrorCode } from '../../shared/errors.ts';
import type { OpsPortfolioQuery, OpsPortfoliosQuery, OpsPortfoliosQueryVariables } from '../generated/operations.ts';
import { addressParam, chainIdParam } from '../schemas/common.ts';
import { freshParams } from '../schemas/fresh-reads.ts';
import { opsPortfolios, portfolioEntry } from '../schemas/portfolio.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { projectPortfolio } from './ops-portfolio.ts';
import { answered, PARTNER_ERRORS, type RouteOptions } from './shared.ts';

const OPS_ERRORS = [...PARTNER_ERRORS, 'not_ready', 'upstream_unavailable'] as const satisfies readonly ErrorCode[];

/** Thousands of wallets are read at once: a reading per caller would hold up the nodes. */
const NOT_FRESHER =
  'The report is one reading for all callers, once a minute; asOf says when. Ask /v1/ops/portfolio/{address} for one wallet after a transaction.';

/** Wallets per page of the streamed list: rendered and serialised in some milliseconds. */
const WALLETS_PER_PAGE = 20;

/**
 * The rows of the ops surface. Wallets are JSON values, because resolving each of their fields would take ten times as long.
 */
export function opsRoutes({ chainIds }: RouteOptions): AnyRoute[] {
  const [defaultChainId = 1] = chainIds;
  const params = z.object({ chainId: chainIdParam({ chainIds, defaultChainId }) });
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/ops/portfolios',
      surface: 'Ops',
      summary: "Every wallet's portfolio",
      description:
        'All wallets of a chain, read at one block, joined with the register of positions, ordered by address and cached for 60 seconds: afterTx, minBlock and maxAge are of the row of one wallet. While a recompute fails the last good report is served as `degraded`; 503 when there is none yet. A wallet that could not be read has a `failure` and no other data.',
      operation: 'OpsPortfolios',
      params,
      refusedParams: { afterTx: NOT_FRESHER, minBlock: NOT_FRESHER, maxAge: NOT_FRESHER },
      variables: ({ params: { chainId } }) => pageVariables(chainId, null),
      project: ({ ops }: OpsPortfoliosQuery) => projectReport(reportIn(ops)),
      pages: {
        list: 'users',
        next: ({ ops }) => {
          const { chainId, documents } = reportIn(ops);
          const { hasNextPage, endCursor } = documents.pageInfo;
          return hasNextPage ? pageVariables(chainId, endCursor) : null;
        },
      },
      response: opsPortfolios,
      errors: OPS_ERRORS,
      examples: [{ summary: 'Ethereum, the default' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/ops/portfolio/{address}',
      surface: 'Ops',
      summary: "One wallet's portfolio",
      description:
        'One wallet in the shape of the list, read live from the chain and the register. A wallet without positions has empty lists.',
      operation: 'OpsPortfolio',
      params: z.object({ address: addressParam, chainId: chainIdParam({ chainIds, defaultChainId }), ...freshParams }),
      variables: ({ params }) => params,
      project: ({ ops }: OpsPortfolioQuery) => projectPortfolio(answered(answered(ops).portfolio)),
      response: portfolioEntry,
      errors: OPS_ERRORS,
      examples: [
        { summary: 'Ethereum, the default', params: { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' } },
        {
          summary: 'Robinhood Chain, with an equity vault',
          params: { address: '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc' },
          query: { chainId: '4663' },
        },
      ],
    }),
  ];
}

type Report = NonNullable<NonNullable<OpsPortfoliosQuery['ops']>['reports']>['items'][number];

function reportIn(ops: OpsPortfoliosQuery['ops']): Report {
  const [report] = answered(answered(ops).reports).items;
  return answered(report ?? null);
}

function projectReport({ chainId, readAt, freshness, failure, counts, documents }: Report): unknown {
  return {
    chainId,
    asOf: readAt.blockTime,
    stale: freshness.status === 'stale',
    degraded: failure !== null,
    computedAt: freshness.asOf,
    counts,
    users: documents.nodes,
  };
}

function pageVariables(chainId: number, after: string | null): OpsPortfoliosQueryVariables {
  return { chainId, first: WALLETS_PER_PAGE, after };
}
