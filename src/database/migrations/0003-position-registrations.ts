import { sql } from 'kysely';
import type { Migration } from './types.ts';

export const positionRegistrations: Migration = {
  name: '0003_position_registrations',
  up: [
    // The unique index also serves the pages of a chain.
    sql`
      create table position_registrations (
        id bigint generated always as identity primary key,
        wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
        chain_id integer not null,
        market_id text not null check (market_id ~ '^0x[0-9a-f]{64}$'),
        position_index integer not null check (position_index >= 0),
        is_open boolean not null,
        deposited_usd numeric not null,
        added_usd numeric not null default 0,
        removed_usd numeric not null default 0,
        returned_usd numeric not null default 0,
        collateral_apy_pct_at_open numeric,
        borrow_apy_pct_at_open numeric,
        leverage_apy_pct_at_open numeric,
        desired_ltv_pct numeric,
        entry_price numeric,
        exit_price numeric,
        equity_vault_id text,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        closed_at timestamptz,
        unique (chain_id, wallet, position_index)
      )`,
    sql`create index position_registrations_by_wallet on position_registrations (wallet)`,
  ],
};
