import type { Cluster, Redis } from 'ioredis';
import { ConfigError } from '../../src/config/config.ts';
import { redisSettingsOf } from '../../src/config/redis.ts';
import type { RedisSettings } from '../../src/config/redis-address.ts';
import { REDIS_TODO, redisFaultOf } from '../../src/redis/faults.ts';
import { clockSampleOf } from '../core/clock-samples.ts';
import type { DoctorDeps } from '../core/deps.ts';
import { type Check, type Line, type LineMaker, linesOf } from '../core/types.ts';
import { refusedCommands } from './redis-commands.ts';
import { describeCluster, describeSentinels, openOnce } from './redis-servers.ts';

const AREA = 'redis';
const SUBJECT = 'REDIS_URL';
const LIMIT_MS = 15_000;
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
      if (env.REDIS_URL === undefined) {
        return [make.none('answers', 'not set: each process keeps its own facts, leases and limits')];
      }
      const lines: Line[] = [];
      let redis: Redis | undefined;
      try {
        const settings = redisSettingsOf(env);
        if (settings === undefined) return [];
        if (settings.address.mode === 'sentinel') lines.push(...(await describeSentinels(settings, make)));
        redis = await openOnce(settings);
        await redis.ping();
        await measureClock(redis, { clock, clocks });
        lines.push(...(await describeServers(redis, settings)));
        lines.push(await keysAreServed(redis, settings.prefix));
        const one = settings.address.mode === 'cluster' ? primariesOf(redis)[0] : redis;
        if (one !== undefined) lines.push(await describeRights(one, settings.prefix));
        return lines;
      } catch (error) {
        return [...lines, notConnected(error)];
      } finally {
        redis?.disconnect();
      }
    },
  };
}

async function measureClock(redis: Redis, { clock, clocks }: Pick<DoctorDeps, 'clock' | 'clocks'>): Promise<void> {
  const sentMs = clock.now();
  const time = await redis.time().catch(() => undefined);
  if (time === undefined) return;
  const atMs = Number(time[0]) * 1_000 + Number(time[1]) / 1_000;
  if (!Number.isFinite(atMs)) return;
  clocks.add(clockSampleOf('Redis', { atMs, resolutionMs: 0 }, { sentMs, answeredMs: clock.now() }));
}

/** The connections to the primaries of a cluster. */
function primariesOf(redis: Redis): readonly Redis[] {
  return (redis as unknown as Cluster).nodes('master');
}

/** Describe the server, or each primary of a cluster. */
async function describeServers(redis: Redis, { address }: RedisSettings): Promise<readonly Line[]> {
  if (address.mode !== 'cluster') return describeInfo(await infoOf(redis), make, false);
  const nodes = await Promise.all(
    primariesOf(redis).map(async (node, i) =>
      describeInfo(await infoOf(node), linesOf(AREA, `${SUBJECT} #${i + 1}`), true),
    ),
  );
  return [await describeCluster(redis, make), ...nodes.flat()];
}

async function infoOf(redis: Redis): Promise<Info> {
  return parseInfo(await redis.info().catch(() => ''));
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

function describeInfo(info: Info, make: LineMaker, isCluster: boolean): readonly Line[] {
  if (info.size === 0) {
    return [
      make.warning(
        'info',
        'INFO is refused: mode, persistence and eviction are unknown',
        'Allow the user INFO (it reads counters only), or check maxmemory-policy yourself: it has to be noeviction or volatile-….',
      ),
    ];
  }
  return [
    modeOf(info, make, isCluster),
    roleOf(info, make),
    persistenceOf(info, make),
    evictionOf(info, make),
    ...memoryOf(info, make),
  ];
}

function modeOf(info: Info, make: LineMaker, isCluster: boolean): Line {
  const mode = info.get('redis_mode') ?? 'unknown';
  const found = `${mode} (version ${info.get('redis_version') ?? 'unknown'})`;
  if (mode === 'sentinel') {
    return make.failure(
      'mode',
      `${found}: this is a sentinel, which stores no data`,
      'Write redis+sentinel:// with the hosts of the sentinels and the name of the primary in REDIS_URL.',
    );
  }
  if (mode === 'cluster' && !isCluster) {
    return make.failure(
      'mode',
      `${found}: in cluster mode a node refuses keys of other nodes`,
      'Write redis+cluster:// in REDIS_URL.',
    );
  }
  return make.ok('mode', found);
}

function roleOf(info: Info, make: LineMaker): Line {
  return info.get('role') === 'slave'
    ? make.failure('writable', 'this is a replica, which accepts no writes', REDIS_TODO.not_primary)
    : make.ok('writable', 'takes writes');
}

/** Persistence is not needed: the processes fill an empty Redis again. A broken one stops every write. */
function persistenceOf(info: Info, make: LineMaker): Line {
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

function evictionOf(info: Info, make: LineMaker): Line {
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

function memoryOf(info: Info, make: LineMaker): readonly Line[] {
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

async function describeRights(redis: Redis, prefix: string): Promise<Line> {
  const refused = await refusedCommands(redis, prefix);
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
        `ACL SETUSER … with these commands, on keys ~${prefix}:* and channels &${prefix}:*; docs/stores.md names the file with the whole line.`,
      );
}

/** A cluster that is down, and a replica without its primary, answer PING but refuse every key. */
async function keysAreServed(redis: Redis, prefix: string): Promise<Line> {
  try {
    await redis.exists(`${prefix}:probe`);
    return make.ok('keys', 'serves the keys of the service');
  } catch (error) {
    const { reason, detail } = redisFaultOf(error);
    return make.failure('keys', `a key is not readable: ${reason} (${detail})`, REDIS_TODO[reason]);
  }
}

function notConnected(error: unknown): Line {
  if (error instanceof ConfigError)
    return make.failure('answers', 'a file of its settings cannot be used', error.message);
  const { reason, detail } = redisFaultOf(error);
  return make.failure('answers', `no usable answer: ${reason} (${detail})`, REDIS_TODO[reason]);
}
