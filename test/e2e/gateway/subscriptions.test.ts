import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import type { App } from '../../../src/app/start-and-stop.ts';
import { whyNoRedis } from '../../snapshot/redis-server.ts';
import { type Cluster, eventually, startCluster } from '../../support/process/cluster.ts';
import { startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { PARTNER } from '../../support/service.ts';
import { type EventStream, subscribe } from '../../support/sse.ts';

const skipped = whyNoRedis();

const STRATEGIES = `subscription ($chainIds: [ChainId!], $filter: StrategyFilter, $since: [ChainVersion!]) {
  strategyChanged(chainIds: $chainIds, filter: $filter, since: $since) {
    chain { chainId } version complete changed { id: strategyId liquidityUsd freshness { borrow { staleForSec } } } removed: removedStrategyIds
  }
}`;
const FRESHNESS = `subscription {
  freshnessChanged(chainIds: [1]) { ready groups { group freshness { status } failing { reason } } }
}`;
const POSITIONS = `subscription ($address: Address!) {
  walletChanged(address: $address, chainIds: [1]) {
    chain { chainId } version asOf stale missingChain { chainId reason message }
    reading { id address chainIds positions { nodes { id debtAmount } } }
  }
}`;
const ALL_ON_ONE = { chainIds: [1], filter: { listedOnly: false } };
const ALL_ON_BOTH = { filter: { listedOnly: false } };

describe.skipIf(skipped !== null)(skipped ?? 'subscriptions across processes', () => {
  let cluster: Cluster;
  let warmer: App;
  let api: App;
  let other: App;
  const streams: EventStream[] = [];
  beforeAll(async () => {
    cluster = await startCluster();
    warmer = await cluster.launch({ ROLE: 'warmer' });
    await warmer.warmed;
    api = await cluster.launch({ ROLE: 'api', METRICS_PORT: '0' });
    other = await cluster.launch({ ROLE: 'api' });
  });
  afterAll(async () => {
    await Promise.all(streams.map((stream) => stream.close()));
    await cluster.stop();
  });
  const open = async (query: string, variables = {}, at = api): Promise<EventStream> => {
    const stream = await subscribe(at.url, query, variables);
    streams.push(stream);
    return stream;
  };
  /** Supply to the first market of a chain, and run the warmer. Returns the market's id. */
  const supply = async (chainId = 1): Promise<string> => {
    const chain = cluster.world.chains.on(chainId);
    const market = chain.chain.markets.find(({ kind }) => kind === 'loop');
    if (!market) throw new Error('no market');
    await chain.supply(market, 50_000n * 10n ** BigInt(market.loan.decimals));
    await warmer.warmers.refresh(`lending-state:${chainId}`);
    return market.id;
  };
  const changeOf = async (stream: EventStream) => (await stream.next()).data.strategyChanged;
  const ids = (change: { changed: readonly { id: string }[] }) => change.changed.map(({ id }) => id);
  const openFeeds = async (): Promise<string | undefined> => {
    const text = await (await fetch(`${api.metricsUrl}/metrics`)).text();
    return /^spiral_subscriptions_open\{field="strategyChanged"\} (\d+)$/m.exec(text)?.[1];
  };

  /** A client may have ten streams open. */
  const closeAll = async (): Promise<void> => {
    await Promise.all(streams.splice(0).map((stream) => stream.close()));
    await eventually(openFeeds, (count) => count === undefined || count === '0');
  };

  test('default: sends everything first, then only the changes of another process', async () => {
    const stream = await open(STRATEGIES, ALL_ON_ONE);
    const first = await changeOf(stream);
    expect(first).toMatchObject({ chain: { chainId: 1 }, complete: true, removed: [] });
    expect(first.changed.length).toBeGreaterThan(10);
    const id = await supply();
    const second = await changeOf(stream);
    expect(second).toMatchObject({ complete: false, removed: [] });
    expect(second.version).toBeGreaterThan(first.version);
    expect(ids(second)).toContain(id);
    const liquidity = ({ changed }: typeof first) => changed.find((row: { id: string }) => row.id === id).liquidityUsd;
    expect(Number(liquidity(second))).toBeGreaterThan(Number(liquidity(first)));
  });

  test('behavior: a returning reader with its version gets only the difference', async () => {
    const before = await open(STRATEGIES, ALL_ON_ONE);
    const { version } = await changeOf(before);
    await before.close();
    const keeper = await open(STRATEGIES, ALL_ON_ONE);
    await changeOf(keeper);
    const id = await supply();
    await changeOf(keeper);
    const back = await open(STRATEGIES, { ...ALL_ON_ONE, since: [{ chainId: 1, version }] });
    const change = await changeOf(back);
    expect(change.complete).toBe(false);
    expect(ids(change)).toContain(id);
  });

  test('behavior: an unknown version gets everything', async () => {
    const stream = await open(STRATEGIES, { ...ALL_ON_ONE, since: [{ chainId: 1, version: 1 }] }, other);
    expect(await changeOf(stream)).toMatchObject({ complete: true });
  });

  test('behavior: an event is sent only when a selected field has changed, with the entries that have', async () => {
    await closeAll();
    const only = (fields: string) =>
      `subscription ($chainIds: [ChainId!], $filter: StrategyFilter) { strategyChanged(chainIds: $chainIds, filter: $filter) { version complete changed { id: strategyId ${fields} } } }`;
    const liquidity = await open(only('liquidityUsd supplyUsd'), ALL_ON_ONE);
    const limits = await open(only('ltvLimits { maxPct } freshness { borrow { asOf } }'), ALL_ON_ONE);
    const versions = await open('subscription { strategyChanged(chainIds: [1]) { version } }');
    for (const stream of [liquidity, limits, versions]) await changeOf(stream);
    const quiet = limits.next();
    const id = await supply();
    const change = await changeOf(liquidity);
    expect(ids(change)).toEqual([id]);
    expect((await changeOf(versions)).version).toBe(change.version);
    // The stream of the limits has not sent anything since: its next event is that of a closing process.
    const raced = await Promise.race([quiet, Promise.resolve('nothing yet')]);
    expect(raced).toBe('nothing yet');
  });

  test('behavior: a reader that reconnects with the id of its last event gets only the differences', async () => {
    await closeAll();
    const fields = '{ version complete changed { id: strategyId liquidityUsd } }';
    const query = `subscription ($chainIds: [ChainId!], $filter: StrategyFilter) { strategyChanged(chainIds: $chainIds, filter: $filter) ${fields} }`;
    const back = async (id: string | undefined, at = api, text = query) => {
      const stream = await subscribe(at.url, text, ALL_ON_ONE, { 'last-event-id': id ?? '' });
      streams.push(stream);
      return stream;
    };
    const first = await open(query, ALL_ON_ONE);
    const all = await changeOf(first);
    const seen = first.lastId();
    expect(seen).toMatch(/^1\.\d+\.\d+\.[\w-]{16}$/);
    await first.close();
    // Nothing has changed: the first event is the next change, on the same process and on another one.
    const [same, elsewhere] = [await back(seen), await back(seen, other)];
    const waiting = [same.next(), elsewhere.next()];
    const id = await supply();
    for (const event of await Promise.all(waiting)) {
      expect(event.data.strategyChanged.complete).toBe(false);
      expect(ids(event.data.strategyChanged)).toEqual([id]);
    }
    // It has changed meanwhile: the difference where the version is known, else everything.
    expect(ids(await changeOf(await back(seen)))).toEqual([id]);
    // The same number from before a restart, of another time: nothing of it is known.
    const [, version = '', publishedMs = ''] = (first.lastId() ?? '').split('.');
    const restarted = `1.${version}.${Number(publishedMs) - 60_000}.AAAAAAAAAAAAAAAA`;
    for (const foreign of [restarted, '1.999999.0.AAAAAAAAAAAAAAAA', 'not an id', 'x'.repeat(5_000)]) {
      const stream = await back(foreign);
      const change = await changeOf(stream);
      expect([change.complete, change.changed.length]).toEqual([true, all.changed.length]);
      await stream.close();
    }
    // The id of another selection tells nothing about this one, but its version does.
    const other2 = query.replace('liquidityUsd', 'liquidityUsd borrowApyPct');
    expect((await changeOf(await back(seen, api, other2))).complete).toBe(false);
    await closeAll();
  });

  test('behavior: both chains in one stream, each with its own version', async () => {
    const stream = await open(STRATEGIES, ALL_ON_BOTH);
    const first = [await changeOf(stream), await changeOf(stream)];
    expect(first.map(({ chain }) => chain.chainId)).toEqual([1, 4663]);
    const id = await supply(4663);
    const change = await changeOf(stream);
    expect(change.chain.chainId).toBe(4663);
    expect(ids(change)).toContain(id);
  });

  test('behavior: reports freshness when a source fails and recovers', async () => {
    const stream = await open(FRESHNESS);
    const statusOf = async () => {
      const { groups } = (await stream.next()).data.freshnessChanged;
      return groups.find(({ group }: { group: string }) => group === 'INCENTIVES').freshness.status;
    };
    expect(await statusOf()).toBe('FRESH');
    cluster.world.upstreams.faults.set('merkl', { kind: 'status', status: 400 });
    await warmer.warmers.refresh('incentives:1');
    expect(await statusOf()).toBe('FAILING');
    cluster.world.upstreams.faults.clear('merkl');
    await warmer.warmers.refresh('incentives:1');
    expect(await statusOf()).toBe('FRESH');
  });

  test('behavior: sends a wallet at once and after a change of its position; requires a key', async () => {
    const { account } = seededWallet('looper');
    const variables = { address: account.address };
    const refused = await open(POSITIONS, variables);
    expect((await refused.next()).errors[0].extensions.code).toBe('unauthorized');
    const stream = await subscribe(api.url, POSITIONS, variables, PARTNER);
    streams.push(stream);
    const first = (await stream.next()).data.walletChanged;
    const { address } = account;
    expect(first).toMatchObject({
      chain: { chainId: 1 },
      stale: false,
      missingChain: null,
      reading: { address, chainIds: [1] },
    });
    expect(first.reading.positions.nodes).toHaveLength(4);
    const chain = cluster.world.chains.on(1);
    // Interest of a minute and a half: a block further ahead of the processes' clocks would be refused.
    await chain.increaseTime(90);
    await warmer.warmers.refresh('lending-state:1');
    const second = (await stream.next()).data.walletChanged;
    const debtOf = ({ reading }: { reading: { positions: { nodes: { debtAmount: string }[] } } }) =>
      Number(reading.positions.nodes[0]?.debtAmount);
    expect(debtOf(second)).toBeGreaterThan(debtOf(first));
    expect([second.reading.id, second.version > first.version, second.asOf > first.asOf]).toEqual([
      first.reading.id,
      true,
      true,
    ]);
  });

  test('behavior: a wallet whose chain cannot be read is stale with its last reading, and recovers', async () => {
    const proxy = await startRpcProxy(cluster.world.chains.on(1).rpcUrl);
    const alone = await cluster.launch({ ROLE: 'api', RPC_URL_1: proxy.url });
    const { address } = seededWallet('looper').account;
    const changeOfWallet = async (stream: EventStream) => (await stream.next()).data.walletChanged;
    const stream = await subscribe(alone.url, POSITIONS, { address }, PARTNER);
    streams.push(stream);
    const first = await changeOfWallet(stream);
    expect(first).toMatchObject({ stale: false, missingChain: null });

    proxy.set({ kind: 'down' });
    await supply();
    const during = await changeOfWallet(stream);
    expect(during).toMatchObject({
      chain: { chainId: 1 },
      stale: true,
      asOf: first.asOf,
      missingChain: { chainId: 1, reason: 'UPSTREAM_UNAVAILABLE', message: expect.any(String) },
    });
    expect(during.version).toBeGreaterThan(first.version);
    // The last read holdings with their age: the same object, so that client caches do not change.
    expect(during.reading).toEqual(first.reading);

    // A client that reconnects meanwhile has no last reading here.
    const back = await subscribe(alone.url, POSITIONS, { address }, PARTNER);
    streams.push(back);
    expect(await changeOfWallet(back)).toMatchObject({
      stale: true,
      asOf: null,
      reading: null,
      version: during.version,
      missingChain: { reason: 'UPSTREAM_UNAVAILABLE' },
    });

    proxy.set({ kind: 'pass' });
    await supply();
    const after = [await changeOfWallet(stream), await changeOfWallet(back)];
    for (const change of after) {
      expect(change).toMatchObject({ stale: false, missingChain: null, reading: { id: first.reading.id } });
      expect([change.version > during.version, change.asOf >= first.asOf]).toEqual([true, true]);
    }
    // A returning reader gets the holdings as they are, whole.
    const again = await subscribe(alone.url, POSITIONS, { address }, PARTNER);
    streams.push(again);
    expect((await changeOfWallet(again)).reading).toEqual(after[1].reading);
    await proxy.stop();
  });

  test('behavior: heartbeats keep a quiet stream open', async () => {
    const stream = await open(STRATEGIES, ALL_ON_ONE);
    await changeOf(stream);
    const next = stream.next();
    await eventually(
      () => stream.heartbeats(),
      (beats) => beats > 2,
    );
    await supply();
    expect((await next).data.strategyChanged.complete).toBe(false);
  });

  test('behavior: removes a closed subscription', async () => {
    await Promise.all(streams.splice(0).map((stream) => stream.close()));
    await eventually(openFeeds, (count) => count === '0');
    const stream = await open(STRATEGIES, ALL_ON_ONE);
    await changeOf(stream);
    expect(await openFeeds()).toBe('1');
    await stream.close();
    await eventually(openFeeds, (count) => count === '0');
  });

  test('error: bad_request for a chain that is not served', async () => {
    const stream = await open(STRATEGIES, { chainIds: [5] });
    expect((await stream.next()).errors[0].extensions.code).toBe('bad_request');
  });

  test('error: rate_limited beyond the subscriptions of a process', async () => {
    const small = await cluster.launch({ ROLE: 'api', MAX_SUBSCRIPTIONS: '1' });
    const first = await open(STRATEGIES, ALL_ON_ONE, small);
    await changeOf(first);
    const second = await open(STRATEGIES, ALL_ON_ONE, small);
    expect((await second.next()).errors[0].extensions).toMatchObject({ code: 'rate_limited', retryable: true });
  });

  test('behavior: a stopping process completes its streams, without a warning of Node', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    try {
      const leaving = await cluster.launch({ ROLE: 'api' });
      const stream = await open(STRATEGIES, ALL_ON_ONE, leaving);
      await changeOf(stream);
      await leaving.stop();
      expect(await stream.next()).toBeNull();
      expect(warnings.map(({ message }) => message)).toEqual([]);
    } finally {
      process.off('warning', note);
    }
  });
});
