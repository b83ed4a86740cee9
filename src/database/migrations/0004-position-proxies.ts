import { sql } from 'kysely';
import type { Migration } from './types.ts';

export const positionProxies: Migration = {
  name: '0004_position_proxies',
  up: [
    // The genesis hash separates chains of the same id, such as a local chain that was started anew.
    sql`
      create table position_proxies (
        chain_id integer not null,
        factory text not null check (factory ~ '^0x[0-9a-f]{40}$'),
        genesis_hash text not null check (genesis_hash ~ '^0x[0-9a-f]{64}$'),
        nonce integer not null check (nonce > 0),
        owner text check (owner ~ '^0x[0-9a-f]{40}$'),
        resolved_block bigint not null check (resolved_block >= 0),
        primary key (chain_id, factory, genesis_hash, nonce)
      )`,
  ],
};
