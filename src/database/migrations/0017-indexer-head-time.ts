import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** The time of the newest block that the latest run of the reading of position logs knew. */
export const indexerHeadTime: Migration = {
  name: '0017_indexer_head_time',
  up: [sql`alter table indexer_cursor add column head_at timestamptz`],
};
