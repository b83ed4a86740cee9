import { Redis } from 'ioredis';
import type { Logger } from '../shared/logger.ts';

export interface RedisConnectionDeps {
  readonly url: string;
  readonly logger: Logger;
  /** What the connection is for, e.g. `snapshot`. Shown in logs and in `CLIENT LIST`. */
  readonly name: string;
}

/** A command that got no answer in this time counts as failed: a hanging Redis is an absent Redis. */
const COMMAND_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_RECONNECT_DELAY_MS = 1_000;

/**
 * Open a connection that keeps trying for ever and never queues: while Redis is away every command fails at once.
 * Logs "redis unreachable" and "redis reachable" once per change.
 */
export function connectRedis({ url, logger, name }: RedisConnectionDeps): Redis {
  const redis = new Redis(url, {
    connectionName: name,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: 5_000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY_MS),
  });
  let reachable: boolean | null = null;
  redis.on('error', () => {});
  redis.on('ready', () => {
    if (reachable === false) logger.info({ connection: name }, 'redis reachable');
    reachable = true;
  });
  redis.on('close', () => {
    if (reachable !== false && redis.status !== 'end') logger.warn({ connection: name }, 'redis unreachable');
    reachable = false;
  });
  return redis;
}

/** Wait until the connection can be used, at most `timeoutMs`. Tells whether it can. */
export function untilReady(redis: Redis, timeoutMs: number): Promise<boolean> {
  if (redis.status === 'ready') return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      redis.off('ready', done);
      resolve(redis.status === 'ready');
    };
    const timer = setTimeout(done, timeoutMs);
    redis.on('ready', done);
  });
}

/** Wait until the first attempt to connect has ended, either way. To be asked for when the connection is made. */
export function firstTry(redis: Redis): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['ready', 'close', 'end']) redis.once(event, () => resolve());
  });
}
