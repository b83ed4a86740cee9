import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** Logs of positions, the blocks that were read for them, and the state of markets at these blocks and over time. */
export const positionHistory: Migration = {
  name: '0008_position_history',
  up: [
    sql`
      create table position_events (
        chain_id integer not null,
        block_number bigint not null check (block_number >= 0),
        log_index integer not null check (log_index >= 0),
        block_hash text not null check (block_hash ~ '^0x[0-9a-f]{64}$'),
        block_time timestamptz not null,
        tx_hash text not null check (tx_hash ~ '^0x[0-9a-f]{64}$'),
        event text not null,
        market_id text check (market_id ~ '^0x[0-9a-f]{64}$'),
        account text check (account ~ '^0x[0-9a-f]{40}$'),
        wallet text check (wallet ~ '^0x[0-9a-f]{40}$'),
        position_index integer check (position_index >= 0),
        token text check (token ~ '^0x[0-9a-f]{40}$'),
        sender text check (sender ~ '^0x[0-9a-f]{40}$'),
        receiver text check (receiver ~ '^0x[0-9a-f]{40}$'),
        assets numeric(78) not null,
        shares numeric(78) not null,
        collateral numeric(78) not null,
        bad_debt numeric(78) not null,
        bad_debt_shares numeric(78) not null,
        primary key (chain_id, block_number, log_index)
      )`,
    sql`create index position_events_by_account on position_events (chain_id, account) where account is not null`,
    sql`
      create index position_events_by_position on position_events (chain_id, wallet, position_index)
      where wallet is not null`,
    sql`create index position_events_by_transaction on position_events (chain_id, tx_hash)`,
    // Each step of reading stores its logs and moves the cursor in one transaction.
    sql`
      create table indexer_cursor (
        chain_id integer primary key,
        scope text not null,
        from_block bigint not null,
        from_time timestamptz not null,
        to_block bigint not null,
        to_time timestamptz not null,
        is_whole boolean not null
      )`,
    // Hashes of blocks up to which logs were read: the newest that the chain still has is where a reorganization began.
    sql`
      create table indexer_blocks (
        chain_id integer not null,
        block_number bigint not null,
        block_hash text not null check (block_hash ~ '^0x[0-9a-f]{64}$'),
        block_time timestamptz not null,
        primary key (chain_id, block_number)
      )`,
    sql`
      create table market_marks (
        chain_id integer not null,
        market_id text not null check (market_id ~ '^0x[0-9a-f]{64}$'),
        block_number bigint not null,
        block_time timestamptz not null,
        is_sample boolean not null,
        asked_at timestamptz not null,
        price numeric(78),
        borrow_assets numeric(78),
        borrow_shares numeric(78),
        primary key (chain_id, market_id, block_number)
      )`,
  ],
};
