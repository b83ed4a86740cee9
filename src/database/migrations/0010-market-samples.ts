import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** Oracle price and borrow rate of markets by hour, which no provider keeps. */
export const marketSamples: Migration = {
  name: '0010_market_samples',
  up: [
    sql`
      create table market_samples (
        chain_id integer not null,
        market_id text not null check (market_id ~ '^0x[0-9a-f]{64}$'),
        hour timestamptz not null,
        sampled_at timestamptz not null,
        price numeric(78) not null check (price > 0),
        borrow_rate numeric(78) not null check (borrow_rate >= 0),
        primary key (chain_id, market_id, hour)
      )`,
  ],
};
