import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRoutes } from '../../../src/rest/routes/index.ts';
import { sharedSchema } from '../../../src/schema/index.ts';
import { sendRequest } from '../../support/http-client.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

const ROUTES = createRoutes({ schema: sharedSchema(), chainIds: [1, 4663], equityChainIds: [4663] });
const JSON_TYPE = { 'content-type': 'application/json' };
/** A path of a row, with any value for each parameter. */
const pathOf = (template: string) => template.replace(/\{\w+\}/g, 'any.thing');

describe('a trailing slash', () => {
  const rows = ROUTES.map(({ method, path }) => [method, pathOf(path)]);
  const others = [
    ['POST', '/graphql'],
    ['POST', '/mcp'],
    ['GET', '/mcp'],
    ['DELETE', '/mcp'],
  ];

  test.each([...rows, ...others])('behavior: %s %s/ leads to the path without it', async (method = '', path = '') => {
    const { status, headers } = await sendRequest(`${service.url}${path}/?a=b&c`, {
      method,
      headers: method === 'POST' ? JSON_TYPE : {},
      body: method === 'POST' ? '{}' : undefined,
    });
    expect(status).toBe(308);
    const location = new URL(headers.get('location') ?? '', `${service.url}${path}/?a=b&c`);
    expect(location.href).toBe(`${service.url}${path}?a=b&c`);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  const MCP = { ...PARTNER, accept: 'application/json, text/event-stream' };
  test('behavior: a client that follows it keeps method, body and key', async () => {
    const follow = async (path: string, body: object, headers: Record<string, string> = {}) => {
      const init = { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) };
      const response = await fetch(`${service.url}${path}`, init);
      return [response.redirected, response.status, await response.json()];
    };
    expect(await follow('/graphql/', { query: '{chains{chainId}}' })).toMatchObject([
      true,
      200,
      { data: { chains: [{ chainId: 1 }, { chainId: 4663 }] } },
    ]);
    expect(await follow('/mcp/', { jsonrpc: '2.0', id: 1, method: 'ping' }, MCP)).toMatchObject([
      true,
      200,
      { id: 1, result: {} },
    ]);
    expect(await follow('/v1/partner/leverage/simulate/', {}, PARTNER)).toMatchObject([
      true,
      400,
      { error: { code: 'bad_request' } },
    ]);
  });

  test.each(['/v1/nothing/', '/graphql//', '/mcp//', '//mcp/', '/graphql/x/'])(
    'error: not_found for POST %s',
    async (path) => {
      expect((await service.post(path, {})).status).toBe(404);
    },
  );
});

test('behavior: a stream of events is neither buffered nor transformed on its way', async () => {
  const ending = new AbortController();
  const open = async (query: string) => {
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { ...JSON_TYPE, accept: 'text/event-stream', 'accept-encoding': 'gzip, br' },
      body: JSON.stringify({ query }),
      signal: ending.signal,
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    return ['x-accel-buffering', 'cache-control', 'content-encoding'].map((name) => response.headers.get(name));
  };
  const expected = ['no', 'no-store, no-transform', null];
  expect(await open('subscription { freshnessChanged(chainIds: [1]) { ready } }')).toEqual(expected);
  // A query, and a refusal, in the form of events.
  expect(await open('{ chains { chainId } }')).toEqual(expected);
  expect(await open('{ nothing }')).toEqual(expected);
  ending.abort();
});

describe('the id of an equity vault', () => {
  const STRATEGY_ROWS = ROUTES.filter(({ path }) => /^\/v1\/(?:strategies|markets|collateral)\/\{id\}/.test(path));
  const rowPath = (template: string, id: string) =>
    `${template.replace('{id}', id)}${template.endsWith('/series') ? '?metric=utilization' : ''}`;
  const vaultIds = async (): Promise<string[]> => {
    const { body } = await service.get('/v1/strategies?chainId=4663');
    return body.strategies.map(({ id }: Json) => id).filter((id: string) => id.startsWith('equity-'));
  };
  const call = (name: string, id: string) =>
    service.post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { id } } },
      { ...PARTNER, accept: 'application/json, text/event-stream' },
    );

  test('behavior: every row of a strategy takes it, and answers with it', async () => {
    const ids = await vaultIds();
    expect([ids.length > 1, STRATEGY_ROWS.length]).toEqual([true, 7]);
    for (const id of ids) {
      for (const { path, tool } of STRATEGY_ROWS) {
        for (const asked of [id, id.replace(/0x[0-9a-f]+/, (hex) => `0x${hex.slice(2).toUpperCase()}`)]) {
          const { status, body } = await service.get(rowPath(path, asked));
          expect([path, status, body.id]).toEqual([path, 200, id]);
        }
        if (!tool) continue;
        const { body } = await call(tool.name, id);
        expect([path, body.result.isError ?? false, body.result.structuredContent.id]).toEqual([path, false, id]);
      }
    }
  });

  test('behavior: the row of one strategy has it as the list does', async () => {
    const { body } = await service.get('/v1/strategies?chainId=4663');
    for (const listed of body.strategies) {
      expect((await service.get(`/v1/strategies/${listed.id}`)).body).toEqual(listed);
      expect((await service.get(`/v1/strategies/${listed.id}?chainId=1`)).status).toBe(400);
    }
  });

  test('behavior: a history names the market that it is of', async () => {
    const [id = ''] = await vaultIds();
    const { body: vault } = await service.get(`/v1/strategies/${id}`);
    const { stockMarketId, yieldStrategyId } = vault.equityVault;
    for (const [path, marketId] of [
      [`/v1/collateral/${id}/apy-history`, yieldStrategyId],
      [`/v1/markets/${id}/borrow-apy-history`, stockMarketId],
      [`/v1/markets/${id}/incentive-history`, stockMarketId],
    ]) {
      const { body } = await service.get(path);
      expect([path, body.marketId]).toEqual([path, marketId]);
      const { marketId: own, ...ofMarket } = (await service.get(path.replace(id, marketId))).body;
      expect([own, { ...ofMarket, id, marketId }]).toEqual([undefined, body]);
    }
  });

  test('error: not_found for an unknown vault, bad_request for what is no id', async () => {
    const { body } = await service.get('/v1/strategies?chainId=4663');
    const loop = body.strategies.find(({ id }: Json) => id.startsWith('0x')).id;
    const unknown = [`equity-0x${'0'.repeat(64)}`, `equity-${loop}`];
    const malformed = [
      'equity-',
      'equity-0x12',
      `equity${loop}`,
      `Equity-${loop}`,
      `equity-equity-${loop}`,
      'abc',
      `${loop}0`,
    ];
    for (const { path, tool } of STRATEGY_ROWS) {
      for (const [ids, status, code] of [
        [unknown, 404, 'not_found'],
        [malformed, 400, 'bad_request'],
      ] as const) {
        for (const id of ids) {
          const answer = await service.get(rowPath(path, id));
          expect([path, id, answer.status, answer.body.error?.code]).toEqual([path, id, status, code]);
          if (!tool) continue;
          const { result } = (await call(tool.name, id)).body;
          expect([path, id, result.isError]).toEqual([path, id, true]);
          expect(result.content[0].text).toContain(code);
        }
      }
    }
  });
});
