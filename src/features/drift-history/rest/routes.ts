import { z } from 'zod';
import { DRIFT_KINDS, DRIFT_SEVERITIES } from '../../../domain/drift/types.ts';
import { PARTNER_ERRORS, type RouteOptions } from '../../../rest/routes/shared.ts';
import {
  addressParam,
  chainIdChoice,
  integerParam,
  marketIdParam,
  vaultIdParam,
} from '../../../rest/schemas/common.ts';
import type { AnyRoute } from '../../../rest/types.ts';
import { withoutUndefined } from '../../../shared/without-undefined.ts';

/** Records of a page: as many as a page of the same list in GraphQL may have. */
const MAX_RECORDS = 500;

/** Longer than every cursor. */
const MAX_CURSOR_LENGTH = 64;

/** The row of the history of drift. It is read from the database alone, so that it is there while a chain is not. */
export function driftHistoryRoute({ chainIds, derive }: RouteOptions): AnyRoute {
  return derive({
    method: 'GET',
    path: '/v1/ops/drift-history',
    surface: 'Ops',
    summary: 'History of drift',
    description:
      'Times over which register and chain disagreed about a position, open and gone ones, the latest recorded first. Every reading of portfolios for the ops tier is recorded; records are kept for 400 days after their end. All given conditions must hold.',
    operation: 'OpsDriftHistory',
    params: z.object({
      chainId: chainIdChoice(chainIds)
        .optional()
        .describe('Chain id; limits the answer to this chain. All chains when left out.'),
      kind: z.enum(DRIFT_KINDS).optional().describe('Only this kind of disagreement.'),
      severity: z.enum(DRIFT_SEVERITIES).optional().describe('Only this urgency.'),
      address: addressParam.optional().describe('Only positions of this wallet.'),
      marketId: marketIdParam.optional().describe('Only positions in this market.'),
      vaultId: vaultIdParam.optional().describe('Only loops of this equity vault.'),
      isGone: z
        .enum(['true', 'false'])
        .optional()
        .describe('true: only those that are gone; false: only open ones. All when left out.'),
      limit: integerParam({ min: 1, max: MAX_RECORDS })
        .default(50)
        .describe(`Maximum number of records, 1 to ${MAX_RECORDS}. Default 50.`),
      after: z
        .string()
        .max(MAX_CURSOR_LENGTH)
        .optional()
        .describe('"next" of an answer to the same conditions: only records that follow it.'),
    }),
    variables: ({ params }) => {
      const { chainId, kind, severity, address, marketId, vaultId, isGone, limit, after } = params;
      const one = <T>(value: T | undefined) => (value === undefined ? undefined : [value]);
      return withoutUndefined({
        chainIds: one(chainId),
        filter: withoutUndefined({
          kinds: one(kind),
          severities: one(severity),
          wallets: one(address),
          marketIds: one(marketId),
          vaultIds: one(vaultId),
        }),
        isGone: isGone && isGone === 'true',
        first: limit,
        after,
      });
    },
    errors: [...PARTNER_ERRORS, 'upstream_unavailable'],
    examples: [
      { summary: 'All chains' },
      { summary: 'Open ones of Robinhood Chain', query: { chainId: '4663', isGone: 'false', limit: '100' } },
    ],
  });
}
