import { numberToHex } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useWorld } from '../contracts/world.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';
import { actions, clear, NOW_MS, newIndexer, nodeFetch, signal, stored } from './world.ts';

/** Nodes that answer wrong logs under right block hashes, every time: one node alone changes no stored logs. */
const world = useWorld(1);
let database: MigratedDatabase;
beforeAll(async () => {
  database = await openMigratedDatabase();
});
beforeEach(async () => {
  await actions(world()).open();
  await actions(world()).supply(10n);
});
afterEach(() => clear(database.db));
afterAll(() => database.close());

type Log = Record<string, unknown> & { readonly blockNumber: string; readonly logIndex: string; readonly data: string };
type Change = (log: Log) => readonly unknown[];

const LEFT_OUT: Change = () => [];
const OTHER_AMOUNT: Change = (log) => [
  { ...log, data: log.data.replace(/.$/, (digit) => (digit === '1' ? '2' : '1')) },
];
const FOREIGN: Change = (log) => [log, { ...log, logIndex: numberToHex(Number(log.logIndex) + 100) }];

const HONEST = nodeFetch(() => undefined);
const DOWN: typeof fetch = async () => new Response('', { status: 502 });

/** A node that changes its logs of the newest block of now, in every answer. */
async function lyingNode(change: Change): Promise<typeof fetch> {
  const head = numberToHex(await world().client.getBlockNumber());
  return nodeFetch(
    () => undefined,
    ({ method }, result) =>
      method === 'eth_getLogs' && Array.isArray(result)
        ? result.flatMap((log: Log) => (log.blockNumber === head ? change(log) : [log]))
        : result,
  );
}

const read = (...nodes: readonly (typeof fetch)[]) => newIndexer(world(), database.db, { nodes }).run(signal);
const events = async () => (await stored(database.db)).events;

const LIES = [
  ['leaves logs out', LEFT_OUT],
  ['has other amounts', OTHER_AMOUNT],
  ['has foreign logs', FOREIGN],
] as const;

