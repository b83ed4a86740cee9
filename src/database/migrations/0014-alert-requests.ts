import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** Earlier signing secrets of alerts, and the keys under which a registration may be sent again. */
export const alertRequests: Migration = {
  name: '0014_alert_requests',
  up: [
    sql`alter table alerts add column earlier_secrets jsonb not null default '[]'`,
    sql`alter table alerts add column idempotency_key text`,
    sql`alter table alerts add column request_hash bytea`,
    // Registrations without a key do not collide: an index holds no two equal keys, and NULL equals nothing.
    sql`create unique index alerts_by_idempotency_key on alerts (owner_id, idempotency_key)`,
  ],
};
