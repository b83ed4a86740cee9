import type { Redis } from 'ioredis';
import { CODEC_VERSION } from '../../src/snapshot/codec.ts';

/** Every command that the service sends, or runs in a script, with example arguments. */
function usedCommands(prefix: string): readonly (readonly [command: string, ...args: readonly string[]])[] {
  const facts = `${prefix}:snapshot:${CODEC_VERSION}:0`;
  const [lease, limit, probe] = [`${prefix}:lease:doctor`, `${prefix}:limit:doctor`, `${prefix}:probe`];
  return [
    ['EVAL', 'return 1', '1', facts],
    ['EVALSHA', '0'.repeat(40), '1', limit],
    ['HGET', facts, 'version'],
    ['HMGET', facts, 'version', 'publishedMs'],
    ['HSET', facts, 'version', '0'],
    ['PUBLISH', channelOf(prefix), '0'],
    ['SET', probe, '1', 'PX', '1'],
    ['SET', lease, 'doctor', 'PX', '1', 'NX'],
    ['GET', lease],
    ['DEL', lease],
    ['PTTL', lease],
    ['PEXPIRE', lease, '1'],
    ['EXPIRE', limit, '1'],
    ['INCRBY', limit, '1'],
    ['TIME'],
    ['PING'],
  ];
}

function channelOf(prefix: string): string {
  return `${prefix}:snapshot:${CODEC_VERSION}:changes`;
}

/**
 * Find the commands that the user may not run. Each is queued in a transaction, where Redis checks command, key and channel,
 * and the transaction is discarded, so that nothing runs. `undefined` = transactions are refused.
 */
export async function refusedCommands(redis: Redis, prefix: string): Promise<readonly string[] | undefined> {
  try {
    await redis.call('MULTI');
  } catch {
    return undefined;
  }
  const refused = new Set<string>();
  for (const [command, ...args] of usedCommands(prefix)) {
    const answer = await redis.call(command, ...args).catch((error: unknown) => error);
    if (answer instanceof Error && /NOPERM|unknown command/i.test(answer.message)) refused.add(command);
  }
  await redis.call('DISCARD').catch(() => {});
  const listens = await redis.subscribe(channelOf(prefix)).catch((error: unknown) => error);
  if (listens instanceof Error) refused.add('SUBSCRIBE');
  else await redis.unsubscribe(channelOf(prefix)).catch(() => {});
  return [...refused];
}
