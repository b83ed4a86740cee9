import { expect } from 'vitest';
import type { World } from '../contracts/world.ts';
import type { MigratedDatabase } from '../support/process/migrated-database.ts';
import { actions, clear, newIndexer, type RpcCall, signal, stored } from './world.ts';

/** Blocks that each next node of a load balancer is behind the newest one. */
export type Lags = readonly number[];

/**
 * A URL that a load balancer serves: its newest block is that of the node that is ahead, and each request for a header or for logs is
 * answered by the next node. A silent one answers headers that any of its nodes has, and logs as far as the node has them; any other
 * answers blocks that the node does not have with `null` and an error.
 */
export function loadBalancer(world: World, lags: Lags, isSilent: boolean): typeof fetch {
  let next = 0;
  type Call = RpcCall & { readonly id: number };
  const answer = async (call: Call, send: (call: object) => Promise<{ result?: unknown }>) => {
    const { method, params, id } = call;
    const isNamed = method === 'eth_getLogs' || (method === 'eth_getBlockByNumber' && params[0] !== 'latest');
    if (!isNamed) return send(call);
    const known = Number(await world.client.getBlockNumber()) - (lags[next++ % lags.length] ?? 0);
    if (method === 'eth_getBlockByNumber') {
      const isMissing = !isSilent && Number(params[0]) > known;
      return isMissing ? { jsonrpc: '2.0', id, result: null } : send(call);
    }
    const [{ toBlock }] = params as [{ toBlock: string }];
    if (!isSilent && Number(toBlock) > known) {
      return { jsonrpc: '2.0', id, error: { code: -32000, message: 'block range extends beyond current head block' } };
    }
    const { result } = await send(call);
    const logs = (result as { blockNumber: string }[]).filter(({ blockNumber }) => Number(blockNumber) <= known);
    return { jsonrpc: '2.0', id, result: logs };
  };
  return async (input, init) => {
    const sent = JSON.parse(String(init?.body));
    const send = async (call: object) => (await fetch(input, { ...init, body: JSON.stringify(call) })).json();
    if (!Array.isArray(sent)) return Response.json(await answer(sent, send));
    const answers: unknown[] = [];
    for (const call of sent) answers.push(await answer(call, send));
    return Response.json(answers);
  };
}

const DEFAULT_CONFIRMATION_SEC = 24;

/** Events of a chain with so many blocks a second, read by an indexer every 15 s. */
export function createLife(world: World, { db }: MigratedDatabase, blocksPerSec: number) {
  let nowMs = 0;
  const run = async () => indexer?.run(signal);
  let indexer: ReturnType<typeof newIndexer> | undefined;
  const start = (node: typeof fetch | readonly (typeof fetch)[], confirmationSec = DEFAULT_CONFIRMATION_SEC) => {
    const nodes = [node].flat() as readonly (typeof fetch)[];
    indexer = newIndexer(world, db, { nodes, nowMs: () => nowMs, logRange: 10_000, confirmationSec });
  };
  const pass = async (seconds: number) => {
    const { client } = world;
    let { timestamp } = await client.getBlock();
    for (let passed = 0; passed < seconds; passed += 1) {
      timestamp += 1n;
      await client.setNextBlockTimestamp({ timestamp });
      await client.mine({ blocks: blocksPerSec });
    }
    nowMs = Number(timestamp) * 1_000;
  };
  const suppliedOf = (events: Awaited<ReturnType<typeof stored>>['events']) =>
    events.filter(({ event }) => event === 'CollateralSupplied').length;
  return {
    start,
    pass,
    run: async () => (await run())?.correctedBlocks ?? 0,
    /** An event every 5 s for a minute and a half. Returns the number of runs that failed. */
    async live(): Promise<number> {
      let failures = 0;
      await pass(1);
      for (let round = 0; round < 6; round += 1) {
        for (let i = 0; i < 3; i += 1) {
          await actions(world).supply(BigInt(1 + i));
          await pass(5);
        }
        await run().catch(() => {
          failures += 1;
        });
      }
      return failures;
    },
    supplied: async () => suppliedOf((await stored(db)).events),
    async expectEvery(): Promise<void> {
      const { events } = await stored(db);
      expect(suppliedOf(events)).toBe(18);
      await clear(db);
      start(fetch, 0);
      await run();
      expect(events).toEqual((await stored(db)).events);
    },
  };
}
