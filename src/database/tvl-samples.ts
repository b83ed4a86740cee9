import { sql } from 'kysely';
import type { Clock } from '../shared/clock.ts';
import { Decimal } from '../shared/decimal.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Database } from './client.ts';
import { latestObserved, replaces } from './observed.ts';
import { SAMPLE_RETENTION_DAYS } from './samples.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The TVL of a chain at one moment, exact USD. */
export interface TvlSample {
  readonly chainId: ChainId;
  readonly atMs: number;
  readonly grossTvlUsd: Decimal;
  readonly borrowedUsd: Decimal;
}

export interface TvlSampleRepository {
  /** Store a sample, one per chain and hour: the latest of the hour wins. One statement. */
  record(sample: TvlSample): Promise<void>;
  /** Read the samples of chains since a time, oldest first, in one statement. */
  since(chainIds: readonly ChainId[], fromMs: number): Promise<readonly TvlSample[]>;
  /** Remove rows that are older than `SAMPLE_RETENTION_DAYS` or from the future, and return their number. */
  prune(): Promise<number>;
}

/** Create the repository of our own samples of the TVL. Every call may throw `UpstreamUnavailableError`. */
export function createTvlSampleRepository(db: Database, clock: Clock): TvlSampleRepository {
  return {
    async record({ chainId, atMs, grossTvlUsd, borrowedUsd }) {
      const values = {
        sampled_at: new Date(atMs),
        gross_tvl_usd: grossTvlUsd.toFixed(),
        borrowed_usd: borrowedUsd.toFixed(),
      };
      await db
        .insertInto('tvl_samples')
        .values({ chain_id: chainId, hour: new Date(Math.floor(atMs / HOUR_MS) * HOUR_MS), ...values })
        .onConflict((conflict) =>
          conflict.columns(['chain_id', 'hour']).doUpdateSet(values).where(replaces('tvl_samples', clock.now())),
        )
        .execute();
    },
    async since(chainIds, fromMs) {
      const rows = await db
        .selectFrom('tvl_samples')
        .selectAll()
        .where('chain_id', '=', sql<number>`any(${[...chainIds]}::integer[])`)
        .where('sampled_at', '>=', new Date(fromMs))
        .where('sampled_at', '<=', latestObserved(clock.now()))
        .orderBy('sampled_at')
        .execute();
      return rows.map((row) => ({
        chainId: row.chain_id,
        atMs: row.sampled_at.getTime(),
        grossTvlUsd: new Decimal(row.gross_tvl_usd),
        borrowedUsd: new Decimal(row.borrowed_usd),
      }));
    },
    async prune() {
      const nowMs = clock.now();
      const oldest = new Date(nowMs - SAMPLE_RETENTION_DAYS * DAY_MS);
      const removed = await db
        .deleteFrom('tvl_samples')
        .where(({ eb, or }) => or([eb('hour', '<', oldest), eb('sampled_at', '>', latestObserved(nowMs))]))
        .executeTakeFirst();
      return Number(removed.numDeletedRows);
    },
  };
}
