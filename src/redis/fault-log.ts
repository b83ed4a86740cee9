import type { Logger } from '../shared/logger.ts';
import { REDIS_TODO, type RedisFault, redisFaultOf } from './faults.ts';

/** A fault, since when it lasts. */
export interface LastingFault extends RedisFault {
  readonly sinceMs: number;
}

/** The use of a connection whose failures take precedence over those of others. */
export const PROBE = 'probe';

/** The failures of a connection, by the use that failed. */
export interface FaultLog {
  /** The failure; `null` = none is known. */
  current(): LastingFault | null;
  /** Note the outcome of a use: an error, or `null`. Each change is logged. Returns the fault. */
  note(use: string, error: unknown): RedisFault | null;
}

/** Create the faults of one connection. Logs "redis failing" with the reason, and "redis recovered", once per change. */
export function createFaultLog(logger: Logger, connection: string): FaultLog {
  const byUse = new Map<string, LastingFault>();
  let logged: string | null = null;
  const current = (): LastingFault | null => byUse.get(PROBE) ?? [...byUse.values()][0] ?? null;
  return {
    current,
    note(use, error) {
      const fault = error === null ? null : redisFaultOf(error);
      const before = byUse.get(use);
      if (fault === null) byUse.delete(use);
      else byUse.set(use, { ...fault, sinceMs: before?.reason === fault.reason ? before.sinceMs : Date.now() });
      const now = current();
      if (now !== null && now.reason !== logged) {
        const { reason, detail } = now;
        logger.warn({ connection, reason, detail, todo: REDIS_TODO[reason] }, 'redis failing');
      }
      if (now === null && logged !== null) logger.info({ connection }, 'redis recovered');
      logged = now?.reason ?? null;
      return fault;
    },
  };
}
