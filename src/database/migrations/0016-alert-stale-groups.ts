import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** The stale groups of alerts that fire for them. */
export const alertStaleGroups: Migration = {
  name: '0016_alert_stale_groups',
  up: [sql`alter table alerts add column stale_groups jsonb`],
};
