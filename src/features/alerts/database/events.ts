import { type Selectable, sql, type Transaction } from 'kysely';
import type { Database } from '../../../database/client.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { AlertDelivery, AlertPage, DeliveryListQuery, NewAlertEvent } from '../domain/records.ts';
import { pageBySeq } from './page-by-seq.ts';
import { type AlertDeliveriesTable, type TablesWithAlerts, withAlertTables } from './tables.ts';

/** Events by owner, in the order in which they were committed. */
export interface AlertEventRepository {
  list(query: DeliveryListQuery): Promise<AlertPage<AlertDelivery>>;
  find(ownerId: string, id: string): Promise<AlertDelivery | null>;
  /** Find the place and the owner of an event by its id or its place. */
  locate(event: string | bigint): Promise<{ readonly seq: bigint; readonly ownerId: string } | null>;
  /** Read events that follow a place, the oldest first. */
  after(ownerId: string, seq: bigint, limit: number): Promise<readonly AlertDelivery[]>;
  /** The place of the newest event of all owners; 0 without one. */
  newest(): Promise<bigint>;
  /** The place of the newest event of each owner that has one after a place. */
  newestByOwner(seq: bigint): Promise<ReadonlyMap<string, bigint>>;
  /** Deliver an event again, now, with all its attempts. `null` = there is none, or it is being delivered. */
  redeliver(ownerId: string, id: string): Promise<AlertDelivery | null>;
  /** Remove events of 30 days ago; return their number. */
  prune(): Promise<number>;
}

const EVENT_RETENTION_DAYS = 30;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Create the repository of the events of alerts. Every call may throw `UpstreamUnavailableError`. */
export function createAlertEventRepository(database: Database, clock: Clock): AlertEventRepository {
  const db = withAlertTables(database);
  return {
    list: async ({ ownerId, alertId, status, ...page }) => {
      const matching = sql`owner_id = ${ownerId}
        and ${alertId === undefined ? sql`true` : sql`alert_id = ${alertId}::uuid`}
        and ${status === undefined ? sql`true` : sql`status = ${status}`}`;
      const { rows, ...found } = await pageBySeq<Selectable<AlertDeliveriesTable>>(
        db,
        'alert_deliveries',
        matching,
        page,
      );
      return { ...found, items: rows.map(toDelivery) };
    },
    find: async (ownerId, id) => {
      const row = await db
        .selectFrom('alert_deliveries')
        .selectAll()
        .where('owner_id', '=', ownerId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row === undefined ? null : toDelivery(row);
    },
    locate: async (event) => {
      const row = await db
        .selectFrom('alert_deliveries')
        .select(['seq', 'owner_id'])
        .where((of) => (typeof event === 'bigint' ? of('seq', '=', String(event)) : of('id', '=', event)))
        .executeTakeFirst();
      return row === undefined ? null : { seq: BigInt(row.seq), ownerId: row.owner_id };
    },
    after: async (ownerId, seq, limit) => {
      const rows = await db
        .selectFrom('alert_deliveries')
        .selectAll()
        .where('owner_id', '=', ownerId)
        .where('seq', '>', String(seq))
        .orderBy('seq')
        .limit(limit)
        .execute();
      return rows.map(toDelivery);
    },
    newest: async () => {
      const { seq } = await db
        .selectFrom('alert_deliveries')
        .select(sql<string>`coalesce(max(seq), 0)`.as('seq'))
        .executeTakeFirstOrThrow();
      return BigInt(seq);
    },
    newestByOwner: async (seq) => {
      const rows = await db
        .selectFrom('alert_deliveries')
        .select(['owner_id', sql<string>`max(seq)`.as('newest')])
        .where('seq', '>', String(seq))
        .groupBy('owner_id')
        .execute();
      return new Map(rows.map(({ owner_id, newest }) => [owner_id, BigInt(newest)]));
    },
    redeliver: async (ownerId, id) => {
      const row = await db
        .updateTable('alert_deliveries')
        .set({
          status: 'pending',
          attempts: 0,
          next_attempt_at: new Date(clock.now()),
          finished_at: null,
          // It counts again in the limit of the hour.
          first_attempt_at: null,
          earlier_begins: sql<Date[]>`array(
            select began from unnest(earlier_begins || first_attempt_at) as began
            where began > ${new Date(clock.now() - HOUR_MS)}::timestamptz)`,
        })
        .where('owner_id', '=', ownerId)
        .where('id', '=', id)
        .where(sql<boolean>`(leased_until is null or leased_until < clock_timestamp())`)
        .returningAll()
        .executeTakeFirst();
      return row === undefined ? null : toDelivery(row);
    },
    prune: async () => {
      const removed = await db
        .deleteFrom('alert_deliveries')
        .where('occurred_at', '<', new Date(clock.now() - EVENT_RETENTION_DAYS * DAY_MS))
        .executeTakeFirst();
      return Number(removed.numDeletedRows);
    },
  };
}

/** Store new events, due at once. */
export async function insertEvents(
  transaction: Transaction<TablesWithAlerts>,
  events: readonly NewAlertEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const column = <T>(pick: (event: NewAlertEvent) => T): T[] => events.map(pick);
  await sql`
    insert into alert_deliveries
      (id, alert_id, owner_id, type, body, receiver, occurred_at, next_attempt_at, status, attempts)
    select id, alert_id, owner_id, type, body, receiver, occurred_at, occurred_at, 'pending', 0
    from unnest(
      ${column(({ id }) => id)}::uuid[],
      ${column(({ alertId }) => alertId)}::uuid[],
      ${column(({ ownerId }) => ownerId)}::text[],
      ${column(({ type }) => type)}::text[],
      ${column(({ body }) => body)}::text[],
      ${column(({ receiver }) => receiver)}::text[],
      ${column(({ occurredMs }) => new Date(occurredMs))}::timestamptz[]
    ) with ordinality as new (id, alert_id, owner_id, type, body, receiver, occurred_at, place)
    order by place`.execute(transaction);
}

export function toDelivery(row: Selectable<AlertDeliveriesTable>): AlertDelivery {
  return {
    id: row.id,
    seq: BigInt(row.seq),
    alertId: row.alert_id,
    type: row.type,
    body: row.body,
    receiver: row.receiver,
    occurredMs: row.occurred_at.getTime(),
    status: row.status,
    attempts: row.attempts,
    nextAttemptMs: row.status === 'pending' ? (row.next_attempt_at?.getTime() ?? null) : null,
    finishedMs: row.finished_at?.getTime() ?? null,
    httpStatus: row.http_status,
    failure: row.failure,
  };
}
