import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { withoutUndefined } from '../../../src/shared/without-undefined.ts';
import { launch } from '../../snapshot/redis-server.ts';
import { freePort } from '../free-port.ts';

type Server = Awaited<ReturnType<typeof launch>>;

/** Time until a server counts as down, ms. */
const DOWN_AFTER_MS = 600;
const PRIMARY = 'mymaster';

/** A primary with a replica, watched by sentinels. */
export interface SentinelRedis {
  /** As operators write it. */
  readonly url: string;
  readonly sentinels: readonly Server[];
  /** URL of the server that is the primary now, by the first sentinel. */
  primaryUrl(): Promise<string>;
  /** Kill the primary, and wait until the sentinels have made the replica one. */
  failOver(): Promise<void>;
  /** Start the killed server again: it becomes a replica. */
  revive(): Promise<void>;
  close(): Promise<void>;
}

/** Certificates of servers that speak TLS alone. */
export interface ServerTls {
  /** Options of a server: `tls-cert-file` and the others. */
  readonly options: Readonly<Record<string, string>>;
  readonly ca: string;
}

const argumentsOf = (tls: ServerTls | undefined): string[] =>
  Object.entries(tls?.options ?? {}).flatMap(([name, value]) => [`--${name}`, value]);

/** Start two servers and some sentinels. @param more options of both servers @param tls all speak TLS alone */
export async function startSentinels({
  count = 1,
  more = [] as readonly string[],
  password = '',
  tls = undefined as ServerTls | undefined,
} = {}): Promise<SentinelRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'redis-sentinels-'));
  const isTls = tls !== undefined;
  const given = [...more, ...argumentsOf(tls), ...(isTls ? ['--tls-replication', 'yes'] : [])];
  const primary = await launch(given, { isTls });
  const replica = await launch([...given, '--replicaof', `127.0.0.1 ${primary.port}`], { isTls });
  const servers = [primary, replica];
  const sentinels: Server[] = [];
  for (let i = 0; i < count; i++) {
    const port = await freePort();
    const file = join(folder, `sentinel-${port}.conf`);
    const lines = [
      ...(isTls ? ['port 0', `tls-port ${port}`, 'tls-replication yes'] : [`port ${port}`]),
      ...Object.entries(tls?.options ?? {}).map(([name, value]) => `${name} ${value}`),
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor ${PRIMARY} 127.0.0.1 ${primary.port} ${Math.floor(count / 2) + 1}`,
      `sentinel down-after-milliseconds ${PRIMARY} ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout ${PRIMARY} 3000`,
      `sentinel known-replica ${PRIMARY} 127.0.0.1 ${replica.port}`,
      ...(password === '' ? [] : [`sentinel auth-pass ${PRIMARY} ${password}`]),
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    // A sentinel is a redis-server whose configuration is a file that it writes.
    sentinels.push(await launch([], { port, command: [file, '--sentinel'], isTls }));
  }
  const [first] = sentinels;
  const admin = openAdmin(first?.url ?? '', tls);
  const primaryPort = async (): Promise<number> =>
    Number(((await admin.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', PRIMARY)) as string[])[1]);
  // A failover needs the replica, which the sentinels learn from the primary, and the other sentinels.
  await untilHolds(async () => {
    const [state] = (await admin.call('SENTINEL', 'MASTERS')) as string[][];
    const fields = new Map(pairs(state ?? []));
    const replicas = (await admin.call('SENTINEL', 'REPLICAS', PRIMARY)) as string[][];
    const isLinked = replicas.some((one) => new Map(pairs(one)).get('master-link-status') === 'ok');
    return isLinked && fields.get('num-other-sentinels') === String(count - 1);
  });
  let dead: Server | undefined;
  return {
    url: `${isTls ? 'rediss' : 'redis'}+sentinel://${password === '' ? '' : `:${password}@`}${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${PRIMARY}`,
    sentinels,
    primaryUrl: async () => `${isTls ? 'rediss' : 'redis'}://127.0.0.1:${await primaryPort()}`,
    async failOver() {
      const port = await primaryPort();
      dead = servers.find((server) => server.port === port);
      await dead?.stop();
      await untilHolds(async () => (await primaryPort()) !== port);
    },
    async revive() {
      await dead?.start();
    },
    async close() {
      admin.disconnect();
      await Promise.all([...sentinels, ...servers].map((server) => server.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A cluster of primaries, and of a replica of each if asked for. */
export interface ClusterRedis {
  readonly url: string;
  readonly nodes: readonly Server[];
  /** Number of the node that serves the slot of a key. */
  nodeOf(key: string): Promise<number>;
  /** Wait until every running node reports that the cluster serves all slots, or that it does not. */
  until(state: 'ok' | 'fail', running?: readonly Server[]): Promise<void>;
  close(): Promise<void>;
}

const SLOTS = 16_384;
const firstSlotOf = (node: number): number => Math.floor((node * SLOTS) / 3);

/** Start a cluster of three primaries. @param tls all speak TLS alone */
export async function startRedisCluster({
  withReplicas = false,
  tls = undefined as ServerTls | undefined,
} = {}): Promise<ClusterRedis> {
  const isTls = tls !== undefined;
  const nodes: (Server & { readonly busPort: number })[] = [];
  for (let i = 0; i < (withReplicas ? 6 : 3); i++) {
    const busPort = await freePort();
    const options = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', '500'];
    const secured = isTls ? [...argumentsOf(tls), '--tls-cluster', 'yes'] : [];
    nodes.push({ ...(await launch([...options, ...secured], { isTls })), busPort });
  }
  const admins = nodes.map(({ url }) => openAdmin(url, tls));
  const primaries = admins.slice(0, 3);
  const [first] = admins;
  for (const [i, admin] of admins.entries()) {
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1));
    if (i < 3) await admin.call('CLUSTER', 'ADDSLOTSRANGE', String(firstSlotOf(i)), String(firstSlotOf(i + 1) - 1));
    const { port, busPort } = nodes[0] as (typeof nodes)[number];
    if (i > 0) await admin.call('CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPort));
  }
  const stateOf = async (admin: Redis) => String(await admin.call('CLUSTER', 'INFO').catch(() => ''));
  await untilHolds(async () => {
    const states = await Promise.all(admins.map(stateOf));
    return states.every((state) => state.includes('cluster_state:ok') && state.includes(`known_nodes:${nodes.length}`));
  });
  const ids = await Promise.all(primaries.map((admin) => admin.call('CLUSTER', 'MYID')));
  for (const [i, admin] of admins.slice(3).entries()) await admin.call('CLUSTER', 'REPLICATE', String(ids[i]));
  return {
    url: `${isTls ? 'rediss' : 'redis'}+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    async nodeOf(key) {
      const slot = Number(await (first as Redis).call('CLUSTER', 'KEYSLOT', key));
      return [2, 1].find((i) => slot >= firstSlotOf(i)) ?? 0;
    },
    async until(state, running = nodes) {
      const asked = admins.filter((_, i) => running.includes(nodes[i] as Server));
      await untilHolds(async () =>
        (await Promise.all(asked.map(stateOf))).every((info) => info.includes(`cluster_state:${state}`)),
      );
    },
    async close() {
      for (const admin of admins) admin.disconnect();
      await Promise.all(nodes.map((node) => node.close()));
    },
  };
}

/** A connection beside the service's own. The servers that it goes to may be stopped. */
function openAdmin(url: string, tls?: ServerTls): Redis {
  const redis = new Redis(url, { retryStrategy: () => 50, ...withoutUndefined({ tls: tls && { ca: tls.ca } }) });
  redis.on('error', () => {});
  return redis;
}

/** Ask until it holds. */
async function untilHolds(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

function* pairs(flat: readonly string[]): Generator<readonly [string, string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] as string, flat[i + 1] as string];
}
