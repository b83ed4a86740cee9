import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** Use of keys by day, for their holders. */
export const keyUsage: Migration = {
  name: '0020_key_usage',
  up: [
    sql`
      create table key_usage (
        key_id text not null,
        day timestamptz not null,
        calls bigint not null,
        points bigint not null,
        refusals bigint not null,
        primary key (key_id, day)
      )`,
    sql`create index key_usage_by_day on key_usage (day)`,
  ],
};
