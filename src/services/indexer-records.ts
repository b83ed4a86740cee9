import type { IndexerRecord } from '../domain/history/indexer-state.ts';
import type { IndexersPort } from '../resolvers/ops/ops-services.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import { createLatestReading, type LatestReading } from './latest-reading.ts';

/** How far the logs of positions are read, for operators and for the health page. */
export interface IndexerRecords extends IndexersPort {
  /**
   * The latest records that were read, without waiting: older ones are read again beside the call. `null` = none were read in
   * the last minute, or the database does not answer.
   */
  latest(): readonly IndexerRecord[] | null;
}

export interface IndexerRecordsDeps {
  readonly chainIds: readonly ChainId[];
  /** @throws UpstreamUnavailableError */
  readonly read: () => Promise<readonly IndexerRecord[]>;
  readonly clock: Clock;
}

/** After this time the health page has the records read again. */
const READ_AGAIN_MS = 10_000;
/** Older records are not shown: nobody has asked for a while, and a failure since then would not be in them. */
const SHOWN_FOR_MS = 60_000;

/** Create the reading of the records: one for every chain whose positions are read, also before its first run. */
export function createIndexerRecords({ chainIds, read, clock }: IndexerRecordsDeps): IndexerRecords {
  let known: readonly IndexerRecord[] | null = null;
  let askedMs = Number.NEGATIVE_INFINITY;
  let knownMs = Number.NEGATIVE_INFINITY;

  const readAll = async (): Promise<readonly IndexerRecord[]> => {
    askedMs = clock.now();
    const stored = await read();
    return chainIds.map(
      (chainId) => stored.find((record) => record.chainId === chainId) ?? { chainId, range: null, run: null, found: 0 },
    );
    knownMs = clock.now();
    return known;
  };
  return {
    read: readAll,
    latest() {
      if (Math.abs(clock.now() - askedMs) >= READ_AGAIN_MS) {
        readAll().catch(() => {
          known = null;
        });
      }
      return Math.abs(clock.now() - knownMs) <= SHOWN_FOR_MS ? known : null;
    },
  };
}
