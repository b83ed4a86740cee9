import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** The latest runs of the jobs of alerts, which other processes show. */
export const alertJobRuns: Migration = {
  name: '0013_alert_jobs',
  up: [
    sql`
      create table alert_jobs (
        job text primary key,
        ran_at timestamptz not null,
        failure text,
        failing_since timestamptz
      )`,
  ],
};
