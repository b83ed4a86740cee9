import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import { getAddress } from 'viem';
import type { Database } from '../../../database/client.ts';
import type { Clock } from '../../../shared/clock.ts';
import { Decimal } from '../../../shared/decimal.ts';
import type { StrategyId } from '../../../shared/ids.ts';
import type {
  AlertListQuery,
  AlertPage,
  AlertRecord,
  EarlierRegistration,
  NewAlertEvent,
  NewAlertRecord,
} from '../domain/records.ts';
import type { AlertState, AlertSubject } from '../domain/types.ts';
import { decodeEarlierSecrets, encodeEarlierSecrets } from './earlier-secrets.ts';
import { insertEvents } from './events.ts';
import { pageBySeq } from './page-by-seq.ts';
import { decodeLoops, decodeReported, decodeStaleGroups, encodeReported } from './reported.ts';
import { type AlertsTable, type TablesWithAlerts, withAlertTables } from './tables.ts';

/** A row that changed: the alert as it is now, or `null` = it was deleted. */
export interface ChangedAlert {
  readonly id: string;
  readonly revision: bigint;
  readonly alert: AlertRecord | null;
}

/** A change of state to store, with the events that it causes. */
export interface StoredTransition {
  readonly alert: Pick<AlertRecord, 'id' | 'revision'>;
  readonly state: AlertState;
  readonly events: readonly NewAlertEvent[];
}

export type AlertSecrets = Pick<AlertRecord, 'secret' | 'earlierSecrets'>;

export interface AlertRepository {
  /**
   * Store a new alert, unless its owner has sent its idempotency key before.
   * @returns what was stored under that key; `stored`; or `too_many` = its owner has `max` alerts already
   */
  insert(alert: NewAlertRecord, max: number): Promise<'stored' | 'too_many' | EarlierRegistration>;
  /** Replace the secrets of an alert by those that `change` makes of them. `null` = there is no such alert, or `change` refuses. */
  changeSecrets(
    ownerId: string,
    id: string,
    change: (before: AlertSecrets) => AlertSecrets | null,
  ): Promise<AlertRecord | null>;
  /** Find an alert of an owner; `null` = there is none. */
  find(ownerId: string, id: string): Promise<AlertRecord | null>;
  list(query: AlertListQuery): Promise<AlertPage<AlertRecord>>;
  /** Delete an alert and its undelivered events. `false` = there is none. */
  remove(ownerId: string, id: string): Promise<boolean>;
  /** Read rows that changed after a place, in the order of their changes. */
  changedAfter(
    after: { readonly revision: bigint; readonly id: string },
    limit: number,
  ): Promise<readonly ChangedAlert[]>;
  /**
   * Store changes of state with their events, in one transaction. A change of a row that has changed since it was read is left out.
   * @returns the ids of the alerts that changed
   */
  apply(transitions: readonly StoredTransition[]): Promise<ReadonlySet<string>>;
  /** Store an event that no change of state causes. */
  announce(event: NewAlertEvent): Promise<void>;
  /** Remove alerts that were deleted a day ago; return their number. */
  prune(): Promise<number>;
}

/** Of the advisory locks of Postgres: writes of alerts and events are committed in the order of their numbers. */
const LOCK = 1_784_101_438;
const DAY_MS = 86_400_000;
const NEXT_REVISION = sql<string>`(select coalesce(max(revision), 0) + 1 from alerts)`;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** The kind of the subject of a row: a vault is a strategy with a wallet. */
const SUBJECT_OF_ROW = sql`case when subject = 'strategy' and wallet is not null then 'vault' else subject end`;

/** The place before every row. */
export const NO_ALERTS = { revision: 0n, id: FIRST_ID } as const;

