import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import type { Logger } from '../shared/logger.ts';
import { type UnavailableReason, unavailableError, unavailableReason } from './errors.ts';

/**
 * Wrap a pg pool: an unavailable database always throws `UpstreamUnavailableError`, a broken connection never returns to the
 * pool, and the start and the end of an outage are logged once each.
 */
export function guardPool(pool: pg.Pool, logger: Logger): PostgresPool {
  let isDown = false;
  const failed = (reason: UnavailableReason, error: unknown): Error => {
    // A single slow statement is not an outage.
    if (reason !== 'timeout' && !isDown) {
      isDown = true;
      logger.warn({ reason }, 'database unavailable');
    }
    return unavailableError(reason, error);
  };
  const succeeded = (): void => {
    if (isDown) logger.info({}, 'database recovered');
    isDown = false;
  };

  // The pool drops an idle connection that breaks; without a listener the error would end the process.
  pool.on('error', () => {});

  return {
    connect: async () => {
      let client: pg.PoolClient;
      try {
        client = await pool.connect();
      } catch (error) {
        throw failed(unavailableReason(error, true) ?? 'unreachable', error);
      }
      return guardClient(client, { failed, succeeded });
    },
    end: () => pool.end(),
  };
}

interface Watch {
  failed(reason: UnavailableReason, error: unknown): Error;
  succeeded(): void;
}

function guardClient(client: pg.PoolClient, watch: Watch): PostgresPoolClient {
  let isBroken = false;
  const swallow = (): void => {}; // reported by the pending query
  client.on('error', swallow);
  const query = async (text: string, values: unknown[]): Promise<unknown> => {
    try {
      const result = await client.query(text, values);
      watch.succeeded();
      return result;
    } catch (error) {
      const reason = unavailableReason(error);
      if (reason === undefined) {
        watch.succeeded();
        throw error;
      }
      isBroken = true;
      throw watch.failed(reason, error);
    }
  };
  return {
    // Kysely's second form (cursors) is not supported: no cursor class is configured.
    query: query as PostgresPoolClient['query'],
    release: () => {
      client.off('error', swallow);
      client.release(isBroken);
    },
  };
}
