import { numberToHex } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_LOGS } from '../../src/chain/logs/schema.ts';
import { useWorld } from '../contracts/world.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';
import { type Answering, actions, clear, NOW_MS, newIndexer, nodeFetch, signal, stored } from './world.ts';

const world = useWorld(1);
let database: MigratedDatabase;
beforeAll(async () => {
  database = await openMigratedDatabase();
});
afterEach(() => clear(database.db));
afterAll(() => database.close());

/** The history as a process reads it that reads everything at once. */
async function readAnew() {
  await clear(database.db);
  await newIndexer(world(), database.db).run(signal);
  return stored(database.db);
}

const rangeOf = (params: readonly unknown[]) => {
  const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
  return Number(BigInt(toBlock) - BigInt(fromBlock)) + 1;
};
/** A node that answers `eth_getLogs` over a few blocks only, and the others with an error. */
const shortRanges =
  (most: number, error: unknown): Answering =>
  ({ method, params }) =>
    method === 'eth_getLogs' && rangeOf(params) > most ? { error } : undefined;

describe('run', () => {
  beforeEach(async () => {
    const { open, supply, repay } = actions(world());
    await open();
    await supply(100n);
    await repay(50n);
  });

  test('default: reads every position from its opening to the newest block, and the markets at their blocks', async () => {
    const { events, range, marks } = await readAnew();
    const head = await world().client.getBlockNumber();
    expect(range).toEqual({ to_block: String(head), is_whole: true });
    const own = events.filter(({ block_number }) => Number(block_number) > Number(head) - 7);
    expect(own.filter(({ event }) => event !== 'Transfer').map(({ event }) => event)).toEqual([
      'SupplyCollateral',
      'Borrow',
      'LeveragePositionOpened',
      'SupplyCollateral',
      'CollateralSupplied',
      'Repay',
      'LoanRepaid',
    ]);
    const blocks = new Set(events.filter(({ account }) => account !== null).map(({ block_number }) => block_number));
    expect(new Set(marks.map(({ block_number }) => block_number))).toEqual(blocks);
    expect(marks.every(({ price, borrow_shares }) => Number(price) > 0 && Number(borrow_shares) > 0)).toBe(true);
  });

  test('behavior: a run without new blocks reads and changes nothing', async () => {
    const before = await readAnew();
    expect(await newIndexer(world(), database.db).run(signal)).toEqual({
      logs: 0,
      steps: 0,
      requests: 0,
      rewoundBlocks: 0,
      correctedBlocks: 0,
      marks: 0,
    });
    expect(await stored(database.db)).toEqual(before);
  });

  test('behavior: follows new blocks', async () => {
    await readAnew();
    await actions(world()).borrow(10n);
    await newIndexer(world(), database.db).run(signal);
    const followed = await stored(database.db);
    expect(followed.events.at(-1)?.event).toBe('AdditionalBorrowed');
    expect(followed).toEqual(await readAnew());
  });

  test('behavior: leaves out the blocks of the newest seconds, by the mean time between blocks', async () => {
    await world().chain.increaseTime(600);
    const head = await world().client.getBlockNumber();
    const [first, newest] = await Promise.all(
      [0n, head].map((blockNumber) => world().client.getBlock({ blockNumber })),
    );
    const perBlock = Number((newest?.timestamp ?? 0n) - (first?.timestamp ?? 0n)) / Number(head);
    await newIndexer(world(), database.db, { confirmationSec: Math.floor(3 * perBlock) }).run(signal);
    expect((await stored(database.db)).range.to_block).toBe(String(head - 3n));
  });

  test('behavior: ends when the budget is used up, and the next run goes on', async () => {
    const whole = await readAnew();
    await clear(database.db);
    let left = 0;
    const options = {
      fetch: nodeFetch(shortRanges(3, { code: -32005, message: 'query returned more than 10000 results' })),
      take: async () => left-- > 0,
    };
    const indexer = newIndexer(world(), database.db, options);
    for (let runs = 0; runs < 60; runs += 1) {
      left = 1;
      await indexer.run(signal);
      expect(left).toBeLessThanOrEqual(1);
    }
    expect(await stored(database.db)).toEqual(whole);
  });

  test('behavior: a process that is killed at any request or statement leaves a state from which the next one goes on', async () => {
    const whole = await readAnew();
    for (const place of ['request', 'before a statement', 'after a statement']) {
      await clear(database.db);
      let done = false;
      for (let allowed = 0; !done; allowed += 1) {
        let left = allowed;
        const die = () => {
          throw new TypeError('killed');
        };
        const indexer = newIndexer(world(), database.db, {
          fetch: nodeFetch(({ method, params }) => {
            if (place === 'request' && left-- <= 0) die();
            return shortRanges(4, { code: -32602, message: 'eth_getLogs is limited to a 4 block range' })({
              method,
              params,
            });
          }),
          history: (history) =>
            new Proxy(history, {
              get:
                (target, name: keyof typeof history) =>
                async (...args: never[]) => {
                  if (place === 'before a statement' && left-- <= 0) die();
                  const result = await (target[name] as (...all: never[]) => Promise<unknown>)(...args);
                  if (place === 'after a statement' && left-- <= 0) die();
                  return result;
                },
            }),
        });
        done = await indexer.run(signal).then(
          () => true,
          () => false,
        );
      }
      expect(await stored(database.db), place).toEqual(whole);
    }
  });

  test('behavior: two processes at once store every log once', async () => {
    const whole = await readAnew();
    await clear(database.db);
    const fetch = nodeFetch(shortRanges(3, { code: -32000, message: 'block range too large' }));
    await newIndexer(world(), database.db, { fetch, take: takes(1) }).run(signal);
    const both = () => newIndexer(world(), database.db, { fetch }).run(signal);
    await Promise.allSettled([both(), both()]);
    await both();
    expect(await stored(database.db)).toEqual(whole);
  });
});

