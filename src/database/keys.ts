import { type Selectable, sql } from 'kysely';
import type { Database } from './client.ts';
import { latestObserved } from './observed.ts';
import type { ApiKeysTable } from './schema.ts';

export type KeyTier = 'partner' | 'ops';

export interface KeyRecord {
  readonly id: string;
  /** Public part of the key, which identifies it. */
  readonly prefix: string;
  readonly secretHash: Buffer;
  readonly tier: KeyTier;
  readonly label: string;
  readonly createdAtMs: number;
  /** Expiry: the first millisecond at which it is invalid; `null` = never. */
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** Id of the key that it replaces. */
  readonly rotatedFrom: string | null;
  /** Rounded: see `LAST_USED_RESOLUTION_MS`. */
  readonly lastUsedAtMs: number | null;
}

export type NewKeyRecord = Omit<KeyRecord, 'revokedAtMs' | 'lastUsedAtMs'>;

/** `last_used_at` is written at most this often, so that a hot key costs no write per request. */
export const LAST_USED_RESOLUTION_MS = 3_600_000;

export interface KeyRepository {
  insert(key: NewKeyRecord): Promise<void>;
  findByPrefix(prefix: string): Promise<KeyRecord | null>;
  /** Find a key and lock its row until the transaction ends; for `atomically`. */
  lock(prefix: string): Promise<KeyRecord | null>;
  /** Newest first. */
  list(): Promise<readonly KeyRecord[]>;
  /** Id of the first key in the chain of rotations of a key; `null` when there is no such key. */
  rootOf(id: string): Promise<string | null>;
  /** The first keys in the chains of all keys that are neither revoked nor expired, in no order. */
  activeRoots(atMs: number): Promise<readonly string[]>;
  /** Set a key's expiry to an earlier time, never to a later one; `null` when there is no such key. */
  expire(prefix: string, atMs: number): Promise<KeyRecord | null>;
  /** Revoke a key. An earlier revocation keeps its time; `null` when there is no such key. */
  revoke(prefix: string, atMs: number): Promise<KeyRecord | null>;
  /** Record a use; skipped when the last recorded one is younger than `LAST_USED_RESOLUTION_MS`. */
  touch(id: string, atMs: number): Promise<void>;
  /** Remove keys that ended before a time and are no origin of a key that did not, with the alerts of their owners; return their number. */
  prune(endedBeforeMs: number): Promise<number>;
  /** Run several calls in one transaction. */
  atomically<T>(run: (repository: KeyRepository) => Promise<T>): Promise<T>;
}

/** Access the stored keys. Every call may throw `UpstreamUnavailableError`. */
export function createKeyRepository(db: Database): KeyRepository {
  return {
    insert: async (key) => {
      await db.insertInto('api_keys').values(toRow(key)).execute();
    },
    findByPrefix: async (prefix) =>
      orNull(await db.selectFrom('api_keys').selectAll().where('prefix', '=', prefix).executeTakeFirst()),
    lock: async (prefix) =>
      orNull(await db.selectFrom('api_keys').selectAll().where('prefix', '=', prefix).forUpdate().executeTakeFirst()),
    list: async () => {
      const rows = await db.selectFrom('api_keys').selectAll().orderBy('created_at', 'desc').orderBy('id').execute();
      return rows.map(toRecord);
    },
    rootOf: async (id) => {
      const { rows } = await sql<{ readonly id: string }>`
        with recursive chain as (
          select id, rotated_from from api_keys where id = ${id}
          union select earlier.id, earlier.rotated_from from chain join api_keys earlier on earlier.id = chain.rotated_from
        )
        select id from chain where rotated_from is null`.execute(db);
      return rows[0]?.id ?? null;
    },
    activeRoots: async (atMs) => {
      const { rows } = await sql<{ readonly id: string }>`
        with recursive chain as (
          select id, rotated_from from api_keys
          where revoked_at is null and (expires_at is null or expires_at > ${new Date(atMs)})
          union select earlier.id, earlier.rotated_from from chain join api_keys earlier on earlier.id = chain.rotated_from
        )
        select id from chain where rotated_from is null`.execute(db);
      return rows.map(({ id }) => id);
    },
    expire: async (prefix, atMs) => {
      const expires_at = sql<Date>`least(expires_at, ${new Date(atMs)}::timestamptz)`; // least() ignores null
      return orNull(
        await db
          .updateTable('api_keys')
          .set({ expires_at })
          .where('prefix', '=', prefix)
          .returningAll()
          .executeTakeFirst(),
      );
    },
    revoke: async (prefix, atMs) => {
      const revoked_at = sql<Date>`coalesce(revoked_at, ${new Date(atMs)}::timestamptz)`;
      return orNull(
        await db
          .updateTable('api_keys')
          .set({ revoked_at })
          .where('prefix', '=', prefix)
          .returningAll()
          .executeTakeFirst(),
      );
    },
    touch: async (id, atMs) => {
      await db
        .updateTable('api_keys')
        .set({ last_used_at: new Date(atMs) })
        .where('id', '=', id)
        .where(({ eb, or }) =>
          or([
            eb('last_used_at', 'is', null),
            eb('last_used_at', '<=', new Date(atMs - LAST_USED_RESOLUTION_MS)),
            eb('last_used_at', '>', latestObserved(atMs)), // written by a clock that was ahead
          ]),
        )
        .execute();
    },
    prune: async (endedBeforeMs) => {
      const { rows } = await sql<{ readonly id: string }>`
        with recursive kept as (
          select id, rotated_from from api_keys
          -- The database's clock counts too: a process whose clock is ahead removes no valid key.
          where coalesce(least(revoked_at, expires_at) >= least(${new Date(endedBeforeMs)}::timestamptz, now()), true)
          union select earlier.id, earlier.rotated_from from kept join api_keys earlier on earlier.id = kept.rotated_from
        ), removed as (
          delete from api_keys where not exists (select from kept where kept.id = api_keys.id) returning id
        ), alerts_removed as (
          delete from alerts using removed where alerts.owner_id = removed.id::text
        )
        select id from removed`.execute(db);
      return rows.length;
    },
    atomically: (run) => db.transaction().execute((transaction) => run(createKeyRepository(transaction))),
  };
}

function toRow(key: NewKeyRecord) {
  return {
    id: key.id,
    prefix: key.prefix,
    secret_hash: key.secretHash,
    tier: key.tier,
    label: key.label,
    created_at: new Date(key.createdAtMs),
    expires_at: key.expiresAtMs === null ? null : new Date(key.expiresAtMs),
    rotated_from: key.rotatedFrom,
  };
}

function orNull(row: Selectable<ApiKeysTable> | undefined): KeyRecord | null {
  return row === undefined ? null : toRecord(row);
}

function toRecord(row: Selectable<ApiKeysTable>): KeyRecord {
  return {
    id: row.id,
    prefix: row.prefix,
    secretHash: row.secret_hash,
    tier: row.tier,
    label: row.label,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at?.getTime() ?? null,
    revokedAtMs: row.revoked_at?.getTime() ?? null,
    rotatedFrom: row.rotated_from,
    lastUsedAtMs: row.last_used_at?.getTime() ?? null,
  };
}
