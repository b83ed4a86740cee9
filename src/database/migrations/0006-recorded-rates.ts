import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** Rates that providers do not keep: those of ended campaigns, and yields of sources without a history. */
export const recordedRates: Migration = {
  name: '0006_recorded_rates',
  up: [
    // Steps are stored as text, because a campaign is read and written as a whole.
    sql`
      create table incentive_campaigns (
        chain_id integer not null,
        market_id text not null check (market_id ~ '^0x[0-9a-f]{64}$'),
        side text not null check (side in ('borrow', 'collateral')),
        campaign_id text not null,
        symbol text not null,
        starts_at timestamptz not null,
        ends_at timestamptz not null,
        steps text not null,
        primary key (chain_id, market_id, side, campaign_id)
      )`,
    sql`
      create table apy_samples (
        chain_id integer not null,
        token text not null check (token ~ '^0x[0-9a-fA-F]{40}$'),
        day timestamptz not null,
        sampled_at timestamptz not null,
        apy_pct numeric not null,
        primary key (chain_id, token, day)
      )`,
  ],
};