/** A budget of some steps. */
function takes(count: number) {
  let left = count;
  return async () => left-- > 0;
}

const REFUSALS: readonly (readonly [string, unknown])[] = [
  ['Infura', { code: -32005, message: 'query returned more than 10000 results' }],
  [
    'Alchemy',
    {
      code: -32602,
      message: 'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range',
    },
  ],
  ['QuickNode', { code: -32614, message: 'eth_getLogs is limited to a 10,000 range' }],
  ['geth', { code: -32000, message: 'exceed max topics' }],
  ['Ankr', { code: -32600, message: 'block range is too wide' }],
  ['BlockPI', { code: -32001, message: 'rate limit: range of blocks' }],
];

describe('nodes', () => {
  beforeEach(async () => {
    await actions(world()).open();
  });

  test.each(REFUSALS)('behavior: reads smaller ranges after the refusal of %s', async (_name, error) => {
    const whole = await readAnew();
    await clear(database.db);
    await newIndexer(world(), database.db, { fetch: nodeFetch(shortRanges(2, error)) }).run(signal);
    expect(await stored(database.db)).toEqual(whole);
  });

  test('behavior: after words that nobody knows each next run reads a smaller range, until one is answered', async () => {
    const whole = await readAnew();
    await clear(database.db);
    const indexer = newIndexer(world(), database.db, {
      fetch: nodeFetch(shortRanges(2, { code: -32603, message: 'nope' })),
    });
    let failed = 0;
    while (
      failed < 20 &&
      (await indexer.run(signal).then(
        () => false,
        () => true,
      ))
    )
      failed += 1;
    expect(failed).toBeGreaterThan(1);
    await indexer.run(signal);
    expect(await stored(database.db)).toEqual(whole);
  });

  test('behavior: reads smaller ranges after more logs than one answer may have', async () => {
    const whole = await readAnew();
    await clear(database.db);
    const fetch = nodeFetch(({ method, params }) =>
      method === 'eth_getLogs' && rangeOf(params) > 4 ? { result: Array(MAX_LOGS + 1).fill({}) } : undefined,
    );
    await newIndexer(world(), database.db, { fetch }).run(signal);
    expect(await stored(database.db)).toEqual(whole);
  });

  test('error: a limit of requests ends the run without smaller ranges', async () => {
    let asked = 0;
    const fetch = nodeFetch(({ method, params }) => {
      if (method !== 'eth_getLogs' || isProbe(params)) return undefined;
      asked += 1;
      return { error: { code: 429, message: 'Too Many Requests' } };
    });
    await expect(newIndexer(world(), database.db, { fetch }).run(signal)).rejects.toMatchObject({
      reason: 'rate_limited',
    });
    expect(asked).toBeLessThanOrEqual(6);
  });

  const lie = (change: (log: Record<string, unknown>) => unknown): typeof fetch =>
    nodeFetch(
      () => undefined,
      ({ method }, result) => {
        if (method !== 'eth_getLogs' || !Array.isArray(result) || result.length === 0) return result;
        const [first, ...rest] = result;
        return [change(first), ...rest].flat();
      },
    );
  test.each([
    ['of a removed block', (log: Record<string, unknown>) => ({ ...log, removed: true })],
    ['of another contract', (log: Record<string, unknown>) => ({ ...log, address: `0x${'12'.repeat(20)}` })],
    ['of another block', (log: Record<string, unknown>) => ({ ...log, blockNumber: numberToHex(1_000_000) })],
    ['of another chain', (log: Record<string, unknown>) => ({ ...log, blockHash: `0x${'34'.repeat(32)}` })],
    ['of another event', (log: Record<string, unknown>) => ({ ...log, topics: [`0x${'56'.repeat(32)}`] })],
    ['with data of another form', (log: Record<string, unknown>) => ({ ...log, data: '0x01' })],
    ['without a place', (log: Record<string, unknown>) => ({ ...log, logIndex: null })],
    [
      'twice with different contents',
      (log: Record<string, unknown>) => [log, { ...log, data: `0x${'0'.repeat(63)}1` }],
    ],
  ])('error: refuses a log %s', async (_name, change) => {
    await expect(newIndexer(world(), database.db, { fetch: lie(change) }).run(signal)).rejects.toMatchObject({
      code: 'upstream_unavailable',
    });
    expect((await stored(database.db)).events).toEqual([]);
  });

  test('behavior: a log that is repeated counts once', async () => {
    const whole = await readAnew();
    await clear(database.db);
    await newIndexer(world(), database.db, { fetch: lie((log) => [log, log]) }).run(signal);
    expect(await stored(database.db)).toEqual(whole);
  });

  test('behavior: logs that a late node left out are found at the next run', async () => {
    await readAnew();
    await actions(world()).supply(10n);
    const empty = nodeFetch(({ method }) => (method === 'eth_getLogs' ? { result: [] } : undefined));
    await newIndexer(world(), database.db, { fetch: empty }).run(signal);
    await world().chain.mine(1);
    await newIndexer(world(), database.db).run(signal);
    expect(await stored(database.db)).toEqual(await readAnew());
  });

  test('behavior: a node without the state of past blocks leaves out the markets there; another node is asked at once, and the same one minutes later', async () => {
    const whole = await readAnew();
    await clear(database.db);
    const head = await world().client.getBlock();
    await world().chain.mine(1);
    const pruned = nodeFetch(({ method, params }) => {
      const isPast = JSON.stringify(params[1]) === JSON.stringify({ blockHash: head.hash });
      return method === 'eth_call' && isPast ? { error: { code: -32000, message: 'missing trie node' } } : undefined;
    });
    let nowMs = NOW_MS;
    const options = { nowMs: () => nowMs };
    await newIndexer(world(), database.db, { ...options, fetch: pruned }).run(signal);
    const without = (await stored(database.db)).marks.filter(({ price }) => price === null);
    expect(without.map(({ block_number }) => block_number)).toEqual([String(head.number)]);
    await newIndexer(world(), database.db, options).run(signal);
    expect((await stored(database.db)).marks.filter(({ price }) => price === null)).toHaveLength(1);
    nowMs += 86_400_001;
    await newIndexer(world(), database.db, options).run(signal);
    expect((await stored(database.db)).marks).toEqual(whole.marks);
    await clear(database.db);
    await newIndexer(world(), database.db, { ...options, nodes: [pruned, fetch] }).run(signal);
    expect((await stored(database.db)).marks).toEqual(whole.marks);
    // Of a new block it is asked after five minutes.
    await clear(database.db);
    nowMs = Number(head.timestamp) * 1_000 + 60_000;
    await newIndexer(world(), database.db, { ...options, fetch: pruned }).run(signal);
    nowMs += 300_000;
    await newIndexer(world(), database.db, options).run(signal);
    expect((await stored(database.db)).marks).toEqual(whole.marks);
  });
});

/** A probe of the node asks for an account without events. */
function isProbe(params: readonly unknown[]): boolean {
  return typeof (params[0] as { address: unknown }).address === 'string';
}
