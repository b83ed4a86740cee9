import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededWallet } from '../../devnet/seed/wallets.ts';
import {
  type Client,
  createClient,
  InvalidAnswerError,
  InvalidRequestError,
  type LiveState,
  NotFoundError,
  type StrategyChange,
  UnauthorizedError,
} from '../../packages/client/src/index.ts';
import type { Timers } from '../../src/shared/timers.ts';
import { type Json, noSleep, startService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;
let ops: Client;
const bare = () => createClient({ baseUrl: service.url });
beforeAll(async () => {
  // The service gathers changes for a moment before it sends them; no other timer fires.
  const timers: Timers = {
    setTimeout: (callback, ms) => (ms > 200 ? null : setTimeout(callback, ms)),
    clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
  };
  service = await startService({ sleep: noSleep, timers });
  service.clock.hold();
  client = createClient({ baseUrl: service.url, apiKey: 'local-partner' });
  ops = createClient({ baseUrl: service.url, apiKey: 'local-ops' });
});
afterAll(() => service?.stop());

describe('rows', () => {
  test('default: every documented row is a method, and answers its documented examples', async () => {
    const { body: document } = await service.get('/openapi.json');
    const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Json>(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    expect(operations.length).toBeGreaterThan(20);
    const calls = operations.flatMap(({ path, operation }) =>
      inputsOf(operation).map((input) => ({
        caller: path.startsWith('/v1/partner/') ? client : ops,
        operation,
        input,
      })),
    );
    // Deletions come last: other examples name the same objects.
    calls.sort((a, b) => Number(isDeletion(a.operation)) - Number(isDeletion(b.operation)));
    for (const { caller, operation, input } of calls) {
      const method = (caller as unknown as Json)[operation.operationId];
      expect(method, operation.operationId).toBeTypeOf('function');
      await expect(method(input), `${operation.operationId} ${JSON.stringify(input)}`).resolves.toBeTypeOf('object');
    }
    const called = new Set(calls.map(({ operation }) => operation.operationId));
    expect(operations.map(({ operation }) => operation.operationId).filter((id) => !called.has(id))).toEqual([]);
  });

  test('default: reads are typed, from the list to one strategy', async () => {
    const { strategies, count } = await client.strategies({ chainId: 1 });
    expect(count).toBe(strategies.length);
    const [first] = strategies;
    if (first === undefined) throw new Error('no strategy is listed');
    const one = await client.strategy(first.id);
    expect(one.defaultLeverage).toEqual(first.defaultLeverage);
  });

  test('behavior: an unchanged answer is not sent twice', async () => {
    const statuses: number[] = [];
    const counting = createClient({
      baseUrl: service.url,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        statuses.push(response.status);
        return response;
      },
    });
    const first = await counting.strategies();
    expect(await counting.strategies()).toEqual(first);
    expect(statuses).toEqual([200, 304]);
  });

  test('error: each refusal has its class', async () => {
    const unknown = `0x${'1'.repeat(64)}`;
    await expect(bare().walletPositions({ address: `0x${'1'.repeat(40)}` })).rejects.toThrow(UnauthorizedError);
    await expect(client.strategy(unknown)).rejects.toThrow(NotFoundError);
    await expect(client.strategy('0x1')).rejects.toMatchObject({
      code: 'bad_request',
      status: 400,
      requestId: expect.any(String),
      details: { field: 'path.id', value: '0x1' },
    });
    await expect(client.strategy('0x1')).rejects.toThrow(InvalidRequestError);
  });
});

describe('pages', () => {
  test('default: every entry once, in the order of one large page', async () => {
    const filter = { listedOnly: false };
    const [all] = await firstOf(bare().strategyPages({ filter, pageSize: 100 }), 1);
    const seen: string[] = [];
    const sizes: number[] = [];
    for await (const { nodes, totalCount, errors } of bare().strategyPages({ filter, pageSize: 7 })) {
      expect([totalCount, errors]).toEqual([all?.totalCount, []]);
      sizes.push(nodes.length);
      seen.push(...nodes.map(({ strategyId }) => strategyId));
    }
    expect(seen).toEqual(all?.nodes.map(({ strategyId }) => strategyId));
    expect(new Set(seen).size).toBe(all?.totalCount);
    expect(sizes.slice(0, -1).every((size) => size === 7)).toBe(true);
  });

  test('default: markets, tokens and positions', async () => {
    const { account } = seededWallet('looper');
    const first = async (items: AsyncIterable<unknown>) => (await firstOf(items, 1))[0];
    expect(
      await first(
        bare()
          .marketPages({ chainIds: [4663] })
          .items(),
      ),
    ).toMatchObject({ chainId: 4663 });
    expect(await first(bare().tokenPages({}).items())).toMatchObject({ symbol: expect.any(String) });
    const positions = await firstOf(client.positionPages({ address: account.address, pageSize: 1 }).items(), 3);
    expect(new Set(positions.map(({ positionId }) => positionId)).size).toBe(3);
  });

  test('error: UnauthorizedError without a key, InvalidRequestError for a page that is too large', async () => {
    const { account } = seededWallet('looper');
    await expect(firstOf(bare().positionPages({ address: account.address }), 1)).rejects.toThrow(UnauthorizedError);
    await expect(firstOf(bare().strategyPages({ pageSize: 100_000 }), 1)).rejects.toThrow(InvalidRequestError);
  });

  test('error: InvalidAnswerError for a list that never moves on', async () => {
    const page = { totalCount: 1, pageInfo: { hasNextPage: true, endCursor: 'a' }, nodes: [] };
    const lying = createClient({
      baseUrl: 'http://service.test',
      fetch: async () => Response.json({ data: { markets: page } }),
    });
    await expect(firstOf(lying.marketPages(), 9)).rejects.toThrow(InvalidAnswerError);
  });
});

describe('live', () => {
  // Changes are gathered by the clock.
  beforeAll(() => service.clock.release());

  /** Supply to a market of chain 1, and refresh the service. Returns the market's id. */
  const supply = async (): Promise<string> => {
    const chain = service.world.chains.on(1);
    const market = chain.chain.markets.find(({ kind }) => kind === 'loop');
    if (!market) throw new Error('no market');
    await chain.supply(market, 50_000n * 10n ** BigInt(market.loan.decimals));
    await service.refresh('lending-state:1');
    return market.id;
  };
  const next = async (changes: AsyncGenerator<StrategyChange>) => (await changes.next()).value as StrategyChange;
  const FILTER = { chainIds: [1], filter: { listedOnly: false } };

  test('default: everything first, then the changes', async () => {
    const changes = bare().live.strategies(FILTER);
    expect(await next(changes)).toMatchObject({ complete: true, chain: { chainId: 1 } });
    const id = await supply();
    const change = await next(changes);
    expect(change.complete).toBe(false);
    expect(change.changed.map(({ strategyId }) => strategyId)).toContain(id);
    await changes.return(undefined);
  });

  test('behavior: a broken connection resumes from the last version', async () => {
    const states: LiveState['kind'][] = [];
    const connections: AbortController[] = [];
    const bodies: Json[] = [];
    const breakable = createClient({
      baseUrl: service.url,
      wait: async () => {},
      fetch: (url, init) => {
        const connection = new AbortController();
        connections.push(connection);
        bodies.push(JSON.parse(String(init.body)).variables);
        init.signal?.addEventListener('abort', () => connection.abort());
        return fetch(url, { ...init, signal: connection.signal });
      },
    });
    const changes = breakable.live.strategies(FILTER, { onState: ({ kind }) => states.push(kind) });
    const { version } = await next(changes);
    connections[0]?.abort();
    const pending = next(changes);
    const id = await supply();
    const change = await pending;
    expect(bodies[1].since).toEqual([{ chainId: 1, version }]);
    expect(change).toMatchObject({ complete: false });
    expect(change.changed.map(({ strategyId }) => strategyId)).toContain(id);
    expect(states).toEqual(['connected', 'disconnected', 'connected']);
    await changes.return(undefined);
  });

  test('default: freshness, and a wallet with a key', async () => {
    const [health] = await firstOf(bare().live.freshness({ chainIds: [4663] }), 1);
    expect(health).toMatchObject({ chain: { chainId: 4663 }, ready: true });
    const { account } = seededWallet('looper');
    const [wallet] = await firstOf(client.live.wallet({ address: account.address, chainIds: [1] }), 1);
    expect(wallet?.reading?.positions.nodes.length).toBeGreaterThan(0);
    const refused = firstOf(bare().live.wallet({ address: account.address }), 1);
    await expect(refused).rejects.toThrow(UnauthorizedError);
  });

  test('behavior: the signal ends a stream, also while it waits to connect again', async () => {
    const reason = new Error('screen left');
    const abort = new AbortController();
    const changes = bare().live.strategies(FILTER, { signal: abort.signal });
    await next(changes);
    const pending = changes.next();
    abort.abort(reason);
    await expect(pending).rejects.toBe(reason);
    const down = createClient({ baseUrl: 'http://service.test', fetch: () => Promise.reject(new TypeError('down')) });
    const later = new AbortController();
    const waiting = down.live.strategies({}, { signal: later.signal, onState: () => later.abort(reason) });
    await expect(waiting.next()).rejects.toBe(reason);
  });

  test.each([
    ['a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } }), 'content_type'],
    ['an event that is no JSON', () => stream('event: next\ndata: {\n\n'), 'not_json'],
    ['an event of another field', () => stream('event: next\ndata: {"data":{"x":1}}\n\n'), 'shape'],
    ['an event without an end', () => stream(`data: ${'x'.repeat(9_000_000)}`), 'too_large'],
  ])('error: InvalidAnswerError for %s', async (_, answer, reason) => {
    const lying = createClient({ baseUrl: 'http://service.test', fetch: async () => answer() });
    await expect(lying.live.strategies().next()).rejects.toMatchObject({ code: 'invalid_answer', reason });
  });

  test('error: the last failure after maxFailures attempts', async () => {
    let attempts = 0;
    const silent = createClient({
      baseUrl: 'http://service.test',
      wait: async () => {},
      fetch: async () => {
        attempts += 1;
        return stream(': heartbeat\n\n');
      },
    });
    const changes = silent.live.freshness({}, { maxFailures: 3 });
    await expect(changes.next()).rejects.toMatchObject({ code: 'connection_failed' });
    expect(attempts).toBe(4);
  });
});

/** The inputs of an operation's examples: bodies, or parameters by name. */
const isDeletion = ({ operationId }: Json) => String(operationId).startsWith('delete');
function inputsOf({ parameters = [], requestBody }: Json): Json[] {
  const bodies = Object.values<Json>(requestBody?.content['application/json'].examples ?? {});
  if (bodies.length > 0) return bodies.map(({ value }) => value);
  const names = new Set(parameters.flatMap(({ examples = {} }: Json) => Object.keys(examples)));
  return [...(names.size === 0 ? [''] : names)].map((name) =>
    Object.fromEntries(
      parameters.flatMap(({ name: parameter, examples }: Json) => {
        const value = examples?.[String(name)]?.value;
        return value === undefined ? [] : [[parameter, value]];
      }),
    ),
  );
}

function stream(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

async function firstOf<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) {
    found.push(item);
    if (found.length === count) break;
  }
  return found;
}
