import { encodeAbiParameters, getAddress, type Hex, numberToHex, pad } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createReadAt, type ReadAtOptions, type ReadResult } from '../../src/chain/read-at.ts';
import type { ChainNodes } from '../../src/chain/rpc/nodes.ts';
import type { Call } from '../../src/chain/types.ts';
import { systemClock } from '../../src/shared/clock.ts';
import type { Address } from '../../src/shared/ids.ts';
import { fixedNode } from './fixed-node.ts';
import { type Answer, type ScriptedNode, startScriptedNode } from './scripted-node.ts';

const MULTICALL3 = getAddress(pad('0xca11', { size: 20 }));
const readAt = createReadAt({ chainId: 1, multicall3: MULTICALL3, clock: systemClock });
const MILLION = 1_000_000n;

let node: ScriptedNode;
let nodes: ChainNodes;
/** Answers of contracts other than their own address. */
let script: Map<Address, Answer>;
beforeEach(async () => {
  script = new Map();
  node = await startScriptedNode(MULTICALL3, (to) => script.get(to) ?? pad(to));
  nodes = fixedNode({ rpcUrl: node.url });
});
afterEach(async () => {
  expect(node.unknown).toEqual([]);
  await node.close();
});

const addressOf = (n: number): Address => getAddress(pad(numberToHex(0xabc00000 + n), { size: 20 }));
/** A call of each contract, which needs its own gas. */
const planOf = (count: number, more: Partial<Call> = {}): readonly Call[] =>
  Array.from({ length: count }, (_, n) => ({ to: addressOf(n), data: '0x01020304', ...more }));
const read = (plan: readonly Call[], options?: ReadAtOptions): Promise<ReadResult> =>
  nodes.read((reading) => readAt(reading, plan, options));
const failuresOf = ({ results }: ReadResult) => results.flatMap((row, n) => (row.ok ? [] : [[n, row.reason]]));
/** The answers that are right, of so many. */
function expectOthers({ results }: ReadResult, count: number): void {
  expect(results).toHaveLength(count);
  for (const [n, row] of results.entries()) if (row.ok) expect(row.data).toBe(pad(addressOf(n)).toLowerCase());
}
const isAbout = (n: number) => (data: Hex) => data.includes(addressOf(n).slice(2).toLowerCase());

describe('readAt', () => {
  test('default: one multicall at the block of the reading, answers in the order of the plan', async () => {
    const result = await read(planOf(50));
    expect(result.block).toEqual({ number: 100n, timestamp: 1_700_000_000n });
    expectOthers(result, 50);
    expect(failuresOf(result)).toEqual([]);
    expect([node.requests, node.multicalls, [...node.blocks]]).toEqual([2, [52], [numberToHex(100n)]]);
  });

  test('behavior: cuts multicalls by gas and payload, and sends them as one request', async () => {
    expectOthers(await read(planOf(25, { gas: 3n * MILLION })), 25);
    expect(node.multicalls).toEqual([12, 12, 7]);
    node.multicalls.length = 0;
    expectOthers(await read(planOf(10, { data: `0x${'5a'.repeat(25_000)}`, gas: 1n })), 10);
    expect(node.multicalls).toEqual([4, 4, 4, 4, 4]);
    expect(node.requests).toBe(4);
  });

  test('behavior: reads the time of the block even for an empty plan', async () => {
    expect(await read([])).toEqual({ block: { number: 100n, timestamp: 1_700_000_000n }, results: [] });
  });

  test('behavior: a refused multicall fails without the others', async () => {
    node.refuses = isAbout(12);
    const result = await read(planOf(30, { gas: 3n * MILLION }));
    expect(failuresOf(result)).toEqual(Array.from({ length: 10 }, (_, i) => [10 + i, 'server_error']));
  });

  test.each([
    ['is cut short', (answer: Hex) => answer.slice(0, -66) as Hex],
    ['is empty', () => '0x' as Hex],
    ['has no digits', (answer: Hex) => answer.replaceAll('0', 'z') as Hex],
    ['points behind its end', (answer: Hex) => `0x${'f'.repeat(64)}${answer.slice(66)}` as Hex],
    ['has fewer answers', () => aggregated([pad('0x1'), pad('0x1')])],
    ['has no time', () => aggregated(['0x', pad('0x1'), ...Array(10).fill('0x')])],
  ])('behavior: only the multicall whose answer %s is malformed', async (_what, alter) => {
    node.alters = (answer, requested) => (isAbout(12)(requested) ? alter(answer) : answer);
    const result = await read(planOf(30, { gas: 3n * MILLION }));
    expect(failuresOf(result)).toEqual(Array.from({ length: 10 }, (_, i) => [10 + i, 'malformed']));
  });

  test('error: ChainReadError implausible when multicalls return different times or another chain', async () => {
    for (const frame of [
      [1_700_000_001n, 1n],
      [1_700_000_000n, 4663n],
    ]) {
      const words = frame.map((value) => numberToHex(value, { size: 32 }));
      node.alters = (answer, request) =>
        isAbout(12)(request) ? aggregated([...words, ...Array(10).fill('0x')]) : answer;
      await expect(read(planOf(30, { gas: 3n * MILLION }))).rejects.toMatchObject({ reason: 'implausible' });
    }
  });

  test('behavior: repeats the whole reading when its block changed between two requests', async () => {
    const times: bigint[][] = [];
    const [one, other] = [1_700_000_000n, 1_700_000_001n];
    const last = await nodes.read(async (reading) => {
      const read: bigint[] = [];
      times.push(read);
      read.push((await readAt(reading, planOf(3))).block.timestamp);
      node.timestamp = other;
      read.push((await readAt(reading, planOf(3))).block.timestamp);
      return read;
    });
    expect([times, last]).toEqual([
      [[one], [other, other]],
      [other, other],
    ]);
  });

  test('error: ChainReadError implausible for an answer of another block than requested', async () => {
    node.alters = () => aggregated([pad(numberToHex(1_699_999_000n)), pad('0x1'), ...Array(3).fill('0x')]);
    await expect(read(planOf(3))).rejects.toMatchObject({ reason: 'implausible' });
  });

  test('error: ChainReadError when no multicall is answered', async () => {
    node.refuses = () => true;
    await expect(read(planOf(30))).rejects.toMatchObject({ reason: 'server_error' });
    node.refuses = () => false;
    node.alters = () => '0x';
    await expect(read(planOf(30))).rejects.toMatchObject({ reason: 'malformed' });
  });
});

