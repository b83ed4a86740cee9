import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, startAnvil } from '../../devnet/chain/anvil.ts';
import { type NodeCapabilities, probeNode } from '../../src/chain/rpc/capabilities.ts';
import { createProbeSender } from '../../src/chain/rpc/client.ts';
import { type RpcProxy, startRpcProxy } from '../support/process/rpc-proxy.ts';
import type { Lacks } from '../support/process/rpc-relay.ts';

let anvil: Anvil;
let proxy: RpcProxy;
beforeAll(async () => {
  anvil = await startAnvil({ chainId: 4663, timestamp: 1_700_000_000, history: 10 });
  proxy = await startRpcProxy(anvil.rpcUrl);
});
afterAll(async () => {
  await proxy?.stop();
  await anvil?.stop();
});

const ALL: NodeCapabilities = {
  chainId: 4663,
  simulateV1: 'works',
  stateOverrides: 'works',
  batchSize: 500,
  callGas: expect.any(BigInt) as never,
  blockHash: 'works',
  blockTags: { safe: 'works', finalized: 'works' },
  // The chain has its first block only.
  logRange: 1,
};

const probe = () => probeNode(createProbeSender({ chainId: 4663, rpcUrl: proxy.url, timeoutMs: 60_000 }));

describe('probeNode', () => {
  it.each<[string, Lacks, Partial<NodeCapabilities>]>([
    ['default', {}, {}],
    ['behavior: eth_simulateV1 that is not there', { simulate: 'missing' }, { simulateV1: 'missing' }],
    ['behavior: eth_simulateV1 that crashes', { simulate: 'crashes' }, { simulateV1: 'broken' }],
    ['behavior: eth_simulateV1 without PUSH0', { simulate: 'no_push0' }, { simulateV1: 'broken' }],
    ['behavior: overrides that are refused', { overrides: 'refused' }, { stateOverrides: 'missing' }],
    ['behavior: overrides that are ignored', { overrides: 'ignored' }, { stateOverrides: 'missing' }],
    ['behavior: batches of 20', { batch: 20 }, { batchSize: 20 }],
    ['behavior: no batches', { batch: 1 }, { batchSize: 1 }],
    ['behavior: no blocks by hash', { blockHash: 'refused' }, { blockHash: 'missing' }],
  ])('%s', async (_name, lacks, expected) => {
    proxy.set({ kind: 'lacks', ...lacks });
    expect(await probe()).toEqual({ ...ALL, ...expected });
  });

  it.each(['down', 'garbage'] as const)('behavior: a node that is %s leaves everything unknown', async (kind) => {
    proxy.set({ kind });
    const unknown = { simulateV1: 'unknown', stateOverrides: 'unknown', blockHash: 'unknown' };
    const tags = { safe: 'unknown', finalized: 'unknown' };
    expect(await probe()).toEqual({
      ...unknown,
      chainId: null,
      blockTags: tags,
      batchSize: null,
      callGas: null,
      logRange: null,
    });
  });

  it('behavior: measures the gas of an eth_call in code', async () => {
    proxy.set({ kind: 'pass' });
    const { callGas } = await probe();
    expect(Number(callGas)).toBeGreaterThan(29_000_000);
    expect(Number(callGas)).toBeLessThan(30_000_000);
  });
});
