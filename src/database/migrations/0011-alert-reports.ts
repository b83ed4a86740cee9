import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** Liquidations that alerts have reported, alerts that apply to nothing, and the limit of redeliveries. */
export const alertReports: Migration = {
  name: '0011_alert_reports',
  up: [
    sql`alter table alerts add column reported jsonb`,
    // The status beside it stays one of those that an older version knows.
    sql`alter table alerts add column applies boolean not null default true`,
    sql`create index position_events_liquidations on position_events (chain_id, block_number) where event = 'Liquidate'`,
    sql`alter table alert_deliveries add column earlier_begins timestamptz[] not null default '{}'`,
    sql`
      create index alert_deliveries_redelivered on alert_deliveries (owner_id)
      where earlier_begins <> '{}'::timestamptz[]`,
    sql`create index alert_deliveries_undelivered on alert_deliveries (status) where status <> 'delivered'`,
  ],
};
