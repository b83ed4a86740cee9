import { sql } from 'kysely';
import type { Migration } from './types.ts';

export const apiKeys: Migration = {
  name: '0002_api_keys',
  up: [
    sql`
      create table api_keys (
        id uuid primary key,
        prefix text not null unique,
        secret_hash bytea not null check (length(secret_hash) = 32),
        tier text not null check (tier in ('partner', 'ops')),
        label text not null,
        created_at timestamptz not null,
        expires_at timestamptz,
        revoked_at timestamptz,
        rotated_from uuid references api_keys (id),
        last_used_at timestamptz
      )`,
  ],
};
