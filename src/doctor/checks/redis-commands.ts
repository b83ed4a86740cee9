import type { Redis } from 'ioredis';
import { CODEC_VERSION } from '../../snapshot/codec.ts';

/** A key and a channel of each kind in use. */
const [FACTS, LEASE, LIMIT] = [`spiral:snapshot:${CODEC_VERSION}:0`, 'spiral:lease:doctor', 'spiral:limit:doctor'];
const CHANNEL = `spiral:snapshot:${CODEC_VERSION}:changes`;

/** Every command that the service sends, or runs in a script, with example arguments. */
const USED_COMMANDS: readonly (readonly [command: string, ...args: readonly string[]])[] = [
  ['EVAL', 'return 1', '1', FACTS],
  ['EVALSHA', '0'.repeat(40), '1', LIMIT],
  ['HGET', FACTS, 'version'],
  ['HMGET', FACTS, 'version', 'publishedMs'],
  ['HSET', FACTS, 'version', '0'],
  ['PUBLISH', CHANNEL, '0'],
  ['SET', LEASE, 'doctor', 'PX', '1', 'NX'],
  ['GET', LEASE],
  ['DEL', LEASE],
  ['PTTL', LEASE],
  ['PEXPIRE', LEASE, '1'],
  ['INCRBY', LIMIT, '1'],
  ['EXISTS', LIMIT],
  ['TIME'],
  ['PING'],
];

/**
 * Find the commands that the user may not run. Each is queued in a transaction, where Redis checks command, key and channel,
 * and the transaction is discarded, so that nothing runs. `undefined` = transactions are refused.
 */
export async function refusedCommands(redis: Redis): Promise<readonly string[] | undefined> {
  try {
    await redis.call('MULTI');
  } catch {
    return undefined;
  }
  const refused: string[] = [];
  for (const [command, ...args] of USED_COMMANDS) {
    const answer = await redis.call(command, ...args).catch((error: unknown) => error);
    if (answer instanceof Error && /NOPERM|unknown command/i.test(answer.message)) refused.push(command);
  }
  await redis.call('DISCARD').catch(() => {});
  const listens = await redis.subscribe(CHANNEL).catch((error: unknown) => error);
  if (listens instanceof Error) refused.push('SUBSCRIBE');
  else await redis.unsubscribe(CHANNEL).catch(() => {});
  return refused;
}
