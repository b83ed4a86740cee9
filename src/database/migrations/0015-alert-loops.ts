import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** The loops that alerts on a vault follow, also when they no longer match it. */
export const alertLoops: Migration = {
  name: '0015_alert_loops',
  up: [sql`alter table alerts add column loops jsonb`],
};
