import { z } from 'zod';
import { INDEXER_STATUSES } from '../../../domain/history/indexer-state.ts';
import { dateTime } from '../common.ts';
import { largeNumber, wholeNumber } from '../numbers.ts';

const readBlock = (description: string) =>
  z
    .object({ blockNumber: largeNumber('Number of the block.'), blockTime: dateTime('Its time.') })
    .optional()
    .describe(`${description} Absent = none was read.`);

/** How far the logs of positions of a chain are read, of the health page. */
export const indexerFields = {
  status: z
    .enum(INDEXER_STATUSES)
    .describe(
      'never: nothing was read. failing: see failure. unknown: see statusReason. stopped: no run for ten minutes. behind: by more than an hour. backfilling: it goes back to older blocks. following: nothing is missing.',
    ),
  statusReason: z
    .string()
    .optional()
    .describe('Why the state is unknown: the latest run has a time in the future; absent = it is another one.'),
  completeFrom: readBlock('The oldest block that was read: no log is missing after it.'),
  readTo: readBlock('The newest block that was read.'),
  headBlock: largeNumber('Number of its newest block at the latest run that saw it; absent = none did.').optional(),
  blocksBehind: largeNumber(
    'Number of blocks in the distance from readTo to headBlock; absent = not known.',
  ).optional(),
  whole: z.boolean().describe('Whether all openings of positions and creations of stock markets were found.'),
  found: wholeNumber('Number of openings and creations that were found.'),
  expected: wholeNumber(
    'Number of openings and creations that there are on chain; absent = not counted yet.',
  ).optional(),
  lastRun: dateTime('Time of the latest run; absent = none is recorded.').optional(),
  failure: z.string().optional().describe('The reason of its failure, in one word; absent = it did not fail.'),
  failingSince: dateTime('Its first failure in a row; absent = it did not fail.').optional(),
};
