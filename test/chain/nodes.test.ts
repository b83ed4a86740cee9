import type { Hex } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Anvil, startAnvil } from '../../devnet/chain/anvil.ts';
import type { Reading } from '../../src/chain/reading.ts';
import { callAt } from '../../src/chain/rpc/call.ts';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import { type ChainNodes, createChainNodes } from '../../src/chain/rpc/nodes.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import type { Timers } from '../../src/shared/timers.ts';
import { type RpcProxy, startRpcProxy } from '../support/process/rpc-proxy.ts';
import { BLOCKS, PROBED, probeCases, settled } from './probe-cases.ts';

const START_SEC = 1_700_000_000;
const BLOCK_SEC = 12;
/** NUMBER PUSH0 MSTORE PUSH1 32 PUSH0 RETURN. */
const NUMBER: Hex = '0x435f5260205ff3';

let anvil: Anvil;
let a: RpcProxy;
let b: RpcProxy;
const time = { nowMs: 0 };
let nodes: ChainNodes;
/** The requests to each node. */
let requested: { readonly node: number; readonly method: string; readonly at: unknown }[];

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1, timestamp: START_SEC, history: 100 });
  [a, b] = await Promise.all([startRpcProxy(anvil.rpcUrl), startRpcProxy(anvil.rpcUrl)]);
  for (let i = 0; i < BLOCKS; i += 1) {
    await rpc('evm_increaseTime', [BLOCK_SEC]);
    await rpc('evm_mine', []);
  }
});
afterAll(async () => {
  await Promise.all([a?.stop(), b?.stop()]);
  await anvil?.stop();
});

beforeEach(() => {
  time.nowMs = (START_SEC + BLOCKS * BLOCK_SEC) * 1_000;
  requested = [];
  nodes = nodesAt([a.url, b.url]);
});
afterEach(() => {
  for (const proxy of [a, b]) proxy.set({ kind: 'pass' });
});

async function rpc(method: string, params: readonly unknown[]): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const { result } = (await (await fetch(anvil.rpcUrl, { method: 'POST', headers, body })).json()) as {
    result: unknown;
  };
  return result;
}

function nodesAt(urls: readonly string[], found = () => PROBED): ChainNodes {
  return createChainNodes({
    chainId: 1,
    urls,
    clock: { now: () => time.nowMs },
    logger: silentLogger,
    timeoutMs: 1_000,
    retryCount: 0,
    fetchOf: (node) => (input, init) => {
      const sent = [JSON.parse(String(init?.body))].flat() as { method: string; params: unknown[] }[];
      for (const { method, params } of sent) requested.push({ node, method, at: params.at(-1) });
      return fetch(input, init);
    },
    probe: async () => found(),
  });
}

const numberAt = async (reading: Reading): Promise<bigint> => BigInt(await callAt(reading, { data: NUMBER }));
const callsOf = () => requested.filter(({ method }) => method === 'eth_call');
const statusOf = (place: number) => nodes.status()[place - 1]?.status;