describe('several nodes', () => {
  test.each(LIES)(
    'behavior: a node that %s does not change the logs that another one contradicts',
    async (_name, change) => {
      await read(HONEST);
      const right = await events();
      const lying = await lyingNode(change);
      await world().chain.mine(1);
      expect((await read(lying, HONEST)).correctedBlocks).toBe(0);
      expect(await events()).toEqual(right);
      await world().chain.mine(1);
      expect((await read(lying, HONEST, HONEST)).correctedBlocks).toBe(0);
      expect(await events()).toEqual(right);
    },
  );

  test.each(LIES)('behavior: logs of a node that %s are replaced when two others agree', async (_name, change) => {
    const lying = await lyingNode(change);
    await read(lying);
    const wrong = await events();
    await world().chain.mine(1);
    expect((await read(HONEST, lying, HONEST)).correctedBlocks).toBe(1);
    const healed = await stored(database.db);
    expect(healed.events).not.toEqual(wrong);
    await clear(database.db);
    await read(HONEST);
    expect(healed).toEqual(await stored(database.db));
  });

  test('behavior: a node that lies about a new block does not put its logs beside those that another one confirms', async () => {
    await read(HONEST);
    const lyingOfOld = await lyingNode(LEFT_OUT);
    await actions(world()).supply(20n);
    await read(lyingOfOld, HONEST);
    const found = await stored(database.db);
    await clear(database.db);
    await read(HONEST);
    expect(found).toEqual(await stored(database.db));
  });

  test('error: three nodes with three answers, none of them the stored one, end the run and replace nothing', async () => {
    await read(HONEST);
    const right = await events();
    const lying = await Promise.all([LEFT_OUT, OTHER_AMOUNT, FOREIGN].map(lyingNode));
    await world().chain.mine(1);
    await expect(read(...lying)).rejects.toMatchObject({ code: 'upstream_unavailable', reason: 'implausible' });
    expect(await events()).toEqual(right);
  });

  test('error: when no other node answers, the run ends, and nothing is replaced', async () => {
    await read(HONEST);
    const right = await stored(database.db);
    const lying = await lyingNode(OTHER_AMOUNT);
    await world().chain.mine(1);
    await expect(read(lying, DOWN)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(await stored(database.db)).toEqual(right);
  });
});

describe('a node with other blocks', () => {
  /** A node whose blocks have other hashes than those of the chain. */
  const FORKED = nodeFetch(
    () => undefined,
    ({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] !== '0x0'
        ? { ...(result as object), hash: `0x${'f'.repeat(64)}` }
        : result,
  );

  test('behavior: removes nothing while another node has the blocks that were read', async () => {
    await read(HONEST);
    const right = await stored(database.db);
    await world().chain.mine(3);
    const run = await read(FORKED, HONEST);
    expect(run.rewoundBlocks).toBe(0);
    expect((await stored(database.db)).events).toEqual(right.events);
    expect((await stored(database.db)).marks).toEqual(right.marks);
  });

  test('behavior: is followed after ten minutes without progress, because the other node may have stopped', async () => {
    const before = await world().chain.snapshot();
    await actions(world()).supply(5n);
    const dropped = await world().client.getBlock();
    await read(HONEST);
    await world().chain.revert(before);
    await actions(world()).supply(7n);
    const name = numberToHex(dropped.number);
    const stopped = nodeFetch(({ method, params }) =>
      method === 'eth_getBlockByNumber' && [name, 'latest'].includes(params[0] as string)
        ? { result: { number: name, hash: dropped.hash, timestamp: numberToHex(dropped.timestamp) } }
        : undefined,
    );
    let nowMs = NOW_MS;
    const indexer = newIndexer(world(), database.db, { nodes: [HONEST, stopped], nowMs: () => nowMs });
    await indexer.run(signal).catch(() => {});
    expect((await events()).some(({ block_hash }) => block_hash === dropped.hash)).toBe(true);
    nowMs += 600_000;
    await indexer.run(signal);
    const followed = await stored(database.db);
    await clear(database.db);
    await read(HONEST);
    expect(followed).toEqual(await stored(database.db));
  });
});

describe('a single node', () => {
  test('behavior: an empty answer that it repeats removes no logs', async () => {
    await read(HONEST);
    const right = await events();
    const lying = await lyingNode(LEFT_OUT);
    await world().chain.mine(1);
    expect((await read(lying)).correctedBlocks).toBe(0);
    expect(await events()).toEqual(right);
    expect((await stored(database.db)).range.to_block).toBe(String(await world().client.getBlockNumber()));
  });

  test('behavior: another answer that it repeats replaces the logs of its block, because nothing contradicts it', async () => {
    const lying = await lyingNode(OTHER_AMOUNT);
    await read(lying);
    await world().chain.mine(1);
    expect((await read(HONEST)).correctedBlocks).toBe(1);
    const healed = await stored(database.db);
    await clear(database.db);
    await read(HONEST);
    expect(healed).toEqual(await stored(database.db));
  });
});

/** The history as a process reads it that reads everything at once. */
async function anew() {
  await clear(database.db);
  await read(HONEST);
  return stored(database.db);
}

describe('a reorganization', () => {
  test('behavior: a process that is killed at any request while it follows 20 replaced blocks leaves no trace', async () => {
    const { open, supply, repay } = actions(world());
    await open();
    const before = await world().chain.snapshot();
    await supply(10n);
    await world().chain.mine(20);
    await newIndexer(world(), database.db).run(signal);
    await world().chain.revert(before);
    await repay(20n);
    await world().chain.mine(22);
    let [isDone, rewound] = [false, 0];
    for (let allowed = 0; !isDone; allowed += 1) {
      let left = allowed;
      const dying = nodeFetch(() => {
        if (left-- <= 0) throw new TypeError('killed');
        return undefined;
      });
      const run = await newIndexer(world(), database.db, { fetch: dying })
        .run(signal)
        .catch(() => null);
      isDone = run !== null;
      rewound += run?.rewoundBlocks ?? 0;
    }
    const followed = await stored(database.db);
    expect(followed).toEqual(await anew());
    expect(followed.events.map(({ event }) => event)).toContain('LoanRepaid');
    expect(rewound).toBeLessThanOrEqual(21);
  });
});
