import { Redis, ReplyError } from 'ioredis';
import { clockSampleOf } from '../core/clock-samples.ts';
import type { DoctorDeps } from '../core/deps.ts';
import { type Check, type Line, linesOf } from '../core/types.ts';
import { refusedCommands } from './redis-commands.ts';

const AREA = 'redis';
const SUBJECT = 'REDIS_URL';
const LIMIT_MS = 15_000;
const CONNECT_MS = 4_000;
const COMMAND_MS = 3_000;
/** Facts, leases and counts take a few megabytes: above this share, other data fills the memory. */
const FULL_SHARE = 0.9;
const make = linesOf(AREA, SUBJECT);

/** Check Redis with commands that only read. Commands that write are queued, and the queue is discarded. */
export function checkRedis({ env, clock, clocks }: DoctorDeps): Check {
  return {
    area: AREA,
    subject: SUBJECT,
    limitMs: LIMIT_MS,
    run: async () => {
      const url = env.REDIS_URL;
      if (url === undefined) {
        return [make.none('answers', 'not set: each process keeps its own facts, leases and limits')];
      }
      const redis = new Redis(url, {
        lazyConnect: true,
        enableOfflineQueue: false,
        enableReadyCheck: false,
        maxRetriesPerRequest: 0,
        retryStrategy: () => null,
        connectTimeout: CONNECT_MS,
        commandTimeout: COMMAND_MS,
        connectionName: 'spiral-gateway doctor',
      });
      let why = '';
      redis.on('error', (error: Error) => {
        why ||= error.message;
      });
      try {
        await redis.connect();
        await redis.ping();
        const sentMs = clock.now();
        const told = await redis.time().catch(() => undefined);
        if (told) {
          const atMs = Number(told[0]) * 1_000 + Number(told[1]) / 1_000;
          if (Number.isFinite(atMs)) {
            clocks.add(clockSampleOf('Redis', { atMs, resolutionMs: 0 }, { sentMs, answeredMs: clock.now() }));
          }
        }
        const info = parseInfo(await redis.info().catch(() => ''));
        return [...describeInfo(info), await describeRights(redis), await keysAreServed(redis)];
      } catch (error) {
        return [notConnected(error, why)];
      } finally {
        redis.disconnect();
      }
    },
  };
}

type Info = ReadonlyMap<string, string>;

function parseInfo(text: string): Info {
  return new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const at = line.indexOf(':');
      return line.startsWith('#') || at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
    }),
  );
}

function describeInfo(info: Info): readonly Line[] {
  if (info.size === 0) {
    return [
      make.warning(
        'info',
        'INFO is refused: mode, persistence and eviction are unknown',
        'Allow the user INFO (it reads counters only), or check maxmemory-policy yourself: it has to be noeviction or volatile-….',
      ),
    ];
  }
  return [modeOf(info), roleOf(info), persistenceOf(info), evictionOf(info), ...memoryOf(info)];
}

function modeOf(info: Info): Line {
  const mode = info.get('redis_mode') ?? 'unknown';
  const shown = `${mode} (version ${info.get('redis_version') ?? 'unknown'})`;
  if (mode === 'sentinel') {
    return make.failure(
      'mode',
      `${shown}: this is a sentinel, which stores no data`,
      'Set REDIS_URL to the primary of the sentinels, or to a proxy that follows it.',
    );
  }
  if (mode === 'cluster') {
    return make.failure(
      'mode',
      `${shown}: in cluster mode a node refuses keys of other nodes`,
      'Use a Redis without cluster mode; it needs a few megabytes.',
    );
  }
  return make.ok('mode', shown);
}

function roleOf(info: Info): Line {
  return info.get('role') === 'slave'
    ? make.failure('writable', 'this is a replica, which accepts no writes', 'Set REDIS_URL to the primary.')
    : make.ok('writable', 'takes writes');
}

/** Persistence is not needed: the processes fill an empty Redis again. A broken one stops every write. */
function persistenceOf(info: Info): Line {
  const failed = info.get('rdb_last_bgsave_status') === 'err' || info.get('aof_last_write_status') === 'err';
  if (failed) {
    return make.failure(
      'persistence',
      'saving to disk fails: Redis refuses writes until it succeeds',
      "Check the log and the disk of Redis, or turn saving off (CONFIG SET save ''): the service needs no persistence.",
    );
  }
  if (info.get('loading') === '1') {
    return make.warning('persistence', 'still loads its data', 'Wait until it is loaded, then run the check again.');
  }
  const aof = info.get('aof_enabled') === '1';
  return make.ok('persistence', aof ? 'append-only file' : 'snapshots or none; none is needed');
}

function evictionOf(info: Info): Line {
  const policy = info.get('maxmemory_policy') ?? 'unknown';
  if (policy.startsWith('allkeys')) {
    return make.warning(
      'eviction',
      `maxmemory-policy is ${policy}: when memory is full, Redis evicts facts and leases`,
      'CONFIG SET maxmemory-policy noeviction (or volatile-lru), or use a separate Redis.',
    );
  }
  return make.ok('eviction', `maxmemory-policy ${policy}`);
}

function memoryOf(info: Info): readonly Line[] {
  const [used, most] = [Number(info.get('used_memory')), Number(info.get('maxmemory'))];
  if (!(most > 0) || !(used > most * FULL_SHARE)) return [];
  return [
    make.warning(
      'memory',
      `${Math.round((100 * used) / most)} % of its memory is used`,
      'Raise maxmemory, or find its other users: a full Redis refuses writes.',
    ),
  ];
}

async function describeRights(redis: Redis): Promise<Line> {
  const refused = await refusedCommands(redis);
  if (refused === undefined) {
    return make.warning(
      'acl',
      'the allowed commands of the user are unknown: MULTI is refused',
      'Allow the user MULTI and DISCARD for this check.',
    );
  }
  return refused.length === 0
    ? make.ok('acl', 'the user may run every command of the service')
    : make.failure(
        'acl',
        `the user may not run ${refused.join(', ')}`,
        'ACL SETUSER … with these commands, on keys ~spiral:* and channels &spiral:*.',
      );
}

/** A cluster that is down, and a replica without its primary, answer PING but refuse every key. */
async function keysAreServed(redis: Redis): Promise<Line> {
  try {
    await redis.exists('spiral:probe');
    return make.ok('keys', 'serves the keys of the service');
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return make.failure('keys', `a key is not readable: ${text}`, 'Repair Redis, or allow the user keys ~spiral:*.');
  }
}

function notConnected(error: unknown, why: string): Line {
  const text = why || (error instanceof Error ? error.message : String(error));
  const isRefused = error instanceof ReplyError || /WRONGPASS|NOAUTH|NOPERM/.test(text);
  return make.failure(
    'answers',
    `no usable answer: ${text}`,
    isRefused
      ? 'Correct user and password in REDIS_URL.'
      : 'Start Redis, or correct host, port and redis:// or rediss:// (TLS) in REDIS_URL.',
  );
}
