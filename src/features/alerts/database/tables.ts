import type { ColumnType, Generated, Kysely, RawBuilder } from 'kysely';
import type { Database } from '../../../database/client.ts';
import type { NullableNumeric, NullableTime, Tables, Time } from '../../../database/schema.ts';
import type { AlertEventType, DeliveryStatus } from '../domain/records.ts';
import type { AlertCondition, AlertStatus, AlertSubjectKind } from '../domain/types.ts';

/** An alert of a partner with its state. */
export interface AlertsTable {
  id: string;
  seq: Generated<string>;
  owner_id: string;
  chain_id: number;
  /** A vault of a wallet is a `strategy` with its wallet. */
  subject: Exclude<AlertSubjectKind, 'vault'>;
  /** Lower case, enforced by a check. */
  wallet: string | null;
  position_index: number | null;
  strategy_id: string | null;
  condition: AlertCondition;
  threshold: NullableNumeric;
  rearm_at: NullableNumeric;
  label: string;
  url: string;
  secret_salt: Buffer;
  secret_version: number;
  /** Versions of earlier secrets that still sign, JSON. */
  earlier_secrets: ColumnType<unknown, string | undefined, string>;
  /** Unique among the alerts of the owner; `null` = the registration had none. */
  idempotency_key: ColumnType<string | null, string | null | undefined, string | null>;
  request_hash: ColumnType<Buffer | null, Buffer | null | undefined, Buffer | null>;
  created_at: Time;
  /** Set instead of removing the row, so that processes notice it; such rows are removed a day later. */
  deleted_at: NullableTime;
  status: Exclude<AlertStatus, 'not_applicable'>;
  /** `false` = the status is `not_applicable`, which the column before cannot hold. */
  applies: ColumnType<boolean, boolean | undefined, boolean>;
  value: NullableNumeric;
  observed_at: NullableTime;
  changed_at: NullableTime;
  /** Reported liquidations, JSON. */
  reported: ColumnType<unknown, string | null | undefined, string | null>;
  /** Indexes of the positions that have counted as loops of its vault, JSON; `null` = none has. */
  loops: ColumnType<unknown, string | null | undefined, string | null>;
  /** Groups that are past their budget or missing, JSON; `null` = none, or the condition is another one. */
  stale_groups: ColumnType<unknown, string | null | undefined, string | null>;
  /** 64 bits, transferred as text. */
  revision: ColumnType<string, RawBuilder<string>, RawBuilder<string>>;
}

/** An event of an alert, with the state of its delivery. */
export interface AlertDeliveriesTable {
  seq: Generated<string>;
  id: string;
  alert_id: string;
  owner_id: string;
  type: AlertEventType;
  body: string;
  receiver: string;
  occurred_at: Time;
  status: DeliveryStatus;
  attempts: number;
  first_attempt_at: NullableTime;
  /** Times within the hour before the latest redelivery at which it was begun before. */
  earlier_begins: ColumnType<Date[], never, RawBuilder<Date[]>>;
  next_attempt_at: NullableTime;
  /** The attempt under way, and the time of the database until which no other begins. */
  lease: string | null;
  leased_until: NullableTime;
  http_status: number | null;
  failure: string | null;
  finished_at: NullableTime;
}

/** The latest run of a job of alerts. */
export interface AlertJobsTable {
  job: string;
  ran_at: Time;
  failure: string | null;
  /** First failure in a row. */
  failing_since: NullableTime;
}

type AlertTables = {
  alerts: AlertsTable;
  alert_jobs: AlertJobsTable;
  alert_deliveries: AlertDeliveriesTable;
};

/** The tables of a transaction on alerts. */
export type TablesWithAlerts = Tables & AlertTables;

/** The database with the tables of alerts. */
export function withAlertTables(db: Database): Kysely<TablesWithAlerts> {
  return db.withTables<AlertTables>();
}