describe('isolate', () => {
  const isolate = { isolate: true };

  test.each([1, 10])('behavior: %i calls that use up the gas do not affect others', async (burning) => {
    const bad = Array.from({ length: burning }, (_, i) => 3 + i * 29);
    for (const n of bad) script.set(addressOf(n), 'burn');
    const result = await read(planOf(300), isolate);
    expectOthers(result, 300);
    expect(failuresOf(result)).toEqual(bad.map((n) => [n, 'reverted']));
    // Asked together, in small multicalls, and the rest of those alone.
    expect(node.requests).toBeLessThanOrEqual(2 + 1 + 14);
  });

  test.each([0, 150, 299])(
    'behavior: call %i, which breaks its whole multicall, does not affect others',
    async (bad) => {
      node.refuses = isAbout(bad);
      const result = await read(planOf(300), isolate);
      expectOthers(result, 300);
      expect(failuresOf(result)).toEqual([[bad, 'reverted']]);
      expect(node.multicalls).toHaveLength(14 + 19);
    },
  );

  test('behavior: does not repeat optional views unless another call shows a lack of gas', async () => {
    for (const n of [1, 2, 3]) script.set(addressOf(n), 'silence');
    await read(planOf(50, { mayBeAbsent: true }), isolate);
    expect(node.multicalls).toEqual([52]);
    const [first, ...rest] = planOf(50, { mayBeAbsent: true });
    script.set(addressOf(0), 'burn');
    const result = await read([{ ...first, mayBeAbsent: false } as Call, ...rest], isolate);
    expect(failuresOf(result).map(([n]) => n)).toEqual([0, 1, 2, 3]);
  });

  test('behavior: does not retry a node that answers nothing', async () => {
    node.refuses = () => true;
    await expect(read(planOf(300), isolate)).rejects.toMatchObject({ reason: 'server_error' });
    // The newest block, everything, and in small multicalls.
    expect(node.requests).toBe(3);
  });

  test('behavior: respects a small batch size of the node', async () => {
    const small = fixedNode({ rpcUrl: node.url, batchSize: 1 });
    const result = await small.read((reading) => readAt(reading, planOf(25, { gas: 3n * MILLION })));
    expectOthers(result, 25);
    expect(node.requests).toBe(1 + 3);
  });
});

function aggregated(rows: readonly Hex[]): Hex {
  const result = rows.map((returnData) => [true, returnData] as const);
  return encodeAbiParameters(
    [{ type: 'tuple[]', components: [{ type: 'bool' }, { type: 'bytes' }] }],
    [result as never],
  );
}
