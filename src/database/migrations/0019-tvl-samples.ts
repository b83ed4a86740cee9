import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** TVL of chains by hour, which no provider keeps. */
export const tvlSamples: Migration = {
  name: '0019_tvl_samples',
  up: [
    sql`
      create table tvl_samples (
        chain_id integer not null,
        hour timestamptz not null,
        sampled_at timestamptz not null,
        gross_tvl_usd numeric not null,
        borrowed_usd numeric not null,
        primary key (chain_id, hour)
      )`,
  ],
};
