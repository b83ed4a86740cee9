import type { Redis } from 'ioredis';
import type { Clock } from '../shared/clock.ts';

/** Replace a text if it is still the one that was read, which is empty without one. Otherwise return the present one. */
const REPLACE = `
local text = redis.call('GET', KEYS[1]) or ''
if text ~= ARGV[1] then return text end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return false`;
/** Read a text, and the clock of Redis: seconds, and the rest in microseconds. */
const READ = `
local time = redis.call('TIME')
return { redis.call('GET', KEYS[1]), time[1], time[2] }`;
/** A measurement of the clock of Redis that took longer is too imprecise. */
const MAX_CLOCK_READ_MS = 1_000;
const LIFE_MS = 7 * 86_400_000;
/** Processes that write at the same time repeat it. */
const MAX_TRIES = 20;
/** After a failure Redis is not asked for this time: each question of one that hangs takes as long as its timeout. */
const REST_MS = 1_000;

type Change = (text: string | null, isShared: boolean) => string | null;

/**
 * Create texts by name in Redis, shared by all processes. While Redis does not answer they are those of this process, which goes on
 * from the last ones that it has seen.
 */
export function createSharedTexts(redis: Pick<Redis, 'eval'>, prefix: string, clock: Clock) {
  const seen = new Map<string, string>();
  let restUntilMs = 0;
  let aheadMs = 0;
  /** The updates of this process follow each other, so that only other processes can come between. */
  let latest: Promise<unknown> = Promise.resolve();

  /** `undefined` = Redis does not answer. */
  const ask = async <T>(question: () => Promise<T>): Promise<T | undefined> => {
    if (performance.now() < restUntilMs) return undefined;
    try {
      return await question();
    } catch {
      // The connection reports its failure.
      restUntilMs = performance.now() + REST_MS;
      return undefined;
    }
  };
  const read = async (name: string): Promise<string | null> => {
    const sentMs = clock.now();
    const answer = await redis.eval(READ, 1, `${prefix}:${name}`);
    const answeredMs = clock.now();
    const [text, seconds, microseconds] = answer as readonly [string | null, string, string];
    const tookMs = answeredMs - sentMs;
    if (tookMs >= 0 && tookMs <= MAX_CLOCK_READ_MS)
      aheadMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000 - (sentMs + answeredMs) / 2;
    if (text !== null) seen.set(name, text);
    return text;
  };
  const replace = async (name: string, change: Change): Promise<boolean> => {
    let text = await read(name);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const next = change(text, true);
      if (next === null) return true;
      const other = await redis.eval(REPLACE, 1, `${prefix}:${name}`, text ?? '', next, LIFE_MS);
      if (other === null) {
        seen.set(name, next);
        return true;
      }
      text = String(other);
    }
    return false;
  };
  const update = async (name: string, change: Change): Promise<boolean> => {
    if (await ask(() => replace(name, change))) return true;
    const next = change(seen.get(name) ?? null, false);
    if (next !== null) seen.set(name, next);
    return false;
  };
  return {
    update(name: string, change: Change): Promise<boolean> {
      const updated = latest.then(() => update(name, change));
      latest = updated;
      return updated;
    },
    read: async (name: string): Promise<string | null> => (await ask(() => read(name))) ?? seen.get(name) ?? null,
    aheadMs: () => aheadMs,
  };
}
