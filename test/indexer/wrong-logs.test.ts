import { numberToHex } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { useWorld } from '../contracts/world.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';
import { actions, clear, newIndexer, nodeFetch, signal, stored } from './world.ts';

/** Wrong logs under right block hashes: one answer of a node is not enough for the history to keep them. */
const world = useWorld(1);
let database: MigratedDatabase;
beforeAll(async () => {
  database = await openMigratedDatabase();
});
beforeEach(async () => {
  await actions(world()).open();
  await read();
  await actions(world()).supply(10n);
});
afterEach(() => clear(database.db));
afterAll(() => database.close());

type Log = Record<string, unknown> & { readonly blockNumber: string; readonly logIndex: string; readonly data: string };

const read = (fetchOf?: typeof fetch) =>
  newIndexer(world(), database.db, fetchOf ? { fetch: fetchOf } : {}).run(signal);

/** A node that changes its logs of the newest block, in the answers whose number is listed, from 0; each filter counts by itself. */
async function lyingNode(answers: readonly number[], change: (log: Log, answer: number) => unknown) {
  const head = numberToHex(await world().client.getBlockNumber());
  const counts = new Map<string, number>();
  return nodeFetch(
    () => undefined,
    ({ method, params }, result) => {
      if (method !== 'eth_getLogs' || !Array.isArray(result)) return result;
      const [{ address, topics }] = params as [{ address: unknown; topics: unknown }];
      const filter = JSON.stringify([address, topics]);
      const answer = counts.get(filter) ?? 0;
      counts.set(filter, answer + 1);
      if (!answers.includes(answer)) return result;
      return result.flatMap((log: Log) => (log.blockNumber === head ? change(log, answer) : [log]));
    },
  );
}

const otherAmount = (log: Log, answer = 0) => ({
  ...log,
  data: `${log.data.slice(0, -1)}${((Number.parseInt(log.data.slice(-1), 16) + 1 + answer) % 16).toString(16)}`,
});

async function readAnew() {
  await clear(database.db);
  await read();
  return stored(database.db);
}

test.each([
  ['with a wrong amount', otherAmount],
  ['that it left out', () => []],
  ['that it made up', (log: Log) => [log, { ...log, logIndex: numberToHex(Number(log.logIndex) + 100) }]],
])('behavior: logs %s are replaced when the blocks are read again', async (_name, change) => {
  await read(await lyingNode([0], change));
  const wrong = (await stored(database.db)).events;
  await world().chain.mine(1);
  const run = await read();
  expect(run.correctedBlocks).toBe(1);
  const healed = await stored(database.db);
  expect(healed).toEqual(await readAnew());
  expect(wrong).not.toEqual(healed.events);
});

test('behavior: wrong logs of one later answer replace nothing, because two of three answers have to agree', async () => {
  await read();
  const before = (await stored(database.db)).events;
  const lying = await lyingNode([0], otherAmount);
  await world().chain.mine(1);
  expect((await read(lying)).correctedBlocks).toBe(0);
  expect((await stored(database.db)).events).toEqual(before);
});

test('error: three different answers about one block end the run, and nothing is replaced', async () => {
  await read();
  const before = (await stored(database.db)).events;
  const lying = await lyingNode([0, 1], otherAmount);
  await world().chain.mine(1);
  await expect(read(lying)).rejects.toMatchObject({ code: 'upstream_unavailable', reason: 'implausible' });
  expect((await stored(database.db)).events).toEqual(before);
});
