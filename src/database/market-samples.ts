import type { Clock } from '../shared/clock.ts';
import type { ChainId, MarketId } from '../shared/ids.ts';
import type { Database } from './client.ts';
import { latestObserved, replaces } from './observed.ts';
import { SAMPLE_RETENTION_DAYS } from './samples.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Oracle price and borrow rate of a market at one block. */
export interface MarketSample {
  /** Time of the block. */
  readonly atMs: number;
  /** Loan base units per collateral base unit, scaled by 1e36. */
  readonly price: bigint;
  /** Per second in WAD. */
  readonly borrowRate: bigint;
}

export interface MarketSampleRepository {
  /** Store samples of markets, one per market and hour: the latest of the hour wins. One statement. */
  record(chainId: ChainId, samples: ReadonlyMap<MarketId, MarketSample>): Promise<void>;
  /** Read the samples of a market since a time, oldest first. */
  since(chainId: ChainId, marketId: MarketId, fromMs: number): Promise<readonly MarketSample[]>;
  /** Remove rows that are older than `SAMPLE_RETENTION_DAYS` or from the future, and return their number. */
  prune(): Promise<number>;
}

/** Create the repository of our own samples of markets for stress tables. Every call may throw `UpstreamUnavailableError`. */
export function createMarketSampleRepository(db: Database, clock: Clock): MarketSampleRepository {
  return {
    async record(chainId, samples) {
      if (samples.size === 0) return;
      const rows = [...samples].map(([marketId, { atMs, price, borrowRate }]) => ({
        chain_id: chainId,
        market_id: marketId,
        hour: new Date(Math.floor(atMs / HOUR_MS) * HOUR_MS),
        sampled_at: new Date(atMs),
        price: String(price),
        borrow_rate: String(borrowRate),
      }));
      await db
        .insertInto('market_samples')
        .values(rows)
        .onConflict((conflict) =>
          conflict
            .columns(['chain_id', 'market_id', 'hour'])
            .doUpdateSet((eb) => ({
              sampled_at: eb.ref('excluded.sampled_at'),
              price: eb.ref('excluded.price'),
              borrow_rate: eb.ref('excluded.borrow_rate'),
            }))
            .where(replaces('market_samples', clock.now())),
        )
        .execute();
    },
    async since(chainId, marketId, fromMs) {
      const rows = await db
        .selectFrom('market_samples')
        .select(['sampled_at', 'price', 'borrow_rate'])
        .where('chain_id', '=', chainId)
        .where('market_id', '=', marketId)
        .where('hour', '>=', new Date(fromMs))
        .where('sampled_at', '<=', latestObserved(clock.now()))
        .orderBy('hour')
        .execute();
      return rows.map((row) => ({
        atMs: row.sampled_at.getTime(),
        price: BigInt(row.price),
        borrowRate: BigInt(row.borrow_rate),
      }));
    },
    async prune() {
      const nowMs = clock.now();
      const oldest = new Date(nowMs - SAMPLE_RETENTION_DAYS * DAY_MS);
      const removed = await db
        .deleteFrom('market_samples')
        .where(({ eb, or }) => or([eb('hour', '<', oldest), eb('sampled_at', '>', latestObserved(nowMs))]))
        .executeTakeFirst();
      return Number(removed.numDeletedRows);
    },
  };
}
