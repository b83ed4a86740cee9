import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createConfig, needsLocalWorld } from '../../src/config/config.ts';
import { type Env, envSchema } from '../../src/config/env.ts';
import { systemTimers, type Timers } from '../../src/shared/timers.ts';
import { SUSDE, SUSDE_PYUSD } from '../e2e/known.ts';
import { sendRequest } from '../support/http-client.ts';
import { type RpcProxy, startRpcProxy } from '../support/process/rpc-proxy.ts';
import { type Json, noSleep, OPS, PARTNER, startService, type TestService } from '../support/service.ts';

/*
 * Each setting of the environment changes something that a caller, an operator or a neighbour of the service can see. The parts
 * have tests of their own; this table shows that every setting reaches its part.
 */

type Name = keyof Env;

/** A setting whose effect another test shows, because it needs a process, a server or a failure of its own. */
const shownBy =
  (file: string) =>
  (name: Name): void =>
    expect([file, readFileSync(file, 'utf8').includes(name)]).toEqual([file, true]);
const CLI = shownBy('test/e2e/gateway/cli.sweep.test.ts');
const PROCESS = shownBy('test/config/settings-of-process.sweep.test.ts');

const numbered = Object.keys(envSchema.shape).filter((name) => /^(REFRESH|BUDGET)_/.test(name)) as Name[];
/** A value of its own for each cadence and budget, seconds. */
const secondsOf = (name: Name): number => 1_000 + 101 * (numbered.indexOf(name) + 1);

let shown: TestService;
let strict: TestService;
let folder: string;
const delaysMs = new Set<number>();
const timeoutsMs = new Set<number>();
const proxies: RpcProxy[] = [];

/** Timers that never fire and remember their delays. */
const recordedTimers: Timers = {
  setTimeout: (_callback, ms) => {
    delaysMs.add(ms);
    return null;
  },
  clearTimeout: () => {},
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'settings-'));
  for (const name of ['ca', 'cert', 'key']) await writeFile(join(folder, name), `${name} of Redis`);
  shown = await startService({
    sleep: noSleep,
    timers: recordedTimers,
    timeouts: {
      ...systemTimers,
      setTimeout: (callback, ms) => {
        timeoutsMs.add(ms);
        return systemTimers.setTimeout(callback, ms);
      },
    },
    env: {
      ...Object.fromEntries(numbered.map((name) => [name, String(secondsOf(name))])),
      HOST: '127.0.0.2',
      METRICS_PORT: '0',
      RPC_TIMEOUT_MS: '9871',
      UPSTREAM_TIMEOUT_MS: '9872',
      HISTORY_CONFIRMATION_SEC: '3',
      DATABASE_POOL_SIZE: '2',
      SNAPSHOT_FILE: join(folder, 'snapshot.json'),
      STABLEWATCH_API_KEY: 'key-of-stablewatch',
      ROYCO_API_KEY: 'key-of-royco',
      PENDLE_API_KEY: 'key-of-pendle',
      MERKL_API_KEY: 'key-of-merkl',
      MORPHO_API_KEY: 'key-of-morpho',
      UPSTREAM_LIMITS: 'ALL=1000000/minute GECKOTERMINAL=77/10s',
      OPENOCEAN_CHAIN_4663: 'robinhood',
      COINGECKO_API_KEY: 'key-of-coingecko',
      OPENOCEAN_API_KEY: 'key-of-openocean',
      APP_URL: 'https://app.example',
      FEE_RECEIVER: '0x00000000000000000000000000000000000000fe',
      TRUSTED_PROXIES: '1',
      RATE_LIMIT_ANONYMOUS: '611',
      RATE_LIMIT_PARTNER: '612',
      RATE_LIMIT_OPS: '613',
      ALERTS_PER_KEY: '1',
      ANSWER_CACHE_MB: '7',
      LISTING_MIN_DAYS_TO_MATURITY: '3650',
    },
    arrange: async (world) => {
      for (const chainId of [1, 4663]) proxies.push(await startRpcProxy(world.chains.on(chainId).rpcUrl));
      const [first, second] = proxies.map(({ url }) => url);
      return { RPC_URL_1: first ?? '', RPC_URL_4663: second ?? '' };
    },
  });
  strict = await startService({
    sleep: noSleep,
    env: {
      MERKL_POSITION_REWARDS: 'false',
      GRAPHIQL: 'false',
      INTROSPECTION: 'false',
      PERSISTED_ONLY_FOR_ANONYMOUS: 'true',
      CORS_ORIGINS: 'https://app.example',
      MCP_ORIGINS: 'https://agent.example',
      LISTING_MIN_LIQUIDITY_USD: '1000000000',
      BUDGET_ORACLE_FEED_SEC: '1',
      BUDGET_OPS_PORTFOLIOS_SEC: '7',
      HISTORY_REQUESTS_PER_MINUTE: '2',
      MAX_CONNECTIONS_PER_ADDRESS: '3',
      MAX_SUBSCRIPTIONS: '0',
      READY_CEILING_SEC: '60',
      REFRESH_PRICES_MIN_SEC: '12',
      ALERT_LOCAL_TARGETS: 'false',
      ALERT_DELIVERIES_PER_HOUR: '0',
    },
  });
});
afterAll(async () => {
  await shown?.stop();
  await strict?.stop();
  for (const proxy of proxies) await proxy.stop();
  await rm(folder, { recursive: true, force: true });
});

