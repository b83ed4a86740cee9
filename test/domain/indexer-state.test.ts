import { expect, test } from 'vitest';
import { blocksBehind, type IndexerRecord, indexerStatus } from '../../src/domain/history/indexer-state.ts';

const NOW_MS = 1_000_000_000;
const range = { fromBlock: 10n, fromMs: 0, toBlock: 100n, toMs: NOW_MS, isWhole: true };
const run = {
  atMs: NOW_MS - 15_000,
  head: 101n,
  headMs: NOW_MS - 15_000,
  expected: 3,
  failure: null,
  failingSinceMs: null,
};

const cases: readonly (readonly [Pick<IndexerRecord, 'range' | 'run'>, string, bigint | null])[] = [
  [{ range, run }, 'following', 1n],
  [{ range: { ...range, isWhole: false }, run }, 'backfilling', 1n],
  [{ range: { ...range, toMs: run.atMs - 3_600_001 }, run: { ...run, head: 401n } }, 'behind', 301n],
  // Being behind is measured in time: not in blocks of a fast chain, and not while a chain makes no blocks.
  [{ range: { ...range, toMs: run.atMs - 3_600_000 }, run: { ...run, head: 40_000n } }, 'following', 39_900n],
  [{ range: { ...range, toMs: run.atMs - 3_600_001 }, run: { ...run, head: 102n } }, 'behind', 2n],
  [
    {
      range: { ...range, toMs: run.atMs - 90_000_000 },
      run: { ...run, head: 5_000n, headMs: run.atMs - 90_000_000 + 60_000 },
    },
    'following',
    4_900n,
  ],
  [{ range: { ...range, toMs: run.atMs - 3_600_001 }, run: { ...run, headMs: null } }, 'following', 1n],
  // The head of a run may be of a node that is late.
  [{ range, run: { ...run, head: 99n } }, 'following', 0n],
  [{ range, run: { ...run, atMs: NOW_MS - 600_001 } }, 'stopped', 1n],
  [{ range, run: { ...run, failure: 'rate_limited', atMs: NOW_MS - 700_000 } }, 'failing', 1n],
  [{ range, run: { ...run, head: null } }, 'following', null],
  // Clocks of machines differ by two minutes at most: a later run has an unknown age, and would never be stopped.
  [{ range, run: { ...run, atMs: NOW_MS + 120_000 } }, 'following', 1n],
  [{ range, run: { ...run, atMs: NOW_MS + 120_001 } }, 'unknown', 1n],
  [{ range, run: { ...run, atMs: NOW_MS + 120_001, head: 401n } }, 'unknown', 301n],
  [{ range, run: { ...run, atMs: NOW_MS + 120_001, failure: 'rate_limited' } }, 'failing', 1n],
  [{ range: null, run: { ...run, atMs: NOW_MS + 120_001 } }, 'never', null],
  // Recorded by a version that did not record runs.
  [{ range, run: null }, 'following', null],
  [{ range: null, run: null }, 'never', null],
];
test.each(cases.map(([record, status, behind]) => ({ record, status, behind })))(
  'default: case %# is $status',
  ({ record, status, behind }) => {
    expect([indexerStatus(record, NOW_MS), blocksBehind(record)]).toEqual([status, behind]);
  },
);
