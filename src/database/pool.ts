import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import type { Logger } from '../shared/logger.ts';
import { type UnavailableReason, unavailableError, unavailableReason } from './errors.ts';

/**
 * Wrap a pg pool so that an unavailable database is an `UpstreamUnavailableError` wherever it is met, a broken
 * connection never goes back into the pool, and going away and coming back are logged once each.
 */
export function guardPool(pool: pg.Pool, logger: Logger): PostgresPool {
  let isDown = false;
  const failed = (reason: UnavailableReason, error: unknown): Error => {
    // One slow statement is no outage.
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

  // An idle connection that breaks is dropped by the pool; without a listener it would end the process.
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
  const swallow = (): void => {}; // the pending query reports it
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
    // Kysely's second form (cursors) is not offered: no cursor class is configured.
    query: query as PostgresPoolClient['query'],
    release: () => {
      client.off('error', swallow);
      client.release(isBroken);
    },
  };
}
