import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRoutes } from '../../../src/rest/routes/index.ts';
import { sendRequest } from '../../support/http-client.ts';
import { PARTNER, startService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

const ROUTES = createRoutes({ chainIds: [1, 4663], equityChainIds: [4663] });
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
