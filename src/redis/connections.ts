import type { RedisSettings } from '../config/redis-address.ts';
import type { RedisMode } from '../shared/contract/redis-status.ts';
import type { Logger } from '../shared/logger.ts';
import { connectRedis, type RedisConnection, type RedisConnectionDeps } from './connection.ts';
import type { LastingFault } from './fault-log.ts';

/** A connection that fails. */
export interface FailingConnection extends LastingFault {
  readonly connection: string;
}

/** The connections of this process to its Redis. */
export interface RedisConnections {
  readonly mode: RedisMode;
  /** Every key and channel begins with it and a colon. */
  readonly prefix: string;
  /** Open a connection for a purpose. */
  connect(name: string, more?: Pick<RedisConnectionDeps, 'channel' | 'times'>): RedisConnection;
  /** The connections that fail, with the reason. */
  failing(): readonly FailingConnection[];
}

/** Create the connections of a process. None is opened before it is asked for. */
export function createRedisConnections(settings: RedisSettings, logger: Logger): RedisConnections {
  const open = new Map<string, RedisConnection>();
  return {
    mode: settings.address.mode,
    prefix: settings.prefix,
    connect(name, more = {}) {
      const redis = connectRedis({ settings, logger, name, ...more });
      open.set(name, redis);
      return redis;
    },
    failing: () =>
      [...open].flatMap(([connection, redis]) => {
        const fault = redis.fault();
        return fault === null ? [] : [{ connection, ...fault }];
      }),
  };
}
