import { beforeEach, expect, it } from 'vitest';
import type { Reading } from '../../src/chain/reading.ts';
import type { NodeCapabilities } from '../../src/chain/rpc/capabilities.ts';
import type { ChainNodes } from '../../src/chain/rpc/nodes.ts';
import type { RpcProxy } from '../support/process/rpc-proxy.ts';
import { CAPABLE } from './fixed-node.ts';

/** The height of the chain. */
export const BLOCKS = 20;
export const PROBED: NodeCapabilities = { ...CAPABLE, blockHash: 'works' };

interface NodesWorld {
  /** The clock of all nodes. */
  readonly time: { nowMs: number };
  nodesAt(urls: readonly string[], found?: () => NodeCapabilities): ChainNodes;
  numberAt(reading: Reading): Promise<bigint>;
  proxies(): readonly [RpcProxy, RpcProxy];
  nodes(): ChainNodes;
}

/** The times of probes of nodes, and their effects. */
export function probeCases({ time, nodesAt, numberAt, proxies, nodes }: NodesWorld): void {
  /** Number of probes of each node, and its capabilities. */
  let probes: number;
  let can: NodeCapabilities;
  const found = () => {
    probes += 1;
    return can;
  };
  beforeEach(() => {
    probes = 0;
    can = PROBED;
  });
  const readTwice = async (of: ChainNodes) => {
    for (let i = 0; i < 2; i += 1) await of.read(async () => {}).catch(() => {});
  };

  it('behavior: probes a failed node again once after a minute', async () => {
    const one = nodesAt([proxies()[0].url], found);
    await one.read(numberAt);
    proxies()[0].set({ kind: 'down' });
    await expect(one.read(numberAt)).rejects.toMatchObject({ reason: 'unreachable' });
    proxies()[0].set({ kind: 'pass' });
    can = { ...PROBED, simulateV1: 'missing' };
    time.nowMs += 59_999;
    await readTwice(one);
    expect(probes).toBe(1);
    time.nowMs += 1;
    await readTwice(one);
    await settled(() => one.status()[0]?.capabilities?.simulateV1 === 'missing');
    time.nowMs += 3_600_000;
    await readTwice(one);
    expect(probes).toBe(2);
  });

  it.each<[string, number, Partial<NodeCapabilities>]>([
    ['did not say which chain it is of', 10_000, { chainId: null }],
    ['did not say whether it takes hashes', 10_000, { blockHash: 'unknown' }],
    ['did not answer a simulation', 10_000, { simulateV1: 'unknown' }],
    ['was of another chain', 60_000, { chainId: 5 }],
    ['failed at a simulation', 300_000, { simulateV1: 'broken' }],
  ])('behavior: a node that %s is probed again after %i ms', async (_what, waitMs, lacking) => {
    can = { ...PROBED, ...lacking };
    const one = nodesAt([proxies()[0].url], found);
    await readTwice(one);
    time.nowMs += waitMs - 1;
    await readTwice(one);
    expect(probes).toBe(1);
    can = PROBED;
    time.nowMs += 1;
    await readTwice(one);
    await settled(() => one.status()[0]?.capabilities === PROBED);
    expect(await one.read(numberAt)).toBe(BigInt(BLOCKS));
    expect([probes, one.status()[0]?.status]).toEqual([2, 'ok']);
  });

  it('behavior: does not use a capability for five minutes that failed after its probe passed, also if the node fails meanwhile', async () => {
    const one = nodesAt([proxies()[0].url], found);
    await one.read(async (reading) => reading.distrust('simulateV1'));
    proxies()[0].set({ kind: 'down' });
    await expect(one.read(numberAt)).rejects.toMatchObject({ reason: 'unreachable' });
    proxies()[0].set({ kind: 'pass' });
    time.nowMs += 299_999;
    await readTwice(one);
    expect([probes, one.status()[0]?.capabilities?.simulateV1]).toEqual([1, 'broken']);
    time.nowMs += 1;
    await readTwice(one);
    await settled(() => one.status()[0]?.capabilities?.simulateV1 === 'works');
    expect(probes).toBe(2);
  });

  it('behavior: reports a recovered node as working before any reading uses it', async () => {
    proxies()[1].set({ kind: 'hang' });
    const both = nodesAt(
      proxies().map(({ url }) => url),
      found,
    );
    await both.probe();
    await both.read(numberAt);
    await settled(() => both.status()[1]?.status === 'failing');
    proxies()[1].set({ kind: 'lag', blockNumber: BigInt(BLOCKS - 10) });
    time.nowMs += 60_000;
    await both.read(numberAt);
    await settled(() => both.status()[1]?.status === 'behind');
  });

  it('behavior: keeps joint work on one node when its node fails', async () => {
    const session = nodes().session();
    const { nodeIndex: reader } = await session.run(async ({ block }) => block);
    proxies()[reader === 1 ? 0 : 1].set({ kind: 'down' });
    const work = async (reading: Reading) => {
      await numberAt(reading);
      return reading;
    };
    const readings = await Promise.all([1, 2, 3].map(() => session.run(work)));
    expect(new Set(readings).size).toBe(1);
  });
}

/** Wait for the effect of a node's late answer. */
export async function settled(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setImmediate(resolve));
}
