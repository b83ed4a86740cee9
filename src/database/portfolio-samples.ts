import { sql } from 'kysely';
import type { PortfolioSample } from '../domain/portfolio/report.ts';
import type { Clock } from '../shared/clock.ts';
import { Decimal } from '../shared/decimal.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Database } from './client.ts';
import { latestObserved, replaces } from './observed.ts';

export interface PortfolioSampleRepository {
  /** Store a sample, replacing that of the same hour. One statement. */
  record(sample: PortfolioSample): Promise<void>;
  /** Read the samples of chains since a time, oldest first, in one statement. */
  since(chainIds: readonly ChainId[], fromMs: number): Promise<readonly PortfolioSample[]>;
  /** Remove rows from the future, and return their number. */
  prune(): Promise<number>;
}

const HOUR_MS = 3_600_000;

/** Create the repository of portfolio totals over time. Every call may throw `UpstreamUnavailableError`. */
export function createPortfolioSampleRepository(db: Database, clock: Clock): PortfolioSampleRepository {
  return {
    record: async (sample) => {
      const row = {
        chain_id: sample.chainId,
        hour: new Date(Math.floor(sample.atMs / HOUR_MS) * HOUR_MS),
        sampled_at: new Date(sample.atMs),
        positions: sample.positions,
        deposited_usd: sample.depositedUsd.toFixed(),
        net_value_usd: sample.netValueUsd.toFixed(),
        incentives_usd: sample.incentivesUsd.toFixed(),
        total_usd: sample.totalUsd.toFixed(),
      };
      const { chain_id: _chain, hour: _hour, ...values } = row;
      await db
        .insertInto('portfolio_samples')
        .values(row)
        .onConflict((conflict) =>
          conflict.columns(['chain_id', 'hour']).doUpdateSet(values).where(replaces('portfolio_samples', clock.now())),
        )
        .execute();
    },
    since: async (chainIds, fromMs) => {
      const rows = await db
        .selectFrom('portfolio_samples')
        .selectAll()
        .where('chain_id', '=', sql<number>`any(${[...chainIds]}::integer[])`)
        .where('sampled_at', '>=', new Date(fromMs))
        .where('sampled_at', '<=', latestObserved(clock.now()))
        .orderBy('sampled_at')
        .orderBy('chain_id')
        .execute();
      return rows.map((row) => ({
        chainId: row.chain_id,
        atMs: row.sampled_at.getTime(),
        positions: row.positions,
        depositedUsd: new Decimal(row.deposited_usd),
        netValueUsd: new Decimal(row.net_value_usd),
        incentivesUsd: new Decimal(row.incentives_usd),
        totalUsd: new Decimal(row.total_usd),
      }));
    },
    prune: async () => {
      const removed = await db
        .deleteFrom('portfolio_samples')
        .where('sampled_at', '>', latestObserved(clock.now()))
        .executeTakeFirst();
      return Number(removed.numDeletedRows);
    },
  };
}
