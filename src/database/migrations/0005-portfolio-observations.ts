import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** Observations of the ops reading: first sightings of disagreements, and portfolio totals over time. */
export const portfolioObservations: Migration = {
  name: '0005_portfolio_observations',
  up: [
    sql`
      create table drift_sightings (
        chain_id integer not null,
        key text not null,
        wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
        first_seen timestamptz not null,
        primary key (chain_id, key)
      )`,
    sql`
      create table portfolio_samples (
        chain_id integer not null,
        hour timestamptz not null,
        sampled_at timestamptz not null,
        positions integer not null,
        deposited_usd numeric not null,
        net_value_usd numeric not null,
        incentives_usd numeric not null,
        total_usd numeric not null,
        primary key (chain_id, hour)
      )`,
  ],
};
