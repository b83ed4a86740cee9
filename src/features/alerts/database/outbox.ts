import { randomUUID } from 'node:crypto';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Database } from '../../../database/client.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { OutboxState } from '../domain/jobs.ts';
import type { AlertDelivery, AlertSecret, EarlierSecret } from '../domain/records.ts';
import { decodeEarlierSecrets } from './earlier-secrets.ts';
import { toDelivery } from './events.ts';
import { type AlertDeliveriesTable, withAlertTables } from './tables.ts';

/** An event that this process delivers, while its lease lasts. */
export interface ClaimedDelivery extends AlertDelivery {
  readonly lease: string;
  readonly url: string;
  readonly secret: AlertSecret;
  readonly earlierSecrets: readonly EarlierSecret[];
}

export interface ClaimLimits {
  /** Owners with a valid key; the events of others wait. */
  readonly owners: readonly string[];
  /** Attempts under way at once, of all processes. */
  readonly perReceiver: number;
  readonly perOwner: number;
  /** Events of an owner whose delivery may begin within an hour. */
  readonly begunPerHour: number;
}

/** How an attempt ended. `retryAtMs`: time of the next one; absent = there is none. */
export interface AttemptOutcome {
  readonly status: AlertDelivery['status'];
  readonly httpStatus: number | null;
  readonly failure: string | null;
  readonly retryAtMs?: number | undefined;
}

export interface AlertOutbox {
  /**
   * Take one due event, of the owners with the fewest attempts under way the oldest, so that no other process delivers it before
   * the lease ends; `null` = none is due.
   */
  claim(limits: ClaimLimits): Promise<ClaimedDelivery | null>;
  /** Store the outcome of an attempt. `false` = the lease has ended and another process has the event. */
  finish(claimed: Pick<ClaimedDelivery, 'id' | 'lease'>, outcome: AttemptOutcome): Promise<boolean>;
  state(limits: Pick<ClaimLimits, 'owners' | 'begunPerHour'>): Promise<OutboxState>;
}

/** Longer than an attempt can take. */
const LEASE_SEC = 60;
const HOUR_MS = 3_600_000;
/** No pause is as long: a later attempt was planned by a process with a clock that was ahead, and is due. */
const MAX_WAIT_MS = 2 * HOUR_MS;
/** Of the advisory locks of Postgres: limits hold across processes that claim at once. */
const LOCK = 1_784_101_439;

type ClaimedRow = Selectable<AlertDeliveriesTable> & {
  readonly url: string;
  readonly secret_salt: Buffer;
  readonly secret_version: number;
  readonly earlier_secrets: unknown;
};

/** Create the outbox of webhooks. Leases are timed by the database. Every call may throw `UpstreamUnavailableError`. */
export function createAlertOutbox(database: Database, clock: Clock): AlertOutbox {
  const db = withAlertTables(database);
  return {
    claim: (limits) =>
      db.transaction().execute(async (transaction) => {
        await sql`select pg_advisory_xact_lock(${LOCK}::bigint)`.execute(transaction);
        const lease = randomUUID();
        const { rows } = await claimStatement(limits, lease, clock.now()).execute(transaction);
        const [row] = rows;
        if (row === undefined) return null;
        const secret = { salt: row.secret_salt, version: row.secret_version };
        const earlierSecrets = decodeEarlierSecrets(row.earlier_secrets);
        return { ...toDelivery(row), lease, url: row.url, secret, earlierSecrets };
      }),
    finish: async ({ id, lease }, { status, httpStatus, failure, retryAtMs }) => {
      const at = new Date(clock.now());
      const stored = await db
        .updateTable('alert_deliveries')
        .set({
          status,
          http_status: httpStatus,
          failure,
          lease: null,
          leased_until: null,
          next_attempt_at: retryAtMs === undefined ? at : new Date(retryAtMs),
          finished_at: status === 'pending' ? null : at,
        })
        .where('id', '=', id)
        .where('lease', '=', lease)
        .executeTakeFirst();
      return stored.numUpdatedRows > 0n;
    },
    state: async (limits) => {
      const { rows } = await stateStatement(limits, clock.now()).execute(db);
      const [{ pending, dead, oldest, due } = { pending: 0, dead: 0, oldest: null, due: null }] = rows;
      return { pending, dead, oldestPendingMs: oldest?.getTime() ?? null, dueSinceMs: due?.getTime() ?? null };
    },
  };
}

interface StateRow {
  readonly pending: number;
  readonly dead: number;
  readonly oldest: Date | null;
  readonly due: Date | null;
}

