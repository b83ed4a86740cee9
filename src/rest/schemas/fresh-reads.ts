import { z } from 'zod';
import { MAX_AGE_BOUNDS, REFRESH_POINTS, WAIT_POINTS } from '../../shared/contract/fresh-reads.ts';
import { integerParam } from './common.ts';
import { chainIdNumber, wholeNumber } from './numbers.ts';

const { min, max } = MAX_AGE_BOUNDS;
const TX_HASH = /^0x[0-9a-fA-F]{64}$/;
const BLOCK_NUMBER = /^\d{1,15}$/;

/** The parameter of rows that answer from measured facts. */
export const maxAgeParam = {
  maxAge: integerParam({ min, max })
    .optional()
    .describe(
      `Seconds: market state and prices that are older are measured again first, for ${REFRESH_POINTS} points each; prices need a key. If that is refused or fails, the last good values are answered. \`meta.freshness\` has the outcome.`,
    ),
};

/** The parameters of rows that answer from a block on. */
export const freshParams = {
  afterTx: z
    .string()
    .regex(TX_HASH, 'expected the hash of a transaction: 0x followed by 64 hex characters')
    .meta({ pattern: TX_HASH.source })
    .optional()
    .describe(
      `Hash of a transaction: the answer waits some seconds until its block is there, and is of that block or a later one, for ${WAIT_POINTS} points. \`meta.readAfter\` has the state of the transaction. Not together with minBlock.`,
    ),
  minBlock: z
    .string()
    .regex(BLOCK_NUMBER, 'expected the number of a block, of 1 to 15 digits')
    .meta({ pattern: BLOCK_NUMBER.source })
    .optional()
    .describe('Number of a block: as afterTx, for this block.'),
  ...maxAgeParam,
};

const block = (description: string) => z.string().regex(/^\d+$/).nullable().describe(description);

const readAfter = z
  .object({
    afterTx: z.string().nullable().describe('The requested transaction.'),
    minBlock: z.string().nullable().describe('The requested block.'),
    status: z
      .enum(['included', 'reverted', 'reached', 'pending', 'dropped', 'replaced', 'unknown', 'not_reached'])
      .describe(
        'included, reverted: the transaction is in a block. reached: the block is there. pending: it is in no block yet. dropped: it was pending and is no longer known. replaced: another transaction with its nonce is in a block. unknown: no node knows it. not_reached: the block is not there yet.',
      ),
    reached: z.boolean().describe('Whether the answer is of the block or a later one.'),
    chainId: chainIdNumber('The chain of the block.').nullable(),
    targetBlock: block('Number of the block of the transaction, or minBlock; null = not known.'),
    answeredAtBlock: block('Number of the block of the answer; null = not known.'),
    waitedMs: wholeNumber('How long the answer waited, milliseconds.'),
    pointsCharged: wholeNumber('Points charged for the wait.'),
  })
  .meta({ id: 'ReadAfter', description: 'The outcome of afterTx or minBlock.' });

const freshness = z
  .object({
    chainId: chainIdNumber('The chain.'),
    group: z.enum(['market_state', 'prices']).describe('Group of facts.'),
    asOf: z.iso.datetime().nullable().describe('Time of the oldest measurement in the group; null = none.'),
    ageSec: wholeNumber('Its age, seconds.').nullable(),
    refreshed: z.boolean().describe('Whether it was measured for this answer.'),
    outcome: z
      .enum(['refreshed', 'fresh', 'too_recent', 'key_required', 'budget', 'failed', 'late', 'unavailable'])
      .describe(
        'fresh: young enough. too_recent: measured just before. key_required: only with a key. budget: the client has no points left. failed: the source did not answer. late: it takes longer than the answer waits. unavailable: no process can measure now.',
      ),
    pointsCharged: wholeNumber('Points charged for the measurement.'),
  })
  .meta({ id: 'FreshnessReceipt', description: 'The outcome of maxAge for one group of facts.' });

/** Present where a parameter of freshness was sent. */
export const readMeta = z
  .object({
    readAfter: readAfter.optional(),
    freshness: z.array(freshness).optional().describe('By chain and group of facts.'),
  })
  .meta({ id: 'ReadMeta', description: 'How fresh the answer is, where afterTx, minBlock or maxAge was sent.' })
  .optional();