const groupsOf = async (service: TestService): Promise<readonly Json[]> =>
  (await service.get('/health')).body.chains.flatMap(({ groups }: Json) => groups);

/** A cadence: the next run is scheduled after it, a twentieth earlier at the most. */
const cadence = (name: Name): void => expect([...delaysMs]).toContain(secondsOf(name) * 950);
/** A freshness budget: /health states it. */
const budget = async (name: Name): Promise<void> =>
  expect((await groupsOf(shown)).map(({ budgetSec }) => budgetSec)).toContain(secondsOf(name));

/** A provider: it was asked, at the start or by a quote. */
const asked = (provider: Parameters<TestService['world']['upstreams']['requests']>[0]) => (): void =>
  expect(shown.world.upstreams.requests(provider).length).toBeGreaterThan(0);
/** A key: the provider received a header more than without one. */
const keyed = (provider: Parameters<typeof asked>[0], header: string) => (): void =>
  expect(shown.world.upstreams.requests(provider).at(0)?.headers).toContain(header);

const limitOf = async (headers: Record<string, string>): Promise<string | null> =>
  (await shown.get('/v1/tvl', headers)).headers.get('ratelimit-policy');
const preview = () =>
  shown.post(
    '/v1/partner/leverage/simulate',
    { strategyId: SUSDE_PYUSD, payToken: SUSDE, amount: '500', leverage: 3 },
    PARTNER,
  );
const build = (service: TestService, body: Json = {}) =>
  service.post(
    '/v1/partner/leverage/build',
    {
      strategyId: SUSDE_PYUSD,
      payToken: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
      amount: '500',
      leverage: 3,
      userAddress: '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955',
      ...body,
    },
    PARTNER,
  );
const alertTo = (webhookUrl: string) => ({
  chainId: 1,
  wallet: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  condition: 'headroom_below',
  threshold: '2.5',
  webhookUrl,
});
const redisOf = (env: Record<string, string>) =>
  createConfig({ REDIS_URL: 'rediss://redis.example', DATABASE_URL: 'postgres://db.example/spiral', ...rpc, ...env })
    .redis;
const rpc = { RPC_URL_1: 'https://node.example', RPC_URL_4663: 'https://node.example' };

