import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { marketByKey } from '../../../devnet/chain/seed-plans.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { type App, createApp } from '../../../src/app/start-and-stop.ts';
import { createConfig } from '../../../src/config/config.ts';
import { silentLogger } from '../../../src/shared/logger.ts';
import { systemTimers } from '../../../src/shared/timers.ts';
import { startTracing, type Tracing } from '../../../src/telemetry/tracing.ts';
import { type Cluster, startCluster } from '../../support/process/cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ redis: false });
});
afterAll(() => cluster.stop());

describe('/metrics', () => {
  let app: App;
  beforeAll(async () => {
    app = await cluster.launch({ METRICS_PORT: '0', RATE_LIMIT_ANONYMOUS: '200' });
    await app.warmed;
  });
  afterAll(() => app.stop());
  const metrics = async (): Promise<string> => (await fetch(`${app.metricsUrl}/metrics`)).text();
  const value = async (series: string): Promise<number> => {
    const line = (await metrics()).split('\n').find((candidate) => candidate.startsWith(`${series} `));
    return line === undefined ? Number.NaN : Number(line.split(' ').at(-1));
  };

  test('behavior: a separate port serves only them', async () => {
    expect((await fetch(`${app.url}/metrics`)).status).toBe(404);
    expect((await fetch(`${app.metricsUrl}/v1/strategies`)).status).toBe(404);
    expect((await fetch(`${app.metricsUrl}/metrics`)).headers.get('content-type')).toContain('text/plain');
  });

  test('default: covers requests, providers, chains, warmers, facts, statements and the event loop', async () => {
    await fetch(`${app.url}/v1/strategies`);
    expect(await value('spiral_http_requests_total{route="/v1/strategies",method="GET",status="200"}')).toBe(1);
    expect(await value('spiral_http_request_duration_seconds_count{route="/v1/strategies"}')).toBe(1);
    expect(await value('spiral_upstream_calls_total{provider="coingecko",outcome="ok"}')).toBeGreaterThan(0);
    expect(await value('spiral_rpc_requests_total{chain_id="1",node="1",outcome="ok"}')).toBeGreaterThan(0);
    expect(await value('spiral_node_up{chain_id="1",node="1"}')).toBe(1);
    expect(await value('spiral_node_block_time_seconds{chain_id="1",node="1"}')).toBeGreaterThan(0);
    expect(await value('spiral_node_readings_total{chain_id="1",node="1"}')).toBeGreaterThan(0);
    expect(await value('spiral_node_capability{chain_id="1",node="1",capability="simulate_v1"}')).toBe(1);
    expect(await value('spiral_warmer_runs_total{warmer="prices",outcome="ok"}')).toBeGreaterThan(0);
    expect(await value('spiral_facts_items{chain_id="1",group="lendingState",source=""}')).toBeGreaterThan(10);
    expect(await value('spiral_facts_age_seconds{chain_id="1",group="price",source=""}')).toBeLessThan(600);
    expect(await value('spiral_snapshot_changes_total{chain_id="1",group="price"}')).toBeGreaterThan(0);
    expect(await value('spiral_database_queries_total{outcome="ok"}')).toBeGreaterThan(0);
    expect(await value('spiral_ready{chain_id="1"}')).toBe(1);
    await app.warmers.refresh('alerts');
    await app.warmers.refresh('alert-outbox');
    expect(await value('spiral_alert_evaluation_duration_seconds_count{chain_id="1"}')).toBeGreaterThan(0);
    expect(await value('spiral_alert_dead_letters')).toBeGreaterThanOrEqual(0);
    expect(await value('spiral_alert_delivery_delay_seconds')).toBeGreaterThanOrEqual(0);
    expect(await value('spiral_snapshot_persisted')).toBe(1);
    expect(await value('spiral_event_loop_delay_seconds{quantile="0.99"}')).toBeGreaterThanOrEqual(0);
  });

  test('behavior: metrics count requests, answers, choices and refusals of swap venues', async () => {
    const market = marketByKey(cluster.world.chains.on(1).chain, 'sUSDe/PYUSD 91.5');
    const post = async (path: string, key: string, body: unknown) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
      return (await fetch(`${app.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    };
    const requested = { strategyId: market.id, payToken: market.collateral.address, amount: '100', leverage: 3 };
    const noRoute = { code: 400, error: 'not find route' };
    cluster.world.upstreams.faults.set('openocean', { kind: 'answer', status: 400, body: noRoute });
    await post('/v1/partner/leverage/simulate', 'local-partner', requested);
    cluster.world.upstreams.faults.set('openocean', { kind: 'unauthorized' });
    await post('/v1/partner/leverage/simulate', 'local-partner', requested);
    cluster.world.upstreams.faults.clear('openocean');
    const reported = (venue: string, outcome: string) =>
      value(`spiral_swap_quotes_total{chain_id="1",venue="${venue}",outcome="${outcome}"}`);
    expect(await reported('AggregatorOne', 'quoted')).toBe(2);
    expect(await reported('AggregatorOne', 'chosen')).toBe(2);
    expect(await reported('AggregatorTwo', 'no_route')).toBe(1);
    expect(await reported('AggregatorTwo', 'rejected')).toBe(1);
  });

  test('behavior: a failing provider shows in its calls, its warmer and its items', async () => {
    cluster.world.upstreams.faults.set('merkl', { kind: 'status', status: 400 });
    await app.warmers.refresh('incentives:1');
    cluster.world.upstreams.faults.clear('merkl');
    expect(await value('spiral_upstream_calls_total{provider="merkl",outcome="rejected"}')).toBeGreaterThan(0);
    expect(await value('spiral_warmer_runs_total{warmer="incentives:1",outcome="failed"}')).toBe(1);
    expect(await value('spiral_facts_items_at_last_good{chain_id="1",group="incentives",source=""}')).toBeGreaterThan(
      0,
    );
    await app.warmers.refresh('incentives:1');
  });

  test('behavior: an oracle far from the price shows in the warnings and in the affected part of the TVL', async () => {
    const local = cluster.world.chains.on(1);
    const market = marketByKey(local.chain, 'weETH/WETH 94.5');
    const warned = 'spiral_markets_with_warning{chain_id="1",code="oracle_divergence"}';
    const divergent = 'spiral_tvl_divergent_usd{chain_id="1"}';
    expect([await value(warned), await value(divergent)]).toEqual([0, 0]);
    const price = await local.oraclePrice(market);
    await local.setOraclePrice(market, price * 2n);
    for (const name of ['lending-state:1', 'tvl:1']) await app.warmers.refresh(name);
    expect(await value(warned)).toBe(1);
    expect(await value(divergent)).toBeGreaterThan(0);
    expect(await value(divergent)).toBeLessThan(await value('spiral_tvl_gross_usd{chain_id="1"}'));
    await local.setOraclePrice(market, price);
    for (const name of ['lending-state:1', 'tvl:1']) await app.warmers.refresh(name);
    expect([await value(warned), await value(divergent)]).toEqual([0, 0]);
  });

  test('behavior: no request can create a label', async () => {
    const before = (await metrics()).split('\n').length;
    for (let i = 0; i < 40; i++) {
      await fetch(`${app.url}/v1/nothing-${i}`, { method: i % 2 === 0 ? 'GET' : 'DELETE' });
      await fetch(`${app.url}/v1/strategies/0x${String(i).padStart(64, '0')}`);
      await fetch(`${app.url}/graphql?query=query+Name${i}{chains{chainId}}`);
    }
    const text = await metrics();
    expect(text).not.toMatch(/nothing-|Name\d|0x0000/);
    // Three routes with their statuses and buckets, refusals included, however many requests there were.
    expect(text.split('\n').length - before).toBeLessThan(120);
  });

  test('behavior: 1,500 guessed keys query Postgres at most as often as their address has points', async () => {
    const before = await value('spiral_database_queries_total{outcome="ok"}');
    const statuses = new Set<number>();
    for (let i = 0; i < 1_500; i += 100) {
      const guesses = Array.from({ length: 100 }, (_, n) => {
        const authorization = `Bearer sg_partner_${String(i + n).padStart(8, 'a')}_${'S'.repeat(43)}`;
        return fetch(`${app.url}/v1/ops/drift-history`, { headers: { authorization } });
      });
      for (const { status } of await Promise.all(guesses)) statuses.add(status);
    }
    expect([...statuses].sort()).toEqual([401, 429]);
    expect(await value('spiral_key_checks_total{outcome="refused"}')).toBeGreaterThan(0);
    // A budget of 200, twice if its window ends meanwhile, and the requests of warmers.
    expect((await value('spiral_database_queries_total{outcome="ok"}')) - before).toBeLessThan(500);
  });

  test('behavior: a reading of what to do about a position counts each way by its outcome', async () => {
    const { address } = seededWallet('speculator').account;
    const answer = await fetch(`${app.url}/v1/partner/positions/${address}/1/deleverage-options`, {
      headers: { authorization: 'Bearer local-partner' },
    });
    const { options } = (await answer.json()) as {
      options: { action: string; unavailable: { code: string } | null }[];
    };
    expect(options).toHaveLength(3);
    for (const { action, unavailable } of options) {
      const labels = `verb="deleverage ${action}",outcome="${unavailable?.code ?? 'ok'}"`;
      expect([action, await value(`spiral_transaction_builds_total{${labels}}`)]).toEqual([action, 1]);
    }
    expect(await value('spiral_transaction_builds_total{verb="leverage deleverage options",outcome="ok"}')).toBe(1);
  });

  test('default: /health is compressed and has an entity tag', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    const first = await fetch(`${app.url}/health`, { headers });
    expect([first.status, first.headers.get('content-encoding')]).toEqual([200, 'gzip']);
    expect(first.headers.get('vary')).toContain('accept-encoding');
    expect(((await first.json()) as { chains: unknown[] }).chains.length).toBeGreaterThan(0);
    const etag = first.headers.get('etag') ?? '';
    const again = await fetch(`${app.url}/health`, { headers: { ...headers, 'if-none-match': etag } });
    // Ages are part of it: the same bytes within a second, others after it.
    expect(etag).not.toBe('');
    if (again.headers.get('etag') === etag) expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test('behavior: /health and /ready have no limit', async () => {
    const statuses = new Set<string>();
    for (let i = 0; i < 20; i += 1) {
      const asked = Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? '/health' : '/ready'));
      const answers = await Promise.all(asked.map(async (path) => `${path} ${(await fetch(app.url + path)).status}`));
      for (const answer of answers) statuses.add(answer);
    }
    expect([...statuses].sort()).toEqual(['/health 200', '/ready 200']);
  });

  test('behavior: counts refusals by limit', async () => {
    for (let i = 0; i < 210; i++) await fetch(`${app.url}/v1/nothing`);
    expect(await value('spiral_limiter_refusals_total{limiter="client anonymous"}')).toBeGreaterThan(0);
  });
});

describe('startTracing', () => {
  const exporter = new InMemorySpanExporter();
  let tracing: Tracing;
  let app: App;
  beforeAll(async () => {
    tracing = startTracing({
      endpoint: 'http://127.0.0.1:1',
      sampleRatio: 1,
      role: 'all',
      processor: new SimpleSpanProcessor(exporter),
    });
    const settings = { NODE_ENV: 'test', PORT: '0', SNAPSHOT_FILE: `${cluster.snapshotFile}.traced` };
    app = createApp({
      config: createConfig(settings, cluster.world.overrides),
      logger: silentLogger,
      clock: { now: () => Date.now() },
      timers: systemTimers,
      random: () => 0.5,
      fetch: globalThis.fetch,
      tracing,
    });
    await app.start();
    await app.warmed;
    exporter.reset();
  });
  afterAll(async () => {
    await app.stop();
    await tracing.stop();
  });
  const spanOf = (trace: string, name: string): ReadableSpan | undefined =>
    exporter.getFinishedSpans().find((span) => span.spanContext().traceId === trace && span.name === name);

  test('default: one trace from the request through its resolver to the provider', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const response = await fetch(`${app.url}/v1/prices/chart?coinId=ethereum`, {
      headers: { traceparent: `00-${trace}-b7ad6b7169203331-01`, 'x-correlation-id': 'traced-request' },
    });
    expect(response.headers.get('x-correlation-id')).toBe('traced-request');
    await response.arrayBuffer();
    const [request, resolver, provider] = [
      spanOf(trace, 'GET /v1/prices/chart'),
      spanOf(trace, 'resolve Query.priceChart'),
      spanOf(trace, 'GET coingecko'),
    ];
    expect(request?.attributes).toMatchObject({
      'http.route': '/v1/prices/chart',
      'spiral.correlation_id': 'traced-request',
    });
    expect(resolver?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
    expect(provider?.parentSpanContext?.spanId).toBe(resolver?.spanContext().spanId);
  });

  test('behavior: warmers have spans too, and no span contains a URL or a query', async () => {
    await app.warmers.refresh('lending-state:1');
    const spans = exporter.getFinishedSpans();
    expect(spans.some(({ name }) => name === 'POST chain 1')).toBe(true);
    const shown = JSON.stringify(spans.map(({ name, attributes }) => [name, attributes]));
    expect(shown).not.toMatch(/https?:|\?/);
  });
});
