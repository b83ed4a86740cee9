import { sql } from 'kysely';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { MAX_AHEAD_MS } from '../shared/observed.ts';
import type { Database } from './client.ts';
import { DatabaseUnavailableError } from './connection/errors.ts';
import type { DatabaseProblem } from './connection/problems.ts';
import type { DatabaseWatch } from './connection/watch.ts';
import { latestObserved } from './observed.ts';

/** Interval of the checks of its lag, and pause after a failure. */
const CHECK_MS = 5_000;
const HOUR_MS = 3_600_000;

export interface ReplicaStatus {
  /**
   * Why reads go to the primary; `late` = the replica may lag by more than permitted, `other_schema` = it lacks a table or column.
   * `null` = they go to the replica.
   */
  readonly problem: DatabaseProblem | 'late' | null;
  readonly sinceMs: number | null;
}

type Read<Input extends readonly unknown[], Output> = (...input: Input) => Promise<Output>;

export interface ReplicaReads {
  /** Make a read that goes to the replica, and to the primary while the replica is away or late. */
  prefer<Input extends readonly unknown[], Output>(
    replica: Read<Input, Output>,
    primary: Read<Input, Output>,
  ): Read<Input, Output>;
  status(): ReplicaStatus;
}

export interface ReplicaDeps {
  readonly replica: Database;
  /** Of the replica. */
  readonly watch: DatabaseWatch;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly maxLagSec: number;
}

/** Choose the replica for reads that may be late, such as histories. */
export function createReplicaReads({ replica, watch, clock, logger, maxLagSec }: ReplicaDeps): ReplicaReads {
  let lateSinceMs: number | null = null;
  let failedAtMs: number | null = null;
  let otherSchemaSinceMs: number | null = null;
  let checked: { readonly atMs: number; readonly inTime: Promise<boolean> } | undefined;
  const isRecent = (atMs: number) => Math.abs(clock.now() - atMs) < CHECK_MS;

  const check = async (): Promise<boolean> => {
    const lagSec = await lagOf(replica, clock.now(), maxLagSec);
    // A lag in the future, for example by a clock that is behind, gives no information about the real lag.
    const isLate = !(lagSec !== null && lagSec > -MAX_AHEAD_MS / 1_000 && lagSec <= maxLagSec);
    if (isLate && lateSinceMs === null) logger.warn({ lagSec, maxLagSec }, 'read replica is not used: it is late');
    if (!isLate && lateSinceMs !== null) logger.info({ lagSec }, 'read replica is used again');
    lateSinceMs = isLate ? (lateSinceMs ?? clock.now()) : null;
    return !isLate;
  };
  const isUsable = async (): Promise<boolean> => {
    if (failedAtMs !== null && isRecent(failedAtMs)) return false;
    if (checked === undefined || !isRecent(checked.atMs)) checked = { atMs: clock.now(), inTime: check() };
    return checked.inTime;
  };

  return {
    prefer:
      (fromReplica, fromPrimary) =>
      async (...input) => {
        try {
          if (await isUsable()) {
            const found = await fromReplica(...input);
            otherSchemaSinceMs = null;
            return found;
          }
        } catch (error) {
          if (isOfSchema(error)) {
            if (otherSchemaSinceMs === null) logger.warn({}, 'read replica is not used: it has another schema');
            otherSchemaSinceMs ??= clock.now();
          } else if (!(error instanceof DatabaseUnavailableError)) throw error;
          failedAtMs = clock.now();
        }
        return fromPrimary(...input);
      },
    status() {
      const { problem, sinceMs } = watch.status();
      if (problem !== null) return { problem, sinceMs };
      if (lateSinceMs !== null) return { problem: 'late', sinceMs: lateSinceMs };
      return { problem: otherSchemaSinceMs === null ? null : 'other_schema', sinceMs: otherSchemaSinceMs };
    },
  };
}

/** Whether a table or column is missing: the replica is of another system, or an upgrade has not reached it. */
function isOfSchema(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(42P01|42703|3F000)$/.test(String(error.code));
}

/**
 * The most that a replica can be behind, seconds: of a standby the age of the latest transaction that it has repeated, of
 * another copy the age of its newest sample. `null` = unknown. The service itself writes every two minutes, so the age stays
 * small in normal operation.
 * @throws DatabaseUnavailableError
 */
export async function lagOf(replica: Database, nowMs: number, maxLagSec: number): Promise<number | null> {
  const { rows } = await sql<{ isStandby: boolean; lag: string | null }>`
    select pg_is_in_recovery() as "isStandby",
      extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::text as lag`.execute(replica);
  const [row] = rows;
  if (row?.isStandby === true) return row.lag === null ? null : Number(row.lag);
  const oldest = new Date(nowMs - maxLagSec * 1_000 - HOUR_MS);
  const { rows: samples } = await sql<{ newest: Date | null }>`
    select max(sampled_at) as newest from rate_samples where hour >= ${oldest} and sampled_at <= ${latestObserved(nowMs)}
  `.execute(replica);
  const newest = samples[0]?.newest ?? null;
  return newest === null ? null : (nowMs - newest.getTime()) / 1_000;
}
