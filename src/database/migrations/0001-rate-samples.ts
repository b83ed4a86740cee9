import { sql } from 'kysely';
import type { Migration } from './types.ts';

export const rateSamples: Migration = {
  name: '0001_rate_samples',
  up: [
    // Rates are fractions of any precision; amounts are uint256 at most (78 digits).
    sql`
      create table rate_samples (
        chain_id integer not null,
        market_id text not null check (market_id ~ '^0x[0-9a-f]{64}$'),
        hour timestamptz not null,
        sampled_at timestamptz not null,
        borrow_apy numeric not null,
        utilization numeric not null,
        supply_assets numeric(78, 0) not null,
        borrow_assets numeric(78, 0) not null,
        liquidity_assets numeric(78, 0) not null,
        primary key (chain_id, market_id, hour)
      )`,
    sql`create index rate_samples_by_hour on rate_samples (chain_id, hour)`,
  ],
};
