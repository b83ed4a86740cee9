import { sql } from 'kysely';
import type { Migration } from './types.ts';

/** Alerts of partners with their state, and the outbox of their events. */
export const alerts: Migration = {
  name: '0009_alerts',
  up: [
    sql`
      create table alerts (
        id uuid primary key,
        seq bigint generated always as identity unique,
        owner_id text not null,
        chain_id integer not null,
        subject text not null check (subject in ('wallet', 'position', 'strategy')),
        wallet text check (wallet ~ '^0x[0-9a-f]{40}$'),
        position_index integer check (position_index >= 0),
        strategy_id text,
        condition text not null,
        threshold numeric,
        rearm_at numeric,
        label text not null,
        url text not null,
        secret_salt bytea not null,
        secret_version integer not null,
        created_at timestamptz not null,
        deleted_at timestamptz,
        status text not null check (status in ('unknown', 'armed', 'firing')),
        value numeric,
        observed_at timestamptz,
        changed_at timestamptz,
        revision bigint not null
      )`,
    sql`create index alerts_by_revision on alerts (revision, id)`,
    sql`create index alerts_by_owner on alerts (owner_id, seq) where deleted_at is null`,
    sql`
      create table alert_deliveries (
        seq bigint generated always as identity primary key,
        id uuid not null unique,
        alert_id uuid not null references alerts (id) on delete cascade,
        owner_id text not null,
        type text not null,
        body text not null,
        receiver text not null,
        occurred_at timestamptz not null,
        status text not null check (status in ('pending', 'delivered', 'dead')),
        attempts integer not null,
        first_attempt_at timestamptz,
        next_attempt_at timestamptz,
        lease uuid,
        leased_until timestamptz,
        http_status integer,
        failure text,
        finished_at timestamptz
      )`,
    sql`create index alert_deliveries_due on alert_deliveries (next_attempt_at) where status = 'pending'`,
    sql`create index alert_deliveries_by_owner on alert_deliveries (owner_id, seq)`,
    sql`create index alert_deliveries_by_alert on alert_deliveries (alert_id)`,
    sql`create index alert_deliveries_begun on alert_deliveries (first_attempt_at)`,
  ],
};
