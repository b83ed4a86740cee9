import type { Redis } from 'ioredis';
import type { RedisSettings } from '../../src/config/redis-address.ts';
import { openClient } from '../../src/redis/client.ts';
import { REDIS_TODO, redisFaultOf } from '../../src/redis/faults.ts';
import type { Line, LineMaker } from '../core/types.ts';

const CONNECT_MS = 4_000;
const COMMAND_MS = 3_000;
/** Sentinels agree by majority: with two, none may fail. */
const ENOUGH_SENTINELS = 3;

/**
 * Open a connection without a second attempt.
 * @throws the error that names the cause
 */
export async function openOnce(settings: RedisSettings): Promise<Redis> {
  const redis = openClient(settings, 'spiral-gateway doctor', {
    connectMs: CONNECT_MS,
    commandMs: COMMAND_MS,
    retryMs: () => null,
  });
  try {
    await new Promise<void>((resolve, reject) => {
      redis.once('ready', resolve);
      redis.once('end', () => reject(new Error('connection closed')));
      redis.on('error', reject);
    });
    return redis;
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

/** Check each sentinel of the setting: whether it answers, and its view of the primary. */
export async function describeSentinels(settings: RedisSettings, make: LineMaker): Promise<readonly Line[]> {
  const { address } = settings;
  const requests = await Promise.all(address.nodes.map((_, i) => askSentinel(settings, i)));
  const answers = requests.flatMap((one) => ('state' in one ? [one.state] : []));
  const lines: Line[] = requests.flatMap((one, i) =>
    'state' in one ? [] : [make.warning('sentinels', `sentinel ${i + 1} of the setting: ${one.error}`, one.todo)],
  );
  const [state] = answers;
  if (state === undefined) return lines;
  const known = Number(state.get('num-other-sentinels')) + 1;
  const replicas = Number(state.get('num-slaves'));
  const found = `${known} sentinels, quorum ${state.get('quorum')}, ${replicas} replicas`;
  if (known < ENOUGH_SENTINELS) {
    lines.push(
      make.warning(
        'quorum',
        `${found}: if one fails, the others may not agree`,
        'Run three sentinels on three machines.',
      ),
    );
  } else if (replicas === 0) {
    lines.push(make.warning('quorum', `${found}: nothing to fail over to`, 'Start a replica of the primary.'));
  } else lines.push(make.ok('quorum', found));
  return lines;
}

async function askSentinel(settings: RedisSettings, index: number) {
  const { address } = settings;
  const { sentinelUsername: username, sentinelPassword: password } = address;
  const node = address.nodes[index];
  const single = {
    ...address,
    mode: 'single',
    nodes: node === undefined ? [] : [node],
    db: 0,
    username,
    password,
  } as const;
  let redis: Redis | undefined;
  try {
    redis = await openOnce({ ...settings, address: single });
    const flat = (await redis.call('SENTINEL', 'MASTER', address.primaryName ?? '')) as string[];
    return { state: new Map(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? ''] as const] : []))) };
  } catch (error) {
    const { reason, detail } = redisFaultOf(error);
    return { error: `${reason} (${detail})`, todo: REDIS_TODO[reason] };
  } finally {
    redis?.disconnect();
  }
}

/** Check whether all slots of a cluster are served. */
export async function describeCluster(redis: Redis, make: LineMaker): Promise<Line> {
  const text = String(await redis.call('CLUSTER', 'INFO').catch(() => ''));
  const state = new Map(text.split(/\r?\n/).map((line) => line.split(':') as [string, string]));
  if (!state.has('cluster_state')) {
    return make.warning('cluster', 'CLUSTER INFO is refused: its state is unknown', 'Allow the user CLUSTER INFO.');
  }
  const [slots, size, nodes] = ['cluster_slots_ok', 'cluster_size', 'cluster_known_nodes'].map((name) =>
    state.get(name),
  );
  const found = `state ${state.get('cluster_state')}, ${slots} of 16384 slots, ${size} primaries, ${nodes} nodes`;
  if (state.get('cluster_state') !== 'ok' || slots !== '16384') {
    return make.failure('cluster', found, REDIS_TODO.cluster_down);
  }
  return size === nodes
    ? make.warning(
        'cluster',
        `${found}: without replicas the loss of a node stops the cluster`,
        'Add a replica of each primary.',
      )
    : make.ok('cluster', found);
}
