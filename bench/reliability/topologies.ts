import { CODEC_VERSION } from '../../src/snapshot/codec.ts';
import { startRedisCluster, startSentinels } from '../../test/support/process/redis-topologies.ts';

/** A Redis of several servers, of which the one that matters can be killed. */
export interface Topology {
  /** The failure that the topology goes through, for reports. */
  readonly name: string;
  readonly start: () => Promise<RunningTopology>;
}

export interface RunningTopology {
  readonly url: string;
  /** Kill the server that has the facts of chain 1. */
  readonly break: () => Promise<void> | void;
  /** Start it again. */
  readonly mend: () => Promise<void> | void;
  readonly stop: () => Promise<void>;
}

/** Key of the facts of chain 1. */
const FACTS = `spiral:snapshot:${CODEC_VERSION}:1`;

async function clusterLosing(withReplicas: boolean): Promise<RunningTopology> {
  const cluster = await startRedisCluster({ withReplicas });
  const lost = cluster.nodes[await cluster.nodeOf(FACTS)];
  return { url: cluster.url, break: () => lost?.stop(), mend: () => lost?.start(), stop: cluster.close };
}

export const TOPOLOGIES: readonly Topology[] = [
  {
    name: 'the primary behind three sentinels is killed, and returns as a replica',
    async start() {
      const redis = await startSentinels({ count: 3 });
      return { url: redis.url, break: redis.failOver, mend: redis.revive, stop: redis.close };
    },
  },
  { name: 'a primary of a cluster with replicas is killed, and returns', start: () => clusterLosing(true) },
  { name: 'a node of a cluster without replicas is gone, and returns empty', start: () => clusterLosing(false) },
];
