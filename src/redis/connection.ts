import type { Redis } from 'ioredis';
import type { RedisSettings } from '../config/redis-address.ts';
import type { Logger } from '../shared/logger.ts';
import { errorOfNode, openClient, openListener } from './client.ts';
import { createFaultLog, type LastingFault, PROBE } from './fault-log.ts';
import { isReadable, redisFaultOf } from './faults.ts';

export interface RedisConnectionDeps {
  readonly settings: RedisSettings;
  readonly logger: Logger;
  /** Purpose of the connection, e.g. `snapshot`. Shown in logs, in `/health` and in `CLIENT LIST`. */
  readonly name: string;
  /** Subscribe to this channel, also after each reconnect: then the connection can only send PING. */
  readonly channel?: string | undefined;
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

/** A connection with a health state. */
export type RedisConnection = Redis & {
  /** Whether a command succeeded in the last seconds, writes included. A connection that is open but dead is not alive. */
  isAlive(): boolean;
  /** Whether reads are answered, also by a server that refuses writes. */
  isReadable(): boolean;
  /** The known failure; `null` = none. */
  fault(): LastingFault | null;
  /** Note the outcome of a use of the connection: an error, or `null`. A use that fails is a fault until it succeeds. */
  note(use: string, error: unknown): void;
};

const TIMES: RedisTimes = { commandMs: 2_000, socketMs: 5_000, probeMs: 3_000 };
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_RECONNECT_DELAY_MS = 1_000;
/** How long after a refusal another server is looked for: sentinels need a moment, and a name in DNS, too. */
const CHANGE_SERVER_MS = { sentinel: 500, single: 5_000 } as const;
/** Life of the key that probes write, ms. */
const PROBED_KEY_MS = 60_000;
/** Emitted with the first answer to a read after the connection was made, and with every later one. */
const READABLE = 'readable';
/** Emitted with every write that succeeds. */
const ALIVE = 'alive';
/** Emitted when the channel is subscribed, again after each reconnect. */
const SUBSCRIBED = 'subscribed';

/**
 * Open a connection that reconnects for ever and never queues: while Redis is away every command fails at once. A connection
 * that is open but dead is detected within seconds. Logs "redis failing" with the reason, and "redis recovered", once per change.
 */
export function connectRedis({ settings, logger, name, channel, times }: RedisConnectionDeps): RedisConnection {
  const { commandMs, socketMs, probeMs } = { ...TIMES, ...times };
  /** An answer counts as a sign of life for this time. */
  const aliveMs = 2 * probeMs + commandMs;
  const { mode } = settings.address;
  const open = channel === undefined ? openClient : openListener;
  const clientTimes = {
    connectMs: CONNECT_TIMEOUT_MS,
    commandMs,
    socketMs,
    retryMs: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY_MS),
  };
  const redis = open(settings, name, clientTimes);
  const faults = createFaultLog(logger, name);
  const question = createQuestion(redis, {
    name,
    channel,
    isCluster: mode === 'cluster',
    key: `${settings.prefix}:probe`,
  });
  let [writtenMs, readMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  /** Whether the reason for the next close of the connection is logged already. */
  let explained = false;
  const forget = (): void => {
    [writtenMs, readMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    question.begin();
  };
  const probe = (): void => {
    if (redis.status !== 'ready') return;
    question.ask().then(
      () => {
        writtenMs = readMs = performance.now();
        faults.note(PROBE, null);
        redis.emit(READABLE);
        redis.emit(ALIVE);
      },
      (error: unknown) => {
        if (redis.status !== 'ready' && mode !== 'cluster') return; // the close tells why
        const fault = faults.note(PROBE, error);
        explained = true;
        if (fault === null) return;
        if (fault.reason !== 'timeout') writtenMs = Number.NEGATIVE_INFINITY; // refused, not lost
        if (isReadable(fault)) {
          readMs = performance.now();
          redis.emit(READABLE);
        } else if (fault.reason !== 'timeout') readMs = Number.NEGATIVE_INFINITY;
        if (fault.reason === 'not_primary' || fault.reason === 'too_few_replicas') changeServer();
      },
    );
  };
  let changing: NodeJS.Timeout | undefined;
  /** The sentinels, or the name in DNS, may have another primary by now. A cluster finds it by itself. */
  const changeServer = (): void => {
    if (mode === 'cluster' || changing !== undefined) return;
    changing = setTimeout(() => {
      changing = undefined;
      redis.disconnect(true);
    }, CHANGE_SERVER_MS[mode]);
    changing.unref();
  };
  /** A cluster, or sentinels, only report that the connections to them were closed; the node itself gives the reason. */
  const noteOfNode = (error: unknown): void => {
    void errorOfNode(settings, clientTimes).then((cause) => {
      if (redis.status !== 'ready' && !isClosed(redis)) faults.note(PROBE, cause ?? error);
    });
  };
  const probing = setInterval(probe, probeMs);
  probing.unref();
  redis.on('end', () => {
    clearInterval(probing);
    clearTimeout(changing);
  });
  redis.on('error', (error: unknown) => {
    explained = true;
    if (mode === 'single' || redisFaultOf(error).reason !== 'unreachable') faults.note(PROBE, error);
    else noteOfNode(error);
  });
  redis.on('ready', () => {
    explained = false;
    forget();
    probe();
  });
  redis.on('close', () => {
    forget();
    const closed = new Error('connection closed');
    if (!explained && !isClosed(redis)) mode === 'single' ? faults.note(PROBE, closed) : noteOfNode(closed);
    explained = false;
  });
  const isRecent = (atMs: number): boolean => redis.status === 'ready' && performance.now() - atMs < aliveMs;
  return Object.assign(redis, {
    isAlive: () => isRecent(writtenMs),
    isReadable: () => isRecent(readMs),
    fault: faults.current,
    note: (use: string, error: unknown) => {
      if (error === null || redis.status === 'ready') faults.note(use, error);
    },
  });
}

/**
 * Create the probe of a connection: a write, or the subscription and PING. It is asked again and again.
 */
function createQuestion(
  redis: Redis,
  {
    name,
    channel,
    isCluster,
    key,
  }: { readonly name: string; readonly channel: string | undefined; readonly isCluster: boolean; readonly key: string },
) {
  let [named, subscribed] = [false, false];
  /** The first command of a connection, to which a server answers that refuses it. The name itself is not needed. */
  const introduce = async (): Promise<void> => {
    if (named || (isCluster && channel === undefined)) return;
    await redis.client('SETNAME', name).catch((error: unknown) => {
      if (redisFaultOf(error).reason !== 'no_permission') throw error;
    });
    named = true;
  };
  return {
    /** The connection is a new one. */
    begin: () => {
      [named, subscribed] = [false, false];
    },
    ask: async (): Promise<void> => {
      await introduce();
      if (channel === undefined) await redis.set(key, '1', 'PX', PROBED_KEY_MS);
      else if (subscribed) await redis.ping();
      else {
        await redis.subscribe(channel);
        subscribed = true;
        redis.emit(SUBSCRIBED);
      }
    },
  };
}

/** Whether we closed it ourselves. */
function isClosed(redis: Redis): boolean {
  return ['end', 'disconnecting'].includes(redis.status);
}

/** Wait until reads are answered, at most `timeoutMs`. Returns whether they are. */
export function untilReadable(redis: RedisConnection, timeoutMs: number): Promise<boolean> {
  return until(redis, READABLE, redis.isReadable, timeoutMs);
}

/** Wait until a command succeeds, at most `timeoutMs`. Returns whether one did. */
export function untilAlive(redis: RedisConnection, timeoutMs: number): Promise<boolean> {
  return until(redis, ALIVE, redis.isAlive, timeoutMs);
}

function until(redis: RedisConnection, event: string, isReached: () => boolean, timeoutMs: number): Promise<boolean> {
  if (isReached()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      redis.off(event, done);
      resolve(isReached());
    };
    const timer = setTimeout(done, timeoutMs);
    redis.on(event, done);
  });
}

/** Call back once, on the next command that succeeds. */
export function onceAlive(redis: Redis, resume: () => void): void {
  redis.once(ALIVE, resume);
}

/** Call back each time the channel of a connection is subscribed. */
export function onSubscribed(redis: Redis, react: () => void): void {
  redis.on(SUBSCRIBED, react);
}

/**
 * Wait until the first attempt to connect has ended, in success or failure. Call it right after the connection was created.
 */
export function firstTry(redis: Redis): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['ready', 'error', 'close', 'end']) redis.once(event, () => resolve());
  });
}
