import { Redis, ReplyError } from 'ioredis';
import type { Logger } from '../shared/logger.ts';

export interface RedisConnectionDeps {
  readonly url: string;
  readonly logger: Logger;
  /** Purpose of the connection, e.g. `snapshot`. Shown in logs and in `CLIENT LIST`. */
  readonly name: string;
  /** Whether it subscribes: then it can only send PING. */
  readonly listens?: boolean | undefined;
  readonly times?: Partial<RedisTimes> | undefined;
}

/** How soon a dead connection is detected, ms. */
export interface RedisTimes {
  /** Timeout of a command: a Redis that hangs counts as unreachable. */
  readonly commandMs: number;
  /** A connection without any data for this time after a command is dead: it is closed and made anew. */
  readonly socketMs: number;
  /** Interval between probes, also on subscribing connections. */
  readonly probeMs: number;
}

const TIMES: RedisTimes = { commandMs: 2_000, socketMs: 5_000, probeMs: 3_000 };
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_RECONNECT_DELAY_MS = 1_000;
/** Read like facts: a Redis that refuses every key, such as a cluster that is down, still answers PING. */
const PROBED_KEY = 'spiral:probe';
/** Emitted by a connection with the first answer after it was made. */
const ALIVE = 'alive';

/** A connection with a health state. */
export type RedisConnection = Redis & {
  /** Whether a command succeeded in the last seconds. A connection that is open but dead is not alive. */
  isAlive(): boolean;
};

/**
 * Open a connection that reconnects for ever and never queues: while Redis is away every command fails at once. A connection
 * that is open but dead is detected within seconds. Logs "redis unreachable" and "redis reachable" once per change.
 */
export function connectRedis({ url, logger, name, listens = false, times }: RedisConnectionDeps): RedisConnection {
  const { commandMs, socketMs, probeMs } = { ...TIMES, ...times };
  /** An answer counts as a sign of life for this time. */
  const aliveMs = 2 * probeMs + commandMs;
  const redis = new Redis(url, {
    connectionName: name,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandMs,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: socketMs,
    keepAlive: 5_000,
    // Subscribers subscribe on every `ready`; the client's own attempt could reject without a handler.
    autoResubscribe: false,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY_MS),
  });
  let reachable: boolean | null = null;
  let answeredMs = Number.NEGATIVE_INFINITY;
  const probe = (): void => {
    if (redis.status !== 'ready') return;
    const reply: Promise<unknown> = listens ? redis.ping() : redis.exists(PROBED_KEY);
    reply.then(
      () => {
        answeredMs = performance.now();
        redis.emit(ALIVE);
      },
      (error: unknown) => {
        if (error instanceof ReplyError) answeredMs = Number.NEGATIVE_INFINITY; // refused, not lost
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

/** Wait until a command succeeds, at most `timeoutMs`. Returns whether one did. */
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

/** Call back once, on the next command that succeeds. */
export function onceAlive(redis: Redis, resume: () => void): void {
  redis.once(ALIVE, resume);
}

/**
 * Wait until the first attempt to connect has ended, in success or failure. Call it right after the connection was created.
 */
export function firstTry(redis: Redis): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['ready', 'close', 'end']) redis.once(event, () => resolve());
  });
}