const EFFECTS: Readonly<Record<Name, (name: Name) => Promise<void> | void>> = {
  NODE_ENV: () => {
    const env = envSchema.parse({ NODE_ENV: 'production' });
    expect(() => needsLocalWorld(env)).toThrow(/KEY_PEPPER/);
  },
  HOST: () => expect(new URL(shown.url).hostname).toBe('127.0.0.2'),
  PORT: CLI,
  LOG_LEVEL: CLI,
  ROLE: shownBy('test/e2e/faults/roles.sweep.test.ts'),
  RPC_URL_1: () => expect(proxies[0]?.calls()).toBeGreaterThan(0),
  RPC_URL_4663: () => expect(proxies[1]?.calls()).toBeGreaterThan(0),
  RPC_TIMEOUT_MS: () => expect([...timeoutsMs]).toContain(9_871),
  HISTORY_CONFIRMATION_SEC: async () => {
    const { readTo, headBlock } = (await shown.get('/health')).body.chains[0].positionHistory;
    expect(headBlock - readTo.blockNumber).toBe(3);
  },
  HISTORY_REQUESTS_PER_MINUTE: async () => {
    const behindAfterBlocks = async (service: TestService): Promise<number> => {
      for (let block = 0; block < 4; block++) {
        await service.world.chains.on(1).increaseTime(12);
        await service.refresh('position-history:1');
      }
      return (await service.get('/health')).body.chains[0].positionHistory.blocksBehind;
    };
    expect(await behindAfterBlocks(strict)).toBeGreaterThan(0);
    expect(await behindAfterBlocks(shown)).toBe(3);
  },
  CATALOG_OVERLAY: async () => {
    const [{ tokens }] = JSON.parse(await readFile(shown.world.overrides.env.CATALOG_OVERLAY ?? '', 'utf8'));
    // The principal token of the local world is in its overlay only.
    const { body } = await shown.get('/v1/app/markets');
    expect(body.markets.map(({ collateral }: Json) => collateral.address)).toContain(tokens[0].address);
  },
  DATABASE_URL: async () => expect((await shown.get('/health')).body.database).toEqual({ ok: true }),
  DATABASE_POOL_SIZE: async () => {
    const { DATABASE_URL: url } = shown.world.overrides.env;
    await Promise.all(Array.from({ length: 12 }, () => shown.get('/v1/partner/alerts', PARTNER)));
    const client = new Client(url);
    await client.connect();
    const { rows } = await client.query(
      'select count(*)::int as open from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await client.end();
    expect(rows[0].open).toBe(2);
  },
  DATABASE_READ_URL: shownBy('test/database/servers.sweep.test.ts'),
  DATABASE_READ_MAX_LAG_SEC: shownBy('test/database/servers.sweep.test.ts'),
  MIGRATE_ON_START: shownBy('test/e2e/faults/stalled-postgres.sweep.test.ts'),
  REDIS_URL: shownBy('test/e2e/faults/roles.sweep.test.ts'),
  REDIS_KEY_PREFIX: () => expect(redisOf({ REDIS_KEY_PREFIX: 'other' })?.prefix).toBe('other'),
  REDIS_CA_FILE: () => expect(JSON.stringify(redisOf({ REDIS_CA_FILE: join(folder, 'ca') }))).toContain('ca of Redis'),
  REDIS_CERT_FILE: () =>
    expect(
      JSON.stringify(redisOf({ REDIS_CERT_FILE: join(folder, 'cert'), REDIS_KEY_FILE: join(folder, 'key') })),
    ).toContain('cert of Redis'),
  REDIS_KEY_FILE: () =>
    expect(
      JSON.stringify(redisOf({ REDIS_CERT_FILE: join(folder, 'cert'), REDIS_KEY_FILE: join(folder, 'key') })),
    ).toContain('key of Redis'),
  SNAPSHOT_FILE: async () => {
    await shown.restart();
    expect(await readFile(join(folder, 'snapshot.json'), 'utf8')).toContain('lendingState');
  },

  UPSTREAM_TIMEOUT_MS: () => expect([...timeoutsMs]).toContain(9_872),
  UPSTREAM_LIMITS: async () => {
    const { quotas } = (await shown.get('/health')).body;
    const { windows } = quotas.find(({ provider }: Json) => provider === 'geckoterminal');
    expect(windows).toEqual([{ window: '10s', limit: 77, isStated: false }]);
  },
  PENDLE_URL: asked('pendle'),
  PENDLE_API_KEY: keyed('pendle', 'authorization'),
  DEFILLAMA_YIELDS_URL: asked('defillama-yields'),
  DEFILLAMA_COINS_URL: async () => {
    shown.world.upstreams.faults.set('coingecko', { kind: 'status', status: 503 });
    await shown.refresh('prices');
    shown.world.upstreams.faults.clear();
    asked('defillama-coins')();
  },
  STABLEWATCH_URL: asked('stablewatch'),
  STABLEWATCH_API_KEY: () =>
    expect(Object.keys(shown.world.upstreams.requests('stablewatch').at(0)?.query ?? {})).toContain('api_key'),
  ROYCO_URL: asked('royco'),
  ROYCO_API_KEY: keyed('royco', 'x-api-key'),
  MERKL_URL: asked('merkl'),
  MERKL_API_KEY: keyed('merkl', 'x-api-key'),
  MERKL_POSITION_REWARDS: async () => {
    const query =
      '{ wallet(address: "0x90F79bf6EB2c4f870365E785982E1f101E93b906", chainIds: [1]) { positions(first: 1) { nodes { rewards { entries { symbol } } } } } }';
    const entries = async (service: TestService) =>
      (await service.graphql<Json>(query, {}, PARTNER)).body.data.wallet.positions.nodes[0].rewards.entries;
    expect(await entries(shown)).not.toBeNull();
    expect(await entries(strict)).toBeNull();
  },
  COINGECKO_URL: asked('coingecko'),
  COINGECKO_API_KEY: keyed('coingecko', 'x-cg-demo-api-key'),
  GECKOTERMINAL_URL: async () => {
    await shown.get(`/v1/prices/ohlcv?token=${SUSDE}`);
    asked('geckoterminal')();
  },
  KYBERSWAP_URL: asked('kyberswap'),
  KYBERSWAP_CLIENT_ID: keyed('kyberswap', 'x-client-id'),
  OPENOCEAN_URL: asked('openocean'),
  OPENOCEAN_CHAIN_4663: async () => {
    // The contract of the local chain does not accept the router of that venue, which the catalog has with this setting.
    const { chains } = (await shown.get('/health')).body;
    expect(chains.map(({ disagreements }: Json) => disagreements.length)).toEqual([0, 1]);
  },
  OPENOCEAN_API_KEY: keyed('openocean', 'apikey'),
  MORPHO_API_URL: asked('morpho'),
  MORPHO_API_KEY: keyed('morpho', 'authorization'),

  LISTING_MIN_DAYS_TO_MATURITY: async () => {
    const { body } = await shown.get('/v1/strategies');
    expect(body.strategies.filter(({ collateral }: Json) => collateral.isPt)).toEqual([]);
  },
  LISTING_MIN_LIQUIDITY_USD: async () => {
    const { body } = await strict.get('/health');
    expect(body.chains.map(({ listed }: Json) => listed)).toEqual([0, 0]);
  },

  REFRESH_LENDING_STATE_SEC: cadence,
  REFRESH_BORROW_HISTORY_SEC: cadence,
  REFRESH_YIELDMARKET_SEC: cadence,
  REFRESH_ONCHAIN_APY_SEC: cadence,
  REFRESH_SLOW_APY_SEC: cadence,
  REFRESH_INCENTIVES_SEC: cadence,
  REFRESH_PRICES_SEC: cadence,
  REFRESH_PRICES_MIN_SEC: async () => {
    const readsAfter = async (sec: number): Promise<number> => {
      strict.clock.advance(sec * 1_000);
      const before = strict.world.upstreams.requests('coingecko').length;
      expect((await strict.get('/v1/prices?maxAge=5', PARTNER)).status).toBe(200);
      return strict.world.upstreams.requests('coingecko').length - before;
    };
    await strict.refresh('prices');
    expect([await readsAfter(7), await readsAfter(7)]).toEqual([0, expect.toSatisfy((count) => count > 0)]);
  },
  // A sweep is spread over its cadence.
  REFRESH_EXIT_LIQUIDITY_SEC: (name) => expect([...delaysMs]).toContain(Math.ceil(secondsOf(name) / 24) * 950),
  REFRESH_DEPLOYMENT_SEC: cadence,
  REFRESH_POSITION_HISTORY_SEC: cadence,
  REFRESH_TVL_SEC: cadence,

  BUDGET_LENDING_STATE_SEC: budget,
  BUDGET_ORACLE_SEC: budget,
  BUDGET_ORACLE_FEED_SEC: async () => {
    const deposit = async (service: TestService) => {
      const vault = service.world.chains.on(4663).chain.equityVaults[0]?.id ?? '';
      return service.post('/v1/partner/equity/simulate', { strategyId: vault, amount: '5000' }, PARTNER);
    };
    expect((await deposit(strict)).body.error?.code).toBe('stale_data');
    expect((await deposit(shown)).status).toBe(200);
  },
  BUDGET_BORROW_HISTORY_SEC: budget,
  BUDGET_YIELDMARKET_SEC: budget,
  BUDGET_SLOW_APY_SEC: budget,
  BUDGET_DAILY_APY_SEC: budget,
  BUDGET_INCENTIVES_SEC: budget,
  BUDGET_PRICES_SEC: budget,
  BUDGET_EXIT_LIQUIDITY_SEC: budget,
  BUDGET_DEPLOYMENT_SEC: budget,
  BUDGET_TVL_SEC: budget,
  BUDGET_OPS_PORTFOLIOS_SEC: async () => {
    const report = async () => (await strict.get('/v1/ops/portfolios', OPS)).body;
    const first = await report();
    strict.clock.advance(6_000);
    expect((await report()).computedAt).toBe(first.computedAt);
    strict.clock.advance(2_000);
    expect((await report()).computedAt).not.toBe(first.computedAt);
  },
  READY_CEILING_SEC: async () => {
    const readyAfter = async (sec: number) => {
      strict.clock.advance(sec * 1_000);
      return (await strict.get('/ready')).status;
    };
    // Market state may be 300 s old, and one minute older while the process counts as ready.
    await strict.refresh('lending-state');
    expect([await readyAfter(320), await readyAfter(60)]).toEqual([200, 503]);
  },

  APP_URL: async () => expect((await shown.get('/v1/strategies')).text).toContain('https://app.example/'),
  FEE_RECEIVER: async () => expect((await build(shown)).text.toLowerCase()).toMatch(/0{38}fe/),

  GRAPHIQL: async () => {
    const page = (service: TestService) => service.get('/graphql', { accept: 'text/html' });
    expect((await page(strict)).text).not.toContain('graphiql');
    expect((await page(shown)).text).toContain('graphiql');
  },
  INTROSPECTION: async () => {
    const { body } = await strict.graphql('{ __schema { queryType { name } } }', {}, PARTNER);
    expect(body.errors?.[0]?.message).toMatch(/introspect/i);
  },
  PERSISTED_ONLY_FOR_ANONYMOUS: async () => {
    const { body } = await strict.graphql('{ tvl { tvlUsd } }');
    expect(body.errors?.[0]?.message).toMatch(/persisted/i);
  },
  TRUSTED_PROXIES: async () => {
    const leftOf = async (from: string) =>
      (await shown.get('/v1/tvl', { 'x-forwarded-for': from })).headers.get('ratelimit');
    const first = await leftOf('192.0.2.1');
    expect(await leftOf('192.0.2.1')).not.toBe(first);
    expect(await leftOf('192.0.2.2')).toBe(first);
  },
  CORS_ORIGINS: async () => {
    const { headers } = await strict.get('/v1/tvl', { origin: 'https://app.example' });
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
  },
  MCP_ORIGINS: async () => {
    const from = async (origin: string) =>
      (await strict.post('/mcp', {}, { origin, accept: 'application/json, text/event-stream' })).status;
    expect(await from('https://agent.example')).not.toBe(403);
    expect(await from('https://app.example')).toBe(403);
  },
  RATE_LIMIT_ANONYMOUS: async () => expect(await limitOf({})).toContain('q=611'),
  RATE_LIMIT_PARTNER: async () => expect(await limitOf(PARTNER)).toContain('q=612'),
  RATE_LIMIT_OPS: async () => expect(await limitOf(OPS)).toContain('q=613'),
  KEY_PEPPER: shownBy('test/keys/cli.sweep.test.ts'),
  KEY_GRACE_SEC: shownBy('test/e2e/faults/without-postgres.test.ts'),
  READ_WAIT_SEC: shownBy('test/e2e/fresh/fresh-reads.test.ts'),
  MAX_WAITS_PER_CLIENT: shownBy('test/e2e/fresh/fresh-reads.test.ts'),
  MAX_WAITS: shownBy('test/e2e/fresh/fresh-reads.test.ts'),
  MAX_QUEUED_REQUESTS: shownBy('test/limits/tier-shares.test.ts'),
  MAX_TURN_WAIT_MS: shownBy('test/e2e/faults/overload.test.ts'),
  MAX_CONNECTIONS: shownBy('test/http/connection-shares.test.ts'),
  ALERTS_PER_KEY: async () => {
    const { status, body } = await shown.post('/v1/partner/alerts', alertTo(shown.world.receiver.url), PARTNER);
    expect([status, body.error.details.limit]).toEqual([400, { maxAlerts: 1 }]);
  },
  ALERT_DELIVERIES_PER_HOUR: async () => {
    const { body } = await strict.get('/v1/partner/alerts?limit=1', PARTNER);
    const { body: ping } = await strict.post(`/v1/partner/alerts/${body.alerts[0].id}/ping`, {}, PARTNER);
    await strict.refresh('alert-deliveries');
    const { body: list } = await strict.get('/v1/partner/alerts/deliveries', PARTNER);
    const found = list.deliveries.find(({ id }: Json) => id === ping.delivery.id);
    expect(found).toMatchObject({ status: 'pending', attempts: 0 });
  },
  ALERT_LOCAL_TARGETS: async () => {
    const { status } = await strict.post('/v1/partner/alerts', alertTo('http://127.0.0.1:9/hook'), PARTNER);
    expect(status).toBe(400);
  },
  MAX_SUBSCRIPTIONS: async () => {
    const { text } = await sendRequest(`${strict.url}/graphql`, {
      method: 'POST',
      headers: { ...PARTNER, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { freshnessChanged(chainIds: [1]) { ready } }' }),
    });
    expect(text).toContain('rate_limited');
  },
  MAX_CONNECTIONS_PER_ADDRESS: async () => {
    const { hostname, port } = new URL(strict.url);
    const answers = await Promise.all(
      Array.from(
        { length: 8 },
        () =>
          new Promise<string>((resolve) => {
            const socket = connect(Number(port), hostname).on('error', () => resolve('refused'));
            socket.once('data', (bytes) => {
              resolve(String(bytes).slice(9, 12));
              socket.destroy();
            });
            socket.write('GET /v1/nowhere HTTP/1.1\r\nhost: x\r\n\r\n');
          }),
      ),
    );
    expect(answers).toContain('503');
  },
  ANSWER_CACHE_MB: async () => {
    const { text } = await sendRequest(`${shown.app.metricsUrl}/metrics`);
    expect(text).toContain(String(7 * 1024 * 1024));
  },
  METRICS_PORT: async () => expect((await sendRequest(`${shown.app.metricsUrl}/metrics`)).text).toContain('spiral_'),
  OTEL_EXPORTER_OTLP_ENDPOINT: PROCESS,
  TRACE_SAMPLE_RATIO: PROCESS,
  START_WAIT_SEC: shownBy('test/e2e/faults/without-postgres.test.ts'),
  STOP_DELAY_SEC: shownBy('test/e2e/faults/rolling-restart.sweep.test.ts'),
  STOP_DRAIN_SEC: shownBy('test/e2e/faults/shutdown.sweep.test.ts'),

  DEVNET_PORT_1: CLI,
  DEVNET_PORT_4663: CLI,
  DEVNET_CONTROL_PORT: CLI,
  DEVNET_DATA_DIR: CLI,
};

describe('every setting', () => {
  test.each(Object.keys(envSchema.shape) as Name[])('%s reaches its part', async (name) => {
    if (name.startsWith('KYBER') || name.startsWith('OPENOCEAN') || name === 'PENDLE_URL') await preview();
    await EFFECTS[name](name);
  });
});
