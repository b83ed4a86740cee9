import type { IndexerRecord } from '../domain/history/indexer-state.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import { createLatestReading, type LatestReading } from './latest-reading.ts';

/** How far the logs of positions are read, for the health page. */
export type IndexerRecords = LatestReading<readonly IndexerRecord[]>;

export interface IndexerRecordsDeps {
  readonly chainIds: readonly ChainId[];
  /** @throws UpstreamUnavailableError */
  readonly read: () => Promise<readonly IndexerRecord[]>;
  readonly clock: Clock;
}

/** Create the reading of the records: one for every chain whose positions are read, also before its first run. */
export function createIndexerRecords({ chainIds, read, clock }: IndexerRecordsDeps): IndexerRecords {
  return createLatestReading(async () => {
    const stored = await read();
    return chainIds.map(
      (chainId) => stored.find((record) => record.chainId === chainId) ?? { chainId, range: null, run: null, found: 0 },
    );
  }, clock);
}
