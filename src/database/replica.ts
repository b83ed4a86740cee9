import { sql } from 'kysely';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { Database } from './client.ts';
import { DatabaseUnavailableError } from './connection/errors.ts';
import type { DatabaseProblem } from './connection/problems.ts';
import type { DatabaseWatch } from './connection/watch.ts';

/** Interval of the checks of its lag, and pause after a failure. */
const CHECK_MS = 5_000;

export interface ReplicaStatus {
  /** Why reads go to the primary; `late` = the replica may lag by more than permitted. `null` = they go to the replica. */
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
  let checked: { readonly atMs: number; readonly inTime: Promise<boolean> } | undefined;
  const isRecent = (atMs: number) => Math.abs(clock.now() - atMs) < CHECK_MS;

  const check = async (): Promise<boolean> => {
    const lagSec = await lagOf(replica);
    const isLate = lagSec === null || lagSec > maxLagSec;
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
            failedAtMs = null;
            return found;
          }
        } catch (error) {
          if (!(error instanceof DatabaseUnavailableError)) throw error;
          failedAtMs = clock.now();
          checked = undefined;
        }
        return fromPrimary(...input);
      },
    status() {
      const { problem, sinceMs } = watch.status();
      if (problem !== null) return { problem, sinceMs };
      return lateSinceMs === null ? { problem: null, sinceMs: null } : { problem: 'late', sinceMs: lateSinceMs };
    },
  };
}

/**
 * The most that a replica can be behind, seconds: the age of the latest transaction that it has repeated. `null` = unknown. The
 * service itself writes every two minutes, so the age stays small while nothing is wrong.
 */
async function lagOf(replica: Database): Promise<number | null> {
  const { rows } = await sql<{ lag: string | null }>`
    select case when pg_is_in_recovery()
      then extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())
      else 0 end::text as lag`.execute(replica);
  const lag = rows[0]?.lag ?? null;
  return lag === null ? null : Number(lag);
}
