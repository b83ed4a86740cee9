import { FACT_GROUPS, type FactGroup } from '../domain/facts.ts';
import type { RedisConnection } from '../redis/connection.ts';
import type { ChainId } from '../shared/ids.ts';

/**
 * The layout in Redis: one hash per chain with `version`, `publishedMs`, and per group its payload (`<group>`) and the random
 * token of its latest write (`<group>#rev`). A write is refused unless the writer has the latest revision.
 */

export interface RemoteGroup {
  /** Empty when the group was never written, or was lost. */
  readonly revision: string;
  readonly payload: string | null;
}

export interface RemoteChanges {
  readonly version: number;
  readonly publishedMs: number;
  readonly groups: ReadonlyMap<FactGroup, RemoteGroup>;
  /** Whether the key of the chain holds something else than facts; the next write replaces it. */
  readonly isOtherType: boolean;
}

export interface RemoteGroupWrite {
  readonly group: FactGroup;
  /** The revision that the writer read last. */
  readonly expected: string;
  readonly revision: string;
  readonly payload: string;
}

export interface RemoteWrite {
  readonly groups: readonly RemoteGroupWrite[];
  /** The new version is above this one even if Redis lost its own. */
  readonly floor: number;
  readonly publishedMs: number;
}

/** Commands for the shared facts. Every method throws while Redis is away. */
export interface RemoteFacts {
  /** Write groups, raise the version by one and send one notice, atomically. `false` = another write came first. */
  write(chainId: ChainId, write: RemoteWrite): Promise<boolean>;
  group(chainId: ChainId, group: FactGroup): Promise<RemoteGroup>;
  /** The groups whose revision differs from the known one, at one moment. A group that Redis lost has no revision. */
  changedSince(chainId: ChainId, known: ReadonlyMap<FactGroup, string>): Promise<RemoteChanges>;
}

/** Define `isOtherType`. It asks for a field, because the right to ask for the type of a key is not given. */
const OTHER_TYPE = `
local version = redis.pcall('HGET', KEYS[1], 'version')
local isOtherType = type(version) == 'table' and version.err ~= nil and string.find(version.err, 'WRONGTYPE') ~= nil`;

const WRITE = `${OTHER_TYPE}
for i = 5, #ARGV, 4 do
  local current = (not isOtherType and redis.call('HGET', KEYS[1], ARGV[i] .. '#rev')) or ''
  if current ~= ARGV[i + 1] then return 0 end
end
if isOtherType then redis.call('DEL', KEYS[1]) end
for i = 5, #ARGV, 4 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 3], ARGV[i] .. '#rev', ARGV[i + 2])
end
local next = math.max(tonumber(redis.call('HGET', KEYS[1], 'version') or '0'), tonumber(ARGV[1])) + 1
redis.call('HSET', KEYS[1], 'version', string.format('%d', next), 'publishedMs', ARGV[2])
redis.call('PUBLISH', ARGV[3], ARGV[4])
return next`;

const CHANGED = `${OTHER_TYPE}
if isOtherType then return {} end
local answer = {redis.call('HGET', KEYS[1], 'version') or '0', redis.call('HGET', KEYS[1], 'publishedMs') or '0'}
for i = 1, #ARGV, 2 do
  local revision = redis.call('HGET', KEYS[1], ARGV[i] .. '#rev')
  if revision and revision ~= ARGV[i + 1] then
    table.insert(answer, ARGV[i])
    table.insert(answer, revision)
    table.insert(answer, redis.call('HGET', KEYS[1], ARGV[i]) or '')
  elseif not revision and ARGV[i + 1] ~= '' then
    table.insert(answer, ARGV[i])
    table.insert(answer, '')
    table.insert(answer, '')
  end
end
return answer`;

export function createRemoteFacts(deps: {
  readonly redis: RedisConnection;
  readonly channel: string;
  readonly keyOf: (chainId: ChainId) => string;
}): RemoteFacts {
  const { redis, channel, keyOf } = deps;
  /** Note the outcome, so that a fault of one chain's node in a cluster, or of one command, has a name. */
  const noted = async <T>(use: string, command: Promise<T>): Promise<T> => {
    try {
      const answer = await command;
      redis.note(use, null);
      return answer;
    } catch (error) {
      redis.note(use, error);
      throw error;
    }
  };
  return {
    write: async (chainId, { groups, floor, publishedMs }) => {
      const writes = groups.flatMap(({ group, expected, revision, payload }) => [group, expected, revision, payload]);
      const args = [floor, publishedMs, channel, String(chainId), ...writes];
      return (await noted(`write ${chainId}`, redis.eval(WRITE, 1, keyOf(chainId), ...args))) !== 0;
    },
    group: async (chainId, group) => {
      const [revision, payload] = await noted(`read ${chainId}`, redis.hmget(keyOf(chainId), `${group}#rev`, group));
      return { revision: revision ?? '', payload: payload ?? null };
    },
    changedSince: async (chainId, known) => {
      const args = [...known].flat();
      const answer = (await noted(`read ${chainId}`, redis.eval(CHANGED, 1, keyOf(chainId), ...args))) as string[];
      const groups = new Map<FactGroup, RemoteGroup>();
      for (let i = 2; i + 2 < answer.length; i += 3) {
        const group = FACT_GROUPS.find((candidate) => candidate === answer[i]);
        if (!group) continue;
        const revision = answer[i + 1] ?? '';
        groups.set(group, { revision, payload: revision === '' ? null : (answer[i + 2] ?? null) });
      }
      const [version = 0, publishedMs = 0] = answer;
      return { version: Number(version), publishedMs: Number(publishedMs), groups, isOtherType: answer.length === 0 };
    },
  };
}