/** Create the repository of alerts. Every call may throw `UpstreamUnavailableError`. */
export function createAlertRepository(database: Database, clock: Clock): AlertRepository {
  const db = withAlertTables(database);
  const serially = <T>(run: (transaction: Transaction<TablesWithAlerts>) => Promise<T>): Promise<T> =>
    db.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(${LOCK}::bigint)`.execute(transaction);
      return run(transaction);
    });
  return {
    insert: (alert, max) =>
      serially(async (transaction) => {
        const earlier = await findRegistration(transaction, alert);
        if (earlier !== null) return earlier;
        const { count } = await transaction
          .selectFrom('alerts')
          .select(sql<number>`count(*)::integer`.as('count'))
          .where('owner_id', '=', alert.ownerId)
          .where('deleted_at', 'is', null)
          .executeTakeFirstOrThrow();
        if (count >= max) return 'too_many';
        await transaction.insertInto('alerts').values(toRow(alert)).execute();
        return 'stored';
      }),
    changeSecrets: (ownerId, id, change) =>
      serially((transaction) => changeSecrets(transaction, { ownerId, id }, change)),
    find: async (ownerId, id) => {
      const row = await db
        .selectFrom('alerts')
        .selectAll()
        .where('owner_id', '=', ownerId)
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      return row === undefined ? null : toRecord(row);
    },
    list: async ({ ownerId, subject, condition, ...page }) => {
      const one = (column: string, value: string | undefined): RawBuilder<unknown> =>
        value === undefined ? sql`true` : sql`${sql.ref(column)} = ${value}`;
      const matching = sql`owner_id = ${ownerId} and deleted_at is null
        and ${subject === undefined ? sql`true` : sql`${SUBJECT_OF_ROW} = ${subject}`} and ${one('condition', condition)}`;
      const { rows, ...found } = await pageBySeq<Selectable<AlertsTable>>(db, 'alerts', matching, page);
      return { ...found, items: rows.map(toRecord) };
    },
    remove: (ownerId, id) =>
      serially(async (transaction) => {
        const removed = await transaction
          .updateTable('alerts')
          .set({ deleted_at: new Date(clock.now()), revision: NEXT_REVISION })
          .where('owner_id', '=', ownerId)
          .where('id', '=', id)
          .where('deleted_at', 'is', null)
          .executeTakeFirst();
        if (removed.numUpdatedRows === 0n) return false;
        await transaction
          .deleteFrom('alert_deliveries')
          .where('alert_id', '=', id)
          .where('status', '!=', 'delivered')
          .execute();
        return true;
      }),
    changedAfter: async ({ revision, id }, limit) => {
      const { rows } = await sql<Selectable<AlertsTable>>`
        select * from alerts where (revision, id) > (${String(revision)}::bigint, ${id}::uuid)
        order by revision, id limit ${limit}`.execute(db);
      return rows.map((row) => ({
        id: row.id,
        revision: BigInt(row.revision),
        alert: row.deleted_at === null ? toRecord(row) : null,
      }));
    },
    apply: (transitions) =>
      serially(async (transaction) => {
        const { rows } = await updateStates(transitions, clock.now()).execute(transaction);
        const changed = new Set(rows.map(({ id }) => id));
        const events = transitions.flatMap(({ alert, events: caused }) => (changed.has(alert.id) ? caused : []));
        await insertEvents(transaction, events);
        return changed;
      }),
    announce: (event) => serially((transaction) => insertEvents(transaction, [event])),
    prune: async () => {
      const removed = await db
        .deleteFrom('alerts')
        .where('deleted_at', '<', new Date(clock.now() - DAY_MS))
        .executeTakeFirst();
      return Number(removed.numDeletedRows);
    },
  };
}

async function changeSecrets(
  transaction: Transaction<TablesWithAlerts>,
  { ownerId, id }: Pick<AlertRecord, 'ownerId' | 'id'>,
  change: (before: AlertSecrets) => AlertSecrets | null,
): Promise<AlertRecord | null> {
  const row = await transaction
    .selectFrom('alerts')
    .selectAll()
    .where('owner_id', '=', ownerId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return null;
  const alert = toRecord(row);
  const changed = change(alert);
  if (changed === null) return null;
  const { secret, earlierSecrets } = changed;
  await transaction
    .updateTable('alerts')
    .set({ secret_version: secret.version, earlier_secrets: encodeEarlierSecrets(earlierSecrets) })
    .where('id', '=', id)
    .execute();
  return { ...alert, secret, earlierSecrets };
}

/** Find the registration that an idempotency key was sent with; `null` = none, or there is no key. */
async function findRegistration(
  transaction: Transaction<TablesWithAlerts>,
  { ownerId, idempotency }: Pick<NewAlertRecord, 'ownerId' | 'idempotency'>,
): Promise<EarlierRegistration | null> {
  if (idempotency === undefined) return null;
  const row = await transaction
    .selectFrom('alerts')
    .selectAll()
    .where('owner_id', '=', ownerId)
    .where('idempotency_key', '=', idempotency.key)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { alert: toRecord(row), hash: row.request_hash ?? Buffer.alloc(0), isDeleted: row.deleted_at !== null };
}

function updateStates(transitions: readonly StoredTransition[], nowMs: number): RawBuilder<{ id: string }> {
  const column = <T>(pick: (transition: StoredTransition) => T): T[] => transitions.map(pick);
  return sql<{ id: string }>`
    update alerts as had
    set status = new.status, applies = new.applies, value = new.value, observed_at = new.observed_at,
      reported = new.reported, loops = new.loops, stale_groups = new.stale_groups,
      changed_at = case when had.status = new.status and had.applies = new.applies and had.value is not distinct from new.value then had.changed_at
        else ${new Date(nowMs)}::timestamptz end,
      revision = ${NEXT_REVISION}
    from unnest(
      ${column(({ alert }) => alert.id)}::uuid[],
      ${column(({ alert }) => String(alert.revision))}::bigint[],
      ${column(({ state }) => (state.status === 'not_applicable' ? 'armed' : state.status))}::text[],
      ${column(({ state }) => state.status !== 'not_applicable')}::boolean[],
      ${column(({ state }) => state.value?.toFixed() ?? null)}::numeric[],
      ${column(({ state }) => (state.observedMs === null ? null : new Date(state.observedMs)))}::timestamptz[],
      ${column(({ state }) => state.reported && encodeReported(state.reported))}::jsonb[],
      ${column(({ state }) => (state.loops === undefined ? null : JSON.stringify(state.loops)))}::jsonb[],
      ${column(({ state }) => (state.staleGroups === undefined ? null : JSON.stringify(state.staleGroups)))}::jsonb[]
    ) as new (id, revision, status, applies, value, observed_at, reported, loops, stale_groups)
    where had.id = new.id and had.revision = new.revision and had.deleted_at is null
    returning had.id`;
}

function toRow({ id, ownerId, rule, label, url, createdMs, secret, idempotency }: NewAlertRecord) {
  const { subject } = rule;
  return {
    id,
    owner_id: ownerId,
    chain_id: subject.chainId,
    // A version that does not know vaults takes one for its strategy, whose values are no wrong ones.
    subject: subject.kind === 'vault' ? ('strategy' as const) : subject.kind,
    wallet: subject.kind === 'strategy' ? null : subject.wallet.toLowerCase(),
    position_index: subject.kind === 'position' ? subject.positionIndex : null,
    strategy_id: subject.kind === 'strategy' || subject.kind === 'vault' ? subject.strategyId : null,
    condition: rule.condition,
    threshold: rule.threshold?.toFixed() ?? null,
    rearm_at: rule.rearmAt?.toFixed() ?? null,
    label,
    url,
    secret_salt: secret.salt,
    secret_version: secret.version,
    created_at: new Date(createdMs),
    idempotency_key: idempotency?.key ?? null,
    request_hash: idempotency?.hash ?? null,
    status: 'unknown' as const,
    revision: NEXT_REVISION,
  };
}

function toRecord(row: Selectable<AlertsTable>): AlertRecord {
  return {
    id: row.id,
    seq: BigInt(row.seq),
    ownerId: row.owner_id,
    rule: {
      subject: toSubject(row),
      condition: row.condition,
      threshold: decimalOf(row.threshold),
      rearmAt: decimalOf(row.rearm_at),
    },
    state: {
      status: row.applies ? row.status : 'not_applicable',
      value: decimalOf(row.value),
      observedMs: row.observed_at?.getTime() ?? null,
      reported: row.reported === null ? null : decodeReported(row.reported),
      loops: decodeLoops(row.loops),
      staleGroups: decodeStaleGroups(row.stale_groups),
    },
    label: row.label,
    url: row.url,
    createdMs: row.created_at.getTime(),
    changedMs: row.changed_at?.getTime() ?? null,
    revision: BigInt(row.revision),
    secret: { salt: row.secret_salt, version: row.secret_version },
    earlierSecrets: decodeEarlierSecrets(row.earlier_secrets),
  };
}

function toSubject(row: Selectable<AlertsTable>): AlertSubject {
  const chainId = row.chain_id;
  const strategyId = row.strategy_id as StrategyId;
  if (row.subject === 'strategy' && row.wallet === null) return { kind: 'strategy', chainId, strategyId };
  const wallet = getAddress(row.wallet ?? '');
  if (row.subject === 'strategy') return { kind: 'vault', chainId, wallet, strategyId };
  if (row.subject === 'wallet') return { kind: 'wallet', chainId, wallet };
  return { kind: 'position', chainId, wallet, positionIndex: row.position_index ?? 0 };
}

function decimalOf(text: string | null): Decimal | null {
  return text === null ? null : new Decimal(text);
}
