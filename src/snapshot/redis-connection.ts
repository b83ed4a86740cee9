import { Redis, ReplyError } from 'ioredis';
import type { Logger } from '../shared/logger.ts';

export interface RedisConnectionDeps {
  readonly url: string;
  readonly logger: Logger;
  /** What the connection is for, e.g. `snapshot`. Shown in logs and in `CLIENT LIST`. */
  readonly name: string;
  /** Whether it subscribes: then nothing can be asked on it but for a sign of life. */
  readonly listens?: boolean | undefined;
  readonly times?: Partial<RedisTimes> | undefined;
}

/** How long a dead connection may go unnoticed, ms. */
export interface RedisTimes {
  /** A command that got no answer in this time counts as failed: a hanging Redis is an absent Redis. */
  readonly commandMs: number;
  /** A connection on which nothing comes back for so long although something was asked is dead: it is cut and made anew. */
  readonly socketMs: number;
  /** Asked this often whether anybody is there; also on connections that otherwise only listen. */
  readonly probeMs: number;
}

const TIMES: RedisTimes = { commandMs: 2_000, socketMs: 5_000, probeMs: 3_000 };
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_RECONNECT_DELAY_MS = 1_000;
/** Asked for as facts are: what refuses every key, a cluster that is down for one, answers PING all the same. */
const PROBED_KEY = 'spiral:probe';
/** Told by a connection with the first answer after it was made. */
const ALIVE = 'alive';

/** A connection that knows whether Redis answers on it. */
export type RedisConnection = Redis & {
  /** Whether a command passed in the last seconds; a connection that is open but dead is not alive. */
  isAlive(): boolean;
};

/**
 * Open a connection that keeps trying for ever and never queues: while Redis is away every command fails at once.
 * A connection that is open but dead is noticed within some seconds.
 * Logs "redis unreachable" and "redis reachable" once per change.
 */
export function connectRedis({ url, logger, name, listens = false, times }: RedisConnectionDeps): RedisConnection {
  const { commandMs, socketMs, probeMs } = { ...TIMES, ...times };
  /** An answer is proof of life for so long. */
  const aliveMs = 2 * probeMs + commandMs;
  const redis = new Redis(url, {
    connectionName: name,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandMs,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: socketMs,
    keepAlive: 5_000,
    // Who listens subscribes on every `ready`; the client's own attempt would reject where nobody catches it.
    autoResubscribe: false,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY_MS),
  });
  let reachable: boolean | null = null;
  let answeredMs = Number.NEGATIVE_INFINITY;
  const probe = (): void => {
    if (redis.status !== 'ready') return;
    const asked: Promise<unknown> = listens ? redis.ping() : redis.exists(PROBED_KEY);
    asked.then(
      () => {
        answeredMs = performance.now();
        redis.emit(ALIVE);
      },
      (error: unknown) => {
        if (error instanceof ReplyError) answeredMs = Number.NEGATIVE_INFINITY; // refused, and not lost
      },
    );
  };
  const probing = setInterval(probe, probeMs);
  probing.unref();
  redis.on('end', () => clearInterval(probing));
  redis.on('error', () => {});
  redis.on('ready', () => {
    if (reachable === false) logger.info({ connection: name }, 'redis reachable');
    reachable = true;
    answeredMs = Number.NEGATIVE_INFINITY;
    probe();
  });
  redis.on('close', () => {
    if (reachable !== false && redis.status !== 'end') logger.warn({ connection: name }, 'redis unreachable');
    reachable = false;
  });
  return Object.assign(redis, {
    isAlive: () => redis.status === 'ready' && performance.now() - answeredMs < aliveMs,
  });
}

/** Wait until a command passed, at most `timeoutMs`. Tells whether one did. */
export function untilAlive(redis: RedisConnection, timeoutMs: number): Promise<boolean> {
  if (redis.isAlive()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      redis.off(ALIVE, done);
      resolve(redis.isAlive());
    };
    const timer = setTimeout(done, timeoutMs);
    redis.on(ALIVE, done);
  });
}

/** Call back once, with the next command that passes. */
export function onceAlive(redis: Redis, resume: () => void): void {
  redis.once(ALIVE, resume);
}

/** Wait until the first attempt to connect has ended, either way. To be asked for when the connection is made. */
export function firstTry(redis: Redis): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['ready', 'close', 'end']) redis.once(event, () => resolve());
  });
}