function stateStatement({ owners, begunPerHour }: Pick<ClaimLimits, 'owners' | 'begunPerHour'>, nowMs: number) {
  const isOfOwner = sql`status = 'pending' and owner_id = any(${[...owners]}::text[])`;
  return sql<StateRow>`
    with begun as (${begunStatement(begunPerHour, nowMs)})
    select
      count(*) filter (where status = 'pending')::integer as pending,
      count(*) filter (where status = 'dead')::integer as dead,
      min(occurred_at) filter (where ${isOfOwner}) as oldest,
      min(next_attempt_at) filter (where ${isOfOwner} and ${isDue(nowMs)}
        and (leased_until is null or leased_until < clock_timestamp())
        and (first_attempt_at is not null or owner_id not in (select owner_id from begun))) as due
    from alert_deliveries where status <> 'delivered'`;
}

/** Owners whose hourly limit is used up, redeliveries included. */
function begunStatement(begunPerHour: number, nowMs: number) {
  const isOfHour = sql`began > ${new Date(nowMs - HOUR_MS)}::timestamptz and began <= ${new Date(nowMs)}::timestamptz`;
  return sql`
    select owner_id from (
      select owner_id, first_attempt_at as began from alert_deliveries
      union all
      select owner_id, unnest(earlier_begins) from alert_deliveries where earlier_begins <> '{}'::timestamptz[]
    ) as begins
    where ${isOfHour} group by owner_id having count(*) >= ${begunPerHour}`;
}

function isDue(nowMs: number) {
  const latest = new Date(nowMs + MAX_WAIT_MS);
  return sql`(next_attempt_at <= ${new Date(nowMs)}::timestamptz or next_attempt_at > ${latest}::timestamptz)`;
}

/**
 * The claim looks at the first event of each owner, receiver and kind (new, or to be repeated), found by steps over one index, so
 * that its cost grows with the receivers that wait and not with their events. Only leased events are passed over, which are few.
 */
function claimStatement({ owners, perReceiver, perOwner, begunPerHour }: ClaimLimits, lease: string, nowMs: number) {
  const now = sql`${new Date(nowMs)}::timestamptz`;
  const isLeased = sql`leased_until >= clock_timestamp()`;
  const isFree = sql`(leased_until is null or not ${isLeased})`;
  const place = sql`owner_id, receiver, (first_attempt_at is null)`;
  const first = (due: RawBuilder<unknown>) => sql`
    (select seq, next_attempt_at from alert_deliveries as event
      where status = 'pending' and event.owner_id = waiting.owner_id and event.receiver = waiting.receiver
        and (event.first_attempt_at is null) = waiting.is_new and ${due} and ${isFree}
      order by next_attempt_at, seq limit 1)`;
  return sql<ClaimedRow>`
    with recursive leased as (
      select owner_id, receiver from alert_deliveries
      where leased_until is not null and status = 'pending' and ${isLeased}
    ), begun as (${begunStatement(begunPerHour, nowMs)}
    ), waiting (owner_id, receiver, is_new) as (
      (select ${place} from alert_deliveries where status = 'pending' order by ${place} limit 1)
      union all
      select step.* from waiting cross join lateral (
        select ${place} from alert_deliveries where status = 'pending'
          and (${place}) > (waiting.owner_id, waiting.receiver, waiting.is_new)
        order by ${place} limit 1
      ) as step
    ), next as (
      select due.seq from waiting cross join lateral (
        ${first(sql`next_attempt_at <= ${now}`)}
        union all ${first(sql`next_attempt_at > ${new Date(nowMs + MAX_WAIT_MS)}::timestamptz`)}
      ) as due
      where owner_id = any(${[...owners]}::text[])
        and (not is_new or not exists (select from begun where begun.owner_id = waiting.owner_id))
        and (select count(*) from leased where leased.receiver = waiting.receiver) < ${perReceiver}
        and (select count(*) from leased where leased.owner_id = waiting.owner_id) < ${perOwner}
      order by (select count(*) from leased where leased.owner_id = waiting.owner_id), next_attempt_at, due.seq
      limit 1
    ), free as (
      select seq from alert_deliveries where seq = (select seq from next) for update skip locked
    )
    update alert_deliveries as taken
    set lease = ${lease}::uuid, leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SEC}),
      attempts = attempts + 1, first_attempt_at = coalesce(first_attempt_at, ${now})
    from free, alerts
    where taken.seq = free.seq and alerts.id = taken.alert_id
    returning taken.*, alerts.url, alerts.secret_salt, alerts.secret_version, alerts.earlier_secrets`;
}
