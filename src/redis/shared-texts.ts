import type { Redis } from 'ioredis';

/** Replace a text if it is still the one that was read; without one it is empty. */
const REPLACE = `
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`;
const LIFE_MS = 7 * 86_400_000;
/** Processes that write at the same time repeat it. */
const MAX_TRIES = 20;

/**
 * Create texts by name in Redis, shared by all processes. While Redis does not answer they are those of this process, which goes on
 * from the last ones that it has seen.
 */
export function createSharedTexts(redis: Pick<Redis, 'get' | 'eval'>, prefix: string) {
  const seen = new Map<string, string>();
  const read = async (name: string): Promise<string | null> => {
    const text = await redis.get(`${prefix}:${name}`);
    if (text !== null) seen.set(name, text);
    return text;
  };
  const replace = async (name: string, change: (text: string | null) => string | null): Promise<boolean> => {
    const text = await read(name);
    const next = change(text);
    if (next === null) return true;
    if ((await redis.eval(REPLACE, 1, `${prefix}:${name}`, text ?? '', next, LIFE_MS)) !== 1) return false;
    seen.set(name, next);
    return true;
  };
  return {
    async update(name: string, change: (text: string | null) => string | null): Promise<void> {
      try {
        for (let tries = 0; tries < MAX_TRIES; tries += 1) if (await replace(name, change)) return;
      } catch {
        // The connection reports its failure.
      }
      const next = change(seen.get(name) ?? null);
      if (next !== null) seen.set(name, next);
    },
    read: (name: string): Promise<string | null> => read(name).catch(() => seen.get(name) ?? null),
  };
}
