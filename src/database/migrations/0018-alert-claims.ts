import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** Indexes that bound the claim of an event by the receivers that wait, and the removal of ended keys by their number. */
export const alertClaims: Migration = {
  name: '0018_alert_claims',
  up: [
    sql`create index alert_deliveries_waiting
      on alert_deliveries (owner_id, receiver, (first_attempt_at is null), next_attempt_at, seq) where status = 'pending'`,
    sql`create index alert_deliveries_leased on alert_deliveries (leased_until) where leased_until is not null`,
    sql`create index alert_deliveries_begun_before
      on alert_deliveries (owner_id) where earlier_begins <> '{}'::timestamptz[]`,
    sql`create index api_keys_by_origin on api_keys (rotated_from)`,
  ],
};
