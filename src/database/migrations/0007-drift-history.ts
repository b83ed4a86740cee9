import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** When each disagreement between register and chain was seen. The version before writes `drift_sightings` alone. */
export const driftHistory: Migration = {
  name: '0007_drift_history',
  up: [
    sql`
      create table drift_history (
        id bigint generated always as identity primary key,
        chain_id integer not null,
        wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
        position_index integer not null check (position_index >= 0),
        kind text not null,
        severity text not null,
        market_id text not null check (market_id ~ '^0x[0-9a-f]{64}$'),
        vault_id text,
        first_seen timestamptz not null,
        last_seen timestamptz not null,
        gone_at timestamptz
      )`,
    // At most one row of a disagreement is open, over all processes.
    sql`
      create unique index drift_history_open on drift_history (chain_id, wallet, position_index, kind)
      where gone_at is null`,
    sql`create index drift_history_by_position on drift_history (chain_id, wallet, position_index, kind, gone_at)`,
  ],
};
