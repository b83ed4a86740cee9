import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/shared/ids.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { CHAIN_IDS } from '../known.ts';

/** A first start whose nodes answer, and whose providers do not: nothing but the facts of the chains is known. */
let service: TestService;
beforeAll(async () => {
  service = await startService({
    warm: false,
    sleep: noSleep,
    env: { UPSTREAM_TIMEOUT_MS: '10000' },
    arrange: async (world) => {
      world.upstreams.faults.set('all', { kind: 'hang' });
      return {};
    },
  });
  await service.refresh(...CHAIN_IDS.map((chainId) => `lending-state:${chainId}`));
});
afterAll(() => service?.stop());

/** A market whose collateral earns nothing: it needs no provider. */
const plainId = (): string =>
  service.world.chains
    .on(1)
    .chain.markets.find(({ kind, collateral }) => kind === 'loop' && collateral.apySource === 'none')?.id ?? '';
const rows = (id: string) => [
  '/v1/strategies',
  '/v1/strategies?chainId=4663',
  `/v1/strategies/${id}`,
  `/v1/strategies/${id}/stress`,
  `/v1/strategies/${id}/leveraged-apy-history`,
  '/v1/app/markets',
  '/v1/app/markets?chainId=1',
];
/** Documents by a name. */
const documents = (id: string): Readonly<Record<string, string>> => ({
  strategies: '{ strategies { totalCount } }',
  'strategies of one chain': '{ strategies(chainIds: [1], filter: { listedOnly: false }) { totalCount } }',
  strategy: `{ strategy(id: "${id}") { strategyId } }`,
  markets: '{ markets { totalCount } }',
  market: `{ market(id: "${id}") { marketId strategies { strategyId } } }`,
  node: `{ node(id: "${encodeGlobalId('LoopStrategy', `1:${id}`)}") { __typename id } }`,
  nodes: `{ nodes(ids: ["${encodeGlobalId('Market', `1:${id}`)}"]) { __typename id } }`,
});
const tools = (id: string): readonly (readonly [string, Json])[] => [
  ['list_strategies', {}],
  ['get_strategy', { id }],
  ['stress_strategy', { id }],
];

/** The outcome of every read: its error code, or `ok`. */
async function outcomes(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const id = plainId();
  for (const path of rows(id)) {
    const { status, body, headers } = await service.get(path, { 'if-none-match': '*' });
    found[path] = status === 304 ? 'ok' : (body.error?.code ?? 'ok');
    if (status === 503) expect([path, headers.get('cache-control')]).toEqual([path, 'no-store']);
  }
  for (const [name, query] of Object.entries(documents(id))) {
    const { body } = await service.graphql<Json>(query);
    found[name] = body.errors?.[0]?.extensions.code ?? 'ok';
  }
  for (const [name, given] of tools(id)) {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const { body } = await service.post('/mcp', call, { ...PARTNER, accept: 'application/json, text/event-stream' });
    found[name] = body.result.isError ? JSON.parse(body.result.content[0].text).error.code : 'ok';
  }
  return found;
}
const all = (found: Record<string, string>) => [...new Set(Object.values(found))];

test('before every group was tried, reads are not ready, however long market state is known', async () => {
  for (let i = 0; i < 2; i += 1) {
    const { status, body } = await service.get('/ready');
    expect([status, body.chains.map(({ ready }: Json) => ready)]).toEqual([503, [false, false]]);
    const found = await outcomes();
    expect([found, all(found)]).toEqual([found, ['not_ready']]);
    const { body: refused } = await service.get('/v1/strategies');
    expect(refused.error.details.waitingFor).toContain('exitLiquidity');
    if (i === 0) service.clock.advance(59_000);
  }
});

test('prices, histories, stable APYs and the TVL keep their own rules', async () => {
  for (const path of ['/v1/prices', '/v1/stable-apy', '/v1/markets/borrow-apy-history', '/v1/tvl']) {
    const { status, body } = await service.get(path);
    expect([path, status === 200 || body.error.details.waitingFor.includes('tvl')]).toEqual([path, true]);
  }
});

test('after a minute reads and /ready turn at the same moment, and what is unmeasured has a gap', async () => {
  const before = await service.get('/ready');
  expect(before.status).toBe(503);
  service.clock.advance(1_000);
  const found = await outcomes();
  const { status, body } = await service.get('/ready');
  expect([status, body.chains.map(({ ready }: Json) => ready)]).toEqual([200, [true, true]]);
  expect([found, all(found)]).toEqual([found, ['ok']]);
  const { body: strategy } = await service.get(`/v1/strategies/${plainId()}`);
  expect(strategy.gaps).toContainEqual(expect.objectContaining({ field: 'freshness.exitLiquidity' }));
  const { body: list } = await service.get('/v1/strategies');
  expect(list.missing.groups).toContain('exitLiquidity');
});

test('afterwards no age and no dead node ends the reads, only /ready', async () => {
  service.clock.advance(3 * 86_400_000);
  expect((await service.get('/ready')).status).toBe(503);
  expect(all(await outcomes())).not.toContain('not_ready');
});
