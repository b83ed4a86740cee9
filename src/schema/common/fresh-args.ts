import { MAX_AGE_BOUNDS, REFRESH_POINTS, WAIT_POINTS } from '../../shared/contract/fresh-reads.ts';
import type { builder } from '../builder.ts';

type ArgOf = Parameters<Parameters<typeof builder.queryField>[1]>[0]['arg'];

const { min, max } = MAX_AGE_BOUNDS;

/** The argument of fields that answer from measured facts. */
export function maxAgeArg(arg: ArgOf) {
  return {
    maxAge: arg.int({
      description: `Seconds, ${min} to ${max}: market state and prices that are older are measured again first, for ${REFRESH_POINTS} points each. Prices need a key. If that is refused or fails, the last good values are answered. \`extensions.reads\` has the outcome. Such an answer is not cached.`,
    }),
  };
}

/** The arguments of fields that answer from a block on. */
export function freshArgs(arg: ArgOf) {
  return {
    afterTx: arg({
      type: 'HexData',
      description: `Hash of a transaction: wait some seconds until its block is there and answer from it or a later one, for ${WAIT_POINTS} points. \`extensions.reads\` has the state of the transaction, reverted ones included, and at which block the answer is. Not together with \`minBlock\`.`,
    }),
    minBlock: arg({
      type: 'BigInteger',
      description: 'Number of a block: as `afterTx`, for this block. Only with one chain.',
    }),
    ...maxAgeArg(arg),
  };
}
