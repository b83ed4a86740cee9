import { DatabaseTooNewError, migrateDatabase } from '../database/migrate.ts';
import { StartupError, UpstreamUnavailableError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';
import { SnapshotFileInUseError } from '../snapshot/file-lock.ts';
import type { SnapshotStore } from '../snapshot/types.ts';

/** The service cannot start; the message names the setting to check. */
export class StartError extends StartupError {
  override readonly name = 'StartError';
}

export interface OpenDatabaseDeps {
  readonly logger: Logger;
  readonly timers: Timers;
  /** How long to wait for a Postgres that starts at the same time, ms. */
  readonly waitMs: number;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 2_000;

/**
 * Migrate the database. A Postgres that does not answer is retried for `waitMs`, because both may be starting. After that the
 * start fails, because keys could not be checked.
 * @throws StartError
 */
export async function openDatabase(url: string, { logger, timers, waitMs }: OpenDatabaseDeps): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  let waitedMs = 0;
  for (;;) {
    try {
      await migrateDatabase(url, { logger });
      return;
    } catch (cause) {
      if (cause instanceof DatabaseTooNewError) throw new StartError(`DATABASE_URL: ${cause.message}`, { cause });
      if (!(cause instanceof UpstreamUnavailableError)) throw cause;
      const reason = cause.details?.reason ?? 'unreachable';
      if (reason === 'rejected' || waitedMs >= waitMs) {
        throw new StartError(
          `DATABASE_URL: Postgres at ${placeOf(url)} gives no usable answer (${reason}${waitedMs === 0 ? '' : `, after ${waitedMs / 1_000} s of retries`}). Start it, or correct the address, user and database name.`,
          { cause },
        );
      }
      if (waitedMs === 0) logger.warn({ reason, waitMs }, 'waiting for the database');
      await new Promise<void>((resolve) => timers.setTimeout(resolve, pauseMs));
      waitedMs += pauseMs;
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }
}

/** Read the facts of before the start. @throws StartError when another process uses the snapshot file */
export async function restoreSnapshot(snapshot: Pick<SnapshotStore, 'restore'>): Promise<void> {
  try {
    await snapshot.restore();
  } catch (cause) {
    if (cause instanceof SnapshotFileInUseError) throw new StartError(`SNAPSHOT_FILE: ${cause.message}`, { cause });
    throw cause;
  }
}

/** Host, port and database, without user and password. */
function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port === '' ? '5432' : port}${pathname}`;
}
