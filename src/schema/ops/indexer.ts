import { reasonOfUnknown } from '../../domain/freshness/unknown-run.ts';
import {
  blocksBehind,
  type IndexerRecord,
  type IndexerStatus,
  indexerStatus,
} from '../../domain/history/indexer-state.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';
import { ReadAtRef } from '../common/stamp.ts';

const IndexerStatusRef = builder.enumType('IndexerStatus', {
  description: 'State of the reading of position logs of a chain.',
  values: enumValues<IndexerStatus>({
    never: 'Nothing was read yet.',
    failing: 'The latest run failed, see `failureReason`.',
    unknown:
      'The latest run has a time in the future: a clock is wrong, and it is not known whether the logs are read.',
    stopped: 'The latest run was more than ten minutes ago: no process runs the job, or one hangs.',
    behind: 'More than an hour behind the chain.',
    backfilling: 'The chain is followed, and older blocks are still being read.',
    following: 'The chain is followed, and older blocks have no further events.',
  }),
});

export const IndexerRef = builder.objectRef<IndexerRecord>('Indexer').implement({
  description: 'The reading of the logs of positions of a chain, behind histories and statements.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    status: t.field({
      type: IndexerStatusRef,
      description: 'State of the reading, the worst that holds.',
      resolve: (record, _args, { nowMs }) => indexerStatus(record, nowMs),
    }),
    statusReason: t.string({
      nullable: true,
      description: 'Reason of the state `UNKNOWN`, one sentence; `null` = it is another one.',
      resolve: (record, _args, { nowMs }) => reasonOfUnknown(indexerStatus(record, nowMs)),
    }),
    completeFrom: t.field({
      type: ReadAtRef,
      nullable: true,
      description: 'The oldest block that was read: no log is missing between it and `readTo`; `null` = none was read.',
      resolve: ({ range }) => range && { blockNumber: range.fromBlock, blockTimeMs: range.fromMs },
    }),
    readTo: t.field({
      type: ReadAtRef,
      nullable: true,
      description: 'The newest block that was read; `null` = none was read.',
      resolve: ({ range }) => range && { blockNumber: range.toBlock, blockTimeMs: range.toMs },
    }),
    headBlock: t.field({
      type: 'BigInteger',
      nullable: true,
      description: 'Number of the newest block of the chain at the latest run that saw it; `null` = none did.',
      resolve: ({ run }) => run?.head ?? null,
    }),
    blocksBehind: t.field({
      type: 'BigInteger',
      nullable: true,
      description: 'Blocks from `readTo` to `headBlock`; `null` = not known.',
      resolve: (record) => blocksBehind(record),
    }),
    isWhole: t.boolean({
      description: 'Whether the openings of all positions and the creations of all stock markets were found.',
      resolve: ({ range }) => range?.isWhole ?? false,
    }),
    foundCount: t.exposeInt('found', {
      description: 'Openings of positions and creations of stock markets that were found.',
    }),
    expectedCount: t.int({
      nullable: true,
      description: 'Openings and creations that there are on chain; `null` = no run has counted them.',
      resolve: ({ run }) => run?.expected ?? null,
    }),
    ranAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the latest run; `null` = none is recorded.',
      resolve: ({ run }) => run?.atMs ?? null,
    }),
    failureReason: t.string({
      nullable: true,
      description: 'The reason why the latest run failed, in one word, e.g. `rate_limited`; `null` = it did not fail.',
      resolve: ({ run }) => run?.failure ?? null,
    }),
    failingSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the first failure in a row; `null` = the latest run did not fail.',
      resolve: ({ run }) => run?.failingSinceMs ?? null,
    }),
  }),
});
