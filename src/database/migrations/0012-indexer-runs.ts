import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** The latest run of the reading of position logs, which other processes show. */
export const indexerRuns: Migration = {
  name: '0012_indexer_runs',
  up: [
    sql`
      alter table indexer_cursor
        add column ran_at timestamptz,
        add column head_block bigint,
        add column expected integer,
        add column failure text,
        add column failing_since timestamptz`,
  ],
};
