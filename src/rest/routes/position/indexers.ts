import { z } from 'zod';
import { withoutUndefined } from '../../../shared/without-undefined.ts';
import { absenceOf } from '../../absence.ts';
import type { OpsIndexersQuery, OpsIndexersQueryVariables } from '../../generated/operations.ts';
import { chainIdChoice } from '../../schemas/common.ts';
import { indexerList } from '../../schemas/history/indexers.ts';
import { type AnyRoute, defineRoute } from '../../types.ts';
import { answered, PARTNER_ERRORS, type RouteOptions } from '../shared.ts';

const inList = absenceOf(indexerList);
const isNone = () => false;

/** The row of the reading of position logs. It is read from the database alone, so that it is there while a chain is not. */
export function indexersRoute({ chainIds }: RouteOptions): AnyRoute {
  return defineRoute({
    method: 'GET',
    path: '/v1/ops/indexers',
    surface: 'Ops',
    summary: 'Reading of position logs',
    description:
      'How far the logs of positions are read on each chain, which histories and statements are made of: the blocks that were read, how far they are behind the chain, how much of the past is found, and the latest failure.',
    operation: 'OpsIndexers',
    params: z.object({
      chainId: chainIdChoice(chainIds)
        .optional()
        .describe('Chain id; limits the answer to this chain. All chains when left out.'),
    }),
    variables: ({ params: { chainId } }): OpsIndexersQueryVariables =>
      withoutUndefined({ chainIds: chainId === undefined ? undefined : [chainId] }),
    project: ({ ops }: OpsIndexersQuery) => {
      const whole = (text: string | null) => (text === null ? null : Number(text));
      const block = (at: { readonly blockNumber: string; readonly blockTime: string } | null) =>
        at && { ...at, blockNumber: Number(at.blockNumber) };
      const chains = answered(answered(ops).indexers).map(
        ({ headBlock, blocksBehind, completeFrom, readTo, ...row }) => ({
          ...row,
          completeFrom: block(completeFrom),
          readTo: block(readTo),
          headBlock: whole(headBlock),
          blocksBehind: whole(blocksBehind),
        }),
      );
      return inList({ chains }, isNone);
    },
    response: indexerList,
    errors: [...PARTNER_ERRORS, 'upstream_unavailable'],
    examples: [{ summary: 'All chains' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
  });
}
