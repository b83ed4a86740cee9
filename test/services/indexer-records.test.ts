import { expect, test } from 'vitest';
import type { IndexerRecord } from '../../src/domain/history/indexer-state.ts';
import { createIndexerRecords } from '../../src/services/indexer-records.ts';

const record = (failure: string | null): IndexerRecord => ({
  chainId: 1,
  range: null,
  found: 0,
  run: { atMs: 0, head: null, expected: null, failure, failingSinceMs: null },
});

test('behavior: records that nobody has asked for in the last minute are read anew before they are shown', async () => {
  let [nowMs, failure]: [number, string | null] = [0, null];
  const records = createIndexerRecords({
    chainIds: [1],
    read: async () => [record(failure)],
    clock: { now: () => nowMs },
  });
  await records.latest();
  nowMs = 60_000;
  expect(await records.latest()).toEqual([record(null)]);
  await Promise.resolve();
  failure = 'implausible';
  nowMs = 300_000;
  expect(await records.latest()).toEqual([record('implausible')]);
});
