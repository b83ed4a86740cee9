import { z } from 'zod';
import { chainIdChoice, integerParam } from '../common.ts';
import { positionIdText } from '../transactions.ts';

const MAX_INDEX = 2_147_483_647;

/** Path parameter: the positionId of a position, or its index on a chain. */
export const positionPathId = z
  .union(
    [
      positionIdText.describe('`positionId` of the position, as listed with the positions; it names the chain.'),
      integerParam({ min: 0, max: MAX_INDEX }).describe('Index of the position on the chain of `chainId`.'),
    ],
    {
      error: `expected id to be a positionId, {chainId}-{marketId}-{id}, or a whole number from 0 to ${MAX_INDEX}`,
    },
  )
  .meta({
    description: '`positionId` of the position, or its `id` on the chain of `chainId`, as listed with the positions.',
  });

/** `chainId` beside the id of a position, which may name its chain. */
export const positionPathChainId = (chainIds: readonly number[]) =>
  chainIdChoice(chainIds)
    .optional()
    .describe(
      `Chain id. When left out: with a positionId its chain, with an index ${chainIds[0]}. With a positionId another chain is refused with 400.`,
    );