describe('createChainNodes', () => {
  it('default: all requests of a reading use one node and name its block by hash', async () => {
    const reported = await nodes.read(async (reading) => {
      expect(await Promise.all([numberAt(reading), numberAt(reading)])).toEqual([BigInt(BLOCKS), BigInt(BLOCKS)]);
      return reading.block;
    });
    expect(new Set(callsOf().map(({ node }) => node))).toEqual(new Set([reported.nodeIndex]));
    for (const { at } of callsOf()) expect(at).toEqual({ blockHash: reported.hash });
  });

  it('behavior: a node without block hashes gets the block number', async () => {
    a.set({ kind: 'lacks', blockHash: 'refused' });
    const probed = createChainNodes({
      chainId: 1,
      urls: [a.url],
      clock: { now: () => time.nowMs },
      logger: silentLogger,
    });
    expect(await probed.read(async ({ at }) => at)).toBe(`0x${BLOCKS.toString(16)}`);
  });

  it('behavior: does not read from a lagging node while another one answers', async () => {
    a.set({ kind: 'lag', blockNumber: BigInt(BLOCKS - 10) });
    await nodes.probe();
    // Both heads are known from here on.
    await Promise.allSettled([nodes.read(numberAt)]);
    await settled(() => statusOf(1) === 'behind');
    for (let i = 0; i < 5; i += 1) expect(await nodes.read(numberAt)).toBe(BigInt(BLOCKS));
    expect(nodes.status().map(({ status }) => status)).toEqual(['behind', 'ok']);
    // It is better than none.
    b.set({ kind: 'down' });
    expect(await nodes.read(numberAt)).toBe(BigInt(BLOCKS - 10));
    expect(nodes.status().map(({ status }) => status)).toEqual(['behind', 'failing']);
  });

  it('behavior: a few blocks or seconds do not count as behind', async () => {
    a.set({ kind: 'lag', blockNumber: BigInt(BLOCKS - 3) });
    b.set({ kind: 'pass' });
    await nodes.read(numberAt);
    await settled(() => nodes.status().every(({ head }) => head !== undefined));
    await nodes.read(numberAt);
    expect(nodes.status().map(({ status }) => status)).toEqual(['ok', 'ok']);
  });

  it('behavior: a hanging node delays no reading and is skipped for a moment', async () => {
    a.set({ kind: 'hang' });
    expect(await nodes.read(numberAt)).toBe(BigInt(BLOCKS));
    await settled(() => statusOf(1) === 'failing');
    requested.length = 0;
    expect(await nodes.read(numberAt)).toBe(BigInt(BLOCKS));
    expect(requested.every(({ node }) => node === 2)).toBe(true);
    a.set({ kind: 'pass' });
    time.nowMs += 10_001;
    b.set({ kind: 'down' });
    expect(await nodes.read(numberAt)).toBe(BigInt(BLOCKS));
    expect(nodes.status().map(({ status }) => status)).toEqual(['ok', 'failing']);
  });

  it('behavior: repeats the whole reading on another node after a failure', async () => {
    let runs = 0;
    const used: number[] = [];
    await nodes.read(async (reading) => {
      runs += 1;
      used.push(reading.block.nodeIndex);
      // The node goes away in the middle of the first run.
      if (runs === 1) (reading.block.nodeIndex === 1 ? a : b).set({ kind: 'down' });
      return numberAt(reading);
    });
    expect([runs, [...used].sort()]).toEqual([2, [1, 2]]);
  });

  it('behavior: never mixes nodes of different forks', async () => {
    a.set({ kind: 'fork' });
    for (let i = 0; i < 5; i += 1) {
      const session = nodes.session();
      const first = await session.run(async (reading) => reading.block);
      expect(await session.run(numberAt)).toBe(BigInt(BLOCKS));
      expect(await session.run(async ({ block }) => block)).toEqual(first);
    }
    // Each call uses a block hash of its own node, which no other node knows.
    const actual = new Map(nodes.status().map(({ place, head }) => [place, head?.hash]));
    for (const { node, at } of callsOf()) expect(at).toEqual({ blockHash: actual.get(node) });
  });

  it('error: BlockMissing when no node has the block of the reading', async () => {
    a.set({ kind: 'fork' });
    b.set({ kind: 'down' });
    const block = await nodes.read(async (reading) => reading.block);
    expect(block.nodeIndex).toBe(1);
    a.set({ kind: 'pass' });
    b.set({ kind: 'pass' });
    await expect(nodes.read(numberAt, { block })).rejects.toMatchObject({ reason: 'missing' });
  });

  it('behavior: retries one address in front of several nodes at a block that it has', async () => {
    const balanced = nodesAt([a.url]);
    let runs = 0;
    const number = await balanced.read((reading) => {
      runs += 1;
      if (runs === 1) a.set({ kind: 'lag', blockNumber: BigInt(BLOCKS - 1) });
      return numberAt(reading);
    });
    expect([runs, number]).toEqual([2, BigInt(BLOCKS - 1)]);
  });

  it('behavior: asks a recently failed node when no other one answers', async () => {
    a.set({ kind: 'down' });
    expect(await nodes.read(numberAt)).toBe(BigInt(BLOCKS));
    await settled(() => statusOf(1) === 'failing');
    a.set({ kind: 'pass' });
    b.set({ kind: 'down' });
    expect(await nodes.read(numberAt)).toBe(BigInt(BLOCKS));
    expect(nodes.status().map(({ status }) => status)).toEqual(['ok', 'failing']);
  });

  it('behavior: never reads from a node of another chain at any height', async () => {
    const other = await startAnvil({ chainId: 5, timestamp: START_SEC + BLOCKS * BLOCK_SEC, history: 10 });
    const mixed = createChainNodes({
      chainId: 1,
      urls: [other.rpcUrl, a.url],
      clock: { now: () => time.nowMs },
      logger: silentLogger,
    });
    try {
      for (let i = 0; i < 3; i += 1) expect(await mixed.read(async ({ block }) => block.nodeIndex)).toBe(2);
      await mixed.probe();
      expect(mixed.status().map(({ status }) => status)).toEqual(['other_chain', 'ok']);
    } finally {
      await other.stop();
    }
  });

  it('error: ChainReadError when none answers', async () => {
    a.set({ kind: 'down' });
    b.set({ kind: 'status', status: 500 });
    await expect(nodes.read(numberAt)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });
});

describe('a waiting reader', () => {
  /** Timers of which the first for this time fires at once, and no other. */
  const fireFor = (firedMs: number): Timers => {
    let isFired = false;
    return {
      setTimeout(callback, ms) {
        if (isFired || ms !== firedMs) return null;
        isFired = true;
        return setImmediate(callback);
      },
      clearTimeout: (handle) => clearImmediate(handle as NodeJS.Immediate),
    };
  };
  const nodesWith = (urls: readonly string[], timeouts: Timers) =>
    createChainNodes({
      chainId: 1,
      urls,
      clock: { now: () => time.nowMs },
      logger: silentLogger,
      timeouts,
      timeoutMs: 60_000,
      probe: async () => PROBED,
    });

  it('error: ChainReadError timeout for work that is not done in time, although every request is answered', async () => {
    const all = nodesWith([a.url, b.url], fireFor(5_000));
    const endless = () => new Promise<never>(() => {});
    const reading = all.within(5_000).read(endless);
    await expect(reading).rejects.toMatchObject({ reason: 'timeout', retryAfterSec: 5 });
    // Warmers wait as long as their requests last.
    expect(await all.read(numberAt)).toBe(BigInt(BLOCKS));
  });

  it.each([
    ['the only node', 1, 4_500],
    ['one of two', 2, 2_500],
  ])('behavior: a request to %s ends before the time of its reader', async (_what, count, requestMs) => {
    const fired = fireFor(requestMs);
    let isArmed = false;
    const armed: Timers = { ...fired, setTimeout: (go, ms) => (isArmed ? fired.setTimeout(go, ms) : null) };
    const all = nodesWith([a.url, b.url].slice(0, count), armed);
    const used: number[] = [];
    const reading = all.within(5_000).read(async (open) => {
      used.push(open.block.nodeIndex);
      // Its node hangs from here on.
      isArmed = true;
      if (used.length === 1) (open.block.nodeIndex === 1 ? a : b).set({ kind: 'hang' });
      return numberAt(open);
    });
    if (count === 1) await expect(reading).rejects.toMatchObject({ reason: 'timeout', retryAfterSec: 5 });
    else expect([await reading, [...used].sort()]).toEqual([BigInt(BLOCKS), [1, 2]]);
  });

  it('behavior: gives a refusal its own time, and an answer of the chain none', async () => {
    a.set({ kind: 'status', status: 500 });
    const one = nodesWith([a.url], fireFor(0)).within(5_000);
    await expect(one.read(numberAt)).rejects.toMatchObject({ reason: 'server_error', retryAfterSec: 5 });
    a.set({ kind: 'pass' });
    const reverted = one.read(async () => {
      throw new ChainReadError('reverted');
    });
    await expect(reverted).rejects.toMatchObject({ reason: 'reverted', retryAfterSec: undefined });
  });

  it('behavior: nine failures that are noticed at once rest a node for 5 s, eight and an answer do not', async () => {
    const one = nodesAt([a.url]);
    const failTimes = async (times: number) => {
      a.set({ kind: 'down' });
      for (let i = 0; i < times; i += 1) await one.read(numberAt).catch(() => {});
      a.set({ kind: 'pass' });
    };
    await one.read(numberAt);
    await failTimes(8);
    expect(await one.read(numberAt)).toBe(BigInt(BLOCKS));
    await failTimes(9);
    requested.length = 0;
    await expect(one.read(numberAt)).rejects.toMatchObject({ reason: 'unreachable', retryAfterSec: 5 });
    expect(requested).toEqual([]);
    expect(one.status()[0]).toMatchObject({
      status: 'failing',
      failingSinceMs: time.nowMs,
      restsUntilMs: time.nowMs + 5_000,
    });
    time.nowMs += 4_001;
    await expect(one.read(numberAt)).rejects.toMatchObject({ retryAfterSec: 1 });
    time.nowMs += 999;
    expect(await one.read(numberAt)).toBe(BigInt(BLOCKS));
    expect(one.status()[0]).toMatchObject({ status: 'ok', failingSinceMs: undefined, restsUntilMs: undefined });
  });
});

describe('probes', () => probeCases({ time, nodesAt, numberAt, proxies: () => [a, b], nodes: () => nodes }));
