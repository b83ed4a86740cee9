import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Front, PARTNER_KEY, startTestGateway } from '../http/test-gateway.ts';
import { connect, failureOf } from './client.ts';

const BOTH = 'application/json, text/event-stream';
const STRATEGY = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';

let front: Front;
beforeAll(async () => {
  const env = { RATE_LIMIT_ANONYMOUS: '1000', RATE_LIMIT_PARTNER: '1000', MCP_ORIGINS: 'https://ide.example' };
  front = await startTestGateway({ env });
});
afterAll(() => front?.stop());

/** Send a body as it is. */
function post(body: string, headers: Record<string, string> = {}) {
  return front.send('/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: BOTH, ...headers },
    body,
  });
}

function send(message: unknown, headers: Record<string, string> = {}) {
  return post(JSON.stringify(message), headers);
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const callOf = (name: string, args: unknown, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

const readOf = (uri: string) => ({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } });

const VERSION = '2026-07-28';
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Send a request of the stateless version, with its envelope and its headers. */
function stateless(message: { method: string; params?: unknown }, headers: Record<string, string> = {}) {
  const { method, params } = message;
  const own = typeof params === 'object' ? (params as Readonly<Record<string, unknown>>) : undefined;
  const name = own?.name ?? own?.uri;
  return send(
    { jsonrpc: '2.0', id: 1, ...message, params: typeof params === 'string' ? params : { ...own, _meta: ENVELOPE } },
    {
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      ...headers,
    },
  );
}

/** Points left of an answer. */
const left = (headers: Headers): number => Number(/;r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);

describe('the transport', () => {
  test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])('default: speaks version %s', async (version) => {
    const { status, headers, body } = await send({
      jsonrpc: '2.0',
      id: 'a',
      method: 'initialize',
      params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: 'a',
      result: { protocolVersion: version, serverInfo: { name: 'spiral-gateway' } },
    });
    expect(body.result.instructions).toContain('UNSIGNED');
    // Nothing is kept of a session: any process answers the next request.
    expect(headers.get('mcp-session-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('behavior: an unknown version is answered with the newest, and refused as a header', async () => {
    const params = { protocolVersion: '1999-01-01', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const { body } = await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    expect(body.result.protocolVersion).toBe('2025-11-25');
    const refused = await send(ping, { 'mcp-protocol-version': '1999-01-01' });
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining('1999-01-01')]);
  });

  test('behavior: notifications are accepted without a body', async () => {
    const { status, text } = await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([status, text]).toEqual([202, '']);
  });

  test.each(['GET', 'DELETE', 'PUT'])('error: %s is not allowed: there is no stream and no session', async (method) => {
    const { status, headers, body } = await front.send('/mcp', { method, headers: { accept: 'text/event-stream' } });
    expect([status, headers.get('allow'), body.error.code]).toEqual([405, 'POST', 'method_not_allowed']);
  });

  test.each([
    '*/*',
    'application/*',
    'application/json',
    'text/event-stream, */*;q=0.1',
    'Application/JSON;q=0.9, text/html',
    '',
  ])('default: Accept "%s" takes JSON', async (accept) => {
    const { status, headers } = await send(ping, { accept });
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^application\/json/)]);
  });

  test.each(['text/event-stream', 'text/*', 'application/json;q=0, text/html', 'application/json;q=0, */*'])(
    'error: Accept "%s" does not',
    async (accept) => {
      for (const message of [send(ping, { accept }), stateless({ method: 'tools/list' }, { accept })]) {
        const { status, body } = await message;
        expect([status, body.error.message]).toEqual([406, expect.stringContaining('application/json')]);
      }
    },
  );

  test.each([
    ['another media type', { 'content-type': 'text/plain' }, JSON.stringify(ping), 415, -32_000],
    ['a compressed body', { 'content-encoding': 'gzip' }, JSON.stringify(ping), 415, -32_000],
    ['broken JSON', {}, '{"jsonrpc":', 400, -32_700],
    ['repeated keys', {}, '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, -32_700],
    ['a deep body', {}, `${'['.repeat(40)}${']'.repeat(40)}`, 400, -32_700],
    ['a huge body', {}, JSON.stringify({ ...ping, pad: 'x'.repeat(70_000) }), 413, -32_000],
    ['null', {}, 'null', 400, -32_600],
    ['a number', {}, '7', 400, -32_600],
    ['no message', {}, '{}', 400, -32_600],
    ['a null id', {}, '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32_600],
  ])('error: %s', async (_name, headers, text, status, code) => {
    const answer = await post(text, headers);
    expect([answer.status, answer.body.jsonrpc, answer.body.error.code]).toEqual([status, '2.0', code]);
  });

  test('error: an unknown method', async () => {
    const { body } = await send({ ...ping, method: 'tools/destroy' });
    expect(body).toMatchObject({ id: 1, error: { code: -32_601 } });
  });

  test.each([
    ['an unknown tool', callOf('drop_tables', {})],
    ['a name of the prototype', callOf('__proto__', {})],
    ['no name', { ...callOf('x', {}), params: {} }],
    ['arguments that are a list', callOf('get_tvl', [1])],
    ['arguments that are a text', callOf('get_tvl', 'all')],
    ['a resource without a URI', { jsonrpc: '2.0', id: 1, method: 'resources/read', params: {} }],
    ['a resource whose URI is null', { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: null } }],
    ['a cursor that is a number', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: 5 } }],
    ['parameters that are a text', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: 'get_tvl' }],
  ])('error: %s is an error of the protocol', async (_name, message) => {
    for (const answer of [send(message), stateless(message)]) {
      const { body } = await answer;
      expect(body).toMatchObject({ id: 1, error: { code: -32_602, message: expect.not.stringMatching(/[[{]/) } });
    }
  });

  test.each([
    ['parameters', { ...ping, params: null }],
    ['a cursor', { ...ping, method: 'tools/list', params: { cursor: null } }],
    ['arguments', callOf('get_tvl', null)],
    ['optional arguments', callOf('list_strategies', { chainId: null, limit: null, offset: null, detail: null })],
    ['a progress token', { ...ping, method: 'tools/list', params: { _meta: { progressToken: null } } }],
    ['_meta', { ...ping, method: 'tools/list', params: { _meta: null } }],
  ])('behavior: null as %s is absent', async (_name, message) => {
    const { status, body } = await send(message);
    expect([status, body.result?.isError, body.error]).toEqual([200, undefined, undefined]);
  });
});

describe(`version ${VERSION}, which is stateless`, () => {
  test('default: a client discovers the server without a handshake', async () => {
    const { status, headers, body } = await stateless({ method: 'server/discover' });
    expect(status).toBe(200);
    expect(headers.get('mcp-session-id')).toBeNull();
    expect(body.result).toMatchObject({
      supportedVersions: [VERSION],
      resultType: 'complete',
      capabilities: { tools: {}, resources: {} },
      instructions: expect.stringContaining('UNSIGNED'),
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'spiral-gateway' } },
    });
  });

  test.each(['server/discover', 'tools/list', 'resources/list', 'resources/templates/list'])(
    'default: the result of %s may be cached by anybody',
    async (method) => {
      const { body } = await stateless({ method });
      expect(body.result).toMatchObject({ ttlMs: 300_000, cacheScope: 'public' });
    },
  );

  test('default: tools are called and resources are read as in the versions before', async () => {
    const call = callOf('get_strategy', { id: STRATEGY });
    const [former, own] = await Promise.all([send(call), stateless(call)]);
    expect(own.body.result).toMatchObject({ ...former.body.result, resultType: 'complete' });
    const read = await stateless(readOf(`spiral://strategies/${STRATEGY}`));
    expect(read.body.result).toMatchObject({ contents: [{ mimeType: 'application/json' }], cacheScope: 'private' });
  });

  test.each([
    ['no method in the headers', { 'mcp-method': '' }, 400, -32_020],
    ['another method in the headers', { 'mcp-method': 'tools/list' }, 400, -32_020],
    ['another tool in the headers', { 'mcp-name': 'get_prices' }, 400, -32_020],
    ['a version of the handshake in the headers', { 'mcp-protocol-version': '2025-11-25' }, 400, -32_020],
  ])('error: %s', async (_name, headers: Record<string, string>, status, code) => {
    const answer = await stateless(callOf('get_tvl', {}), headers);
    expect([answer.status, answer.body.error.code, answer.body.id]).toEqual([status, code, 1]);
  });

  test('error: a later version is answered with those that there are', async () => {
    const later = { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: later } };
    const { status, body } = await send(message, { 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/list' });
    expect([status, body.error.code, body.error.data]).toEqual([
      400,
      -32_022,
      { supported: [VERSION], requested: '2099-01-01' },
    ]);
  });

  test('error: its version in the headers alone, without an envelope', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const { status, body } = await send(message, { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/list' });
    expect([status, body.error.code]).toEqual([400, -32_602]);
  });

  test.each(['ping', 'initialize', 'logging/setLevel', 'x'])('error: it has no method %s', async (method) => {
    const { status, body } = await stateless({ method });
    expect([status, body.error.code]).toEqual([404, -32_601]);
  });

  test('error: nothing can be listened to, because the lists do not change', async () => {
    const params = { notifications: { toolsListChanged: true, resourcesListChanged: true } };
    const { status, body } = await stateless({ method: 'subscriptions/listen', params });
    expect([status, body.error.code]).toEqual([404, -32_601]);
  });

  test('error: a missing resource has the code of this version, and that of the versions before there', async () => {
    const missing = readOf('spiral://none');
    const [own, former] = await Promise.all([stateless(missing), send(missing)]);
    expect([own.body.error.code, former.body.error.code]).toEqual([-32_602, -32_002]);
  });

  test('behavior: a message costs what it costs in the versions before', async () => {
    const key = PARTNER_KEY;
    const before = left((await send(ping, key)).headers);
    const discovered = await stateless({ method: 'server/discover' }, key);
    expect(before - left(discovered.headers)).toBe(1);
    const positions = await stateless(callOf('list_positions', { address: `0x${'9'.repeat(40)}` }), key);
    expect(left(discovered.headers) - left(positions.headers)).toBe(10);
    const mismatched = await stateless(callOf('get_tvl', {}), { ...key, 'mcp-name': 'other' });
    expect(left(positions.headers) - left(mismatched.headers)).toBe(1);
    const unknown = await stateless({ method: 'tools/list' }, { authorization: 'Bearer no-such-key' });
    expect([unknown.status, unknown.headers.get('warning')]).toEqual([200, expect.stringContaining('not valid')]);
  });
});

describe('optional parts of the protocol', () => {
  const task = { ...callOf('get_strategy', { id: STRATEGY }) };
  test.each([
    ['a task', { ...task, params: { ...task.params, task: { ttl: 1_000 } } }],
    [
      'a related task',
      { ...task, params: { ...task.params, _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'x' } } } },
    ],
    [
      'an unknown method of a task',
      { ...ping, method: 'x', params: { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'x' } } } },
    ],
    ['progress', { ...task, params: { ...task.params, _meta: { progressToken: 1 } } }],
    ['tasks', { ...ping, method: 'tasks/list' }],
    ['log levels', { ...ping, method: 'logging/setLevel', params: { level: 'debug' } }],
    ['prompts', { ...ping, method: 'prompts/list' }],
    ['completion', { ...ping, method: 'completion/complete', params: {} }],
  ])('behavior: a message that asks for %s is answered', async (_name, message) => {
    const { status, body } = await send(message);
    expect([status, body.id, 'result' in body !== 'error' in body]).toEqual([200, 1, true]);
  });
});

describe('origins', () => {
  test.each(['https://evil.example', 'null', 'http://127.0.0.1:8787', 'https://ide.example.evil.example'])(
    'error: a page of %s is refused',
    async (origin) => {
      const { status, body } = await send(ping, { origin });
      expect([status, body.error.code, body.id]).toEqual([403, -32_000, null]);
    },
  );

  test('default: a listed origin and a program without one are answered', async () => {
    expect((await send(ping, { origin: 'https://ide.example' })).status).toBe(200);
    expect((await send(ping)).status).toBe(200);
  });

  test('behavior: a preflight allows the headers of the protocol', async () => {
    const { headers } = await front.send('/mcp', { method: 'OPTIONS', headers: { origin: 'https://ide.example' } });
    expect(headers.get('access-control-allow-headers')).toContain('mcp-protocol-version');
  });
});

describe('batches', () => {
  test('default: a version with batches gets the answers of all messages', async () => {
    const { status, body } = await send([
      ping,
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } },
      callOf('get_strategy', { id: STRATEGY }, 2),
      callOf('get_strategy', { id: 'x' }, 2),
    ]);
    expect([status, body.length]).toEqual([200, 3]);
    expect(body[1].result.structuredContent.id).toBe(STRATEGY);
    expect(body[2].result.isError).toBe(true);
  });

  test('behavior: a batch of notifications is accepted without a body', async () => {
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect((await send([notification, notification])).status).toBe(202);
  });

  test.each([
    ['in a version without batches', [ping], { 'mcp-protocol-version': '2025-06-18' }],
    ['that is empty', [], {}],
    ['that is too long', Array.from({ length: 11 }, (_, id) => ({ ...ping, id })), {}],
    ['with a message of the stateless version', [{ ...ping, params: { _meta: ENVELOPE } }], {}],
    ['with an initialize message', [{ ...ping, method: 'initialize' }], {}],
  ])('error: a batch %s', async (_name, batch, headers: Record<string, string>) => {
    const { status, body } = await send(batch, headers);
    expect([status, body.error.code]).toEqual([400, -32_600]);
  });
});

describe('keys and budgets', () => {
  test('behavior: with a key that is not valid the tools without a key are answered, with a warning', async () => {
    const key = { authorization: 'Bearer no-such-key' };
    const positions = callOf('list_positions', { address: `0x${'9'.repeat(40)}` });
    for (const [message, isError] of [
      [ping, undefined],
      [callOf('get_strategy', { id: STRATEGY }), undefined],
      [positions, true],
    ] as const) {
      const { status, headers, body } = await send(message, key);
      expect([status, body.result.isError]).toEqual([200, isError]);
      expect(headers.get('warning') ?? '').toMatch(isError ? /^$/ : /^299 - "The API key is not valid/);
      expect(headers.get('cache-control')).toBe('no-store');
    }
    expect(failureOf((await send(positions, key)).body.result)).toMatchObject({ code: 'unauthorized' });
  });

  test('default: a call costs as much as its row, and other messages one point', async () => {
    const key = PARTNER_KEY;
    const before = left((await send(ping, key)).headers);
    const listed = await send({ ...ping, method: 'tools/list' }, key);
    expect(before - left(listed.headers)).toBe(1);
    const read = await send(callOf('get_strategy', { id: STRATEGY }), key);
    expect(left(listed.headers) - left(read.headers)).toBe(1);
    const preview = await send(callOf('list_positions', { address: `0x${'9'.repeat(40)}` }), key);
    expect(left(read.headers) - left(preview.headers)).toBe(10);
    const refused = await send(callOf('list_strategies', { limit: 0 }), key);
    expect(left(preview.headers) - left(refused.headers)).toBe(1);
    const row = await front.send('/v1/strategies', { headers: key });
    expect(left(refused.headers) - left(row.headers)).toBe(1);
  });

  test.each([
    ['a call as a notification', { ...callOf('get_tvl', {}), id: undefined }, {}, 202],
    ['a call that is an answer too', { ...callOf('get_tvl', {}), result: {} }, {}, 400],
    ['a call without a version of JSON-RPC', { ...callOf('get_tvl', {}), jsonrpc: undefined }, {}, 400],
    ['a call that accepts nothing', callOf('get_tvl', {}), { accept: 'text/html' }, 406],
    ['a call in an unknown version', callOf('get_tvl', {}), { 'mcp-protocol-version': '1' }, 400],
    ['a resource as a notification', { ...readOf(`spiral://strategies/${STRATEGY}`), id: undefined }, {}, 202],
  ])(
    'behavior: %s costs a point, although no row is asked',
    async (_name, message, headers: Record<string, string>, status) => {
      const before = left((await send(ping, PARTNER_KEY)).headers);
      const answer = await send(message, { ...PARTNER_KEY, ...headers });
      expect([answer.status, before - left(answer.headers)]).toEqual([status, 1]);
      const guess = await send(message, { authorization: 'Bearer no-such-key', ...headers });
      expect([guess.status, guess.headers.get('warning')]).toEqual([status, expect.stringContaining('not valid')]);
    },
  );

  test('error: rate_limited: a call beyond the budget is an error of the tool; then requests are refused', async () => {
    const small = await startTestGateway({ env: { RATE_LIMIT_PARTNER: '15' } });
    try {
      const client = await connect(small.url, PARTNER_KEY);
      const open = { address: `0x${'9'.repeat(40)}` };
      await client.callTool({ name: 'list_positions', arguments: open });
      const error = failureOf(await client.callTool({ name: 'list_positions', arguments: open }));
      expect(error).toMatchObject({ code: 'rate_limited', retryable: true });
      expect(error.retryAfterSec).toBeGreaterThan(0);
      expect(error.nextStep).toContain('retryAfterSec');
      await expect(client.ping()).rejects.toThrow(/429|budget/);
      await client.close();
      // The request is refused before its body is read, as an error of the protocol without an id.
      const unread = await small.send('/mcp', {
        method: 'POST',
        headers: { ...PARTNER_KEY, 'content-type': 'application/json', accept: BOTH },
        body: '{not read',
      });
      expect(unread.status).toBe(429);
      expect(Number(unread.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(unread.headers.get('ratelimit')).toMatch(/;r=0;/);
      expect(unread.body).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: {
          code: -32_000,
          message: expect.any(String),
          data: {
            code: 'rate_limited',
            retryAfterSec: expect.any(Number),
            details: expect.objectContaining({ scope: 'client', limit: 15 }),
            correlationId: unread.headers.get('x-correlation-id'),
          },
        },
      });
      // Rows keep their own form.
      const row = await small.send('/v1/strategies', { headers: PARTNER_KEY });
      expect([row.status, row.body.error.code]).toEqual([429, 'rate_limited']);
    } finally {
      await small.stop();
    }
  });
});

describe('resources', () => {
  test('default: the catalog and the errors are listed and read', async () => {
    const client = await connect(front.url);
    const { resources } = await client.listResources();
    for (const { uri, mimeType } of resources) {
      const { contents } = await client.readResource({ uri });
      expect(contents).toMatchObject([{ uri, mimeType, text: expect.stringMatching(/.{50}/s) }]);
    }
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('spiral://strategies/{id}');
    const { contents } = await client.readResource({ uri: `spiral://strategies/${STRATEGY}` });
    const [content] = contents;
    const text = content && 'text' in content ? content.text : '';
    const { body } = await front.send(`/v1/strategies/${STRATEGY}`);
    expect(JSON.parse(text)).toEqual(body);
    await client.close();
  });

  test.each([
    'spiral://docs/../package.json',
    'spiral://docs/..%2f..%2fpackage',
    'spiral://docs//etc/passwd',
    'file:///etc/passwd',
    'spiral://strategies/../../v1/ops/portfolios',
    'spiral://strategies/..',
    `spiral://strategies/0x${'0'.repeat(64)}`,
    'spiral://chains/5/strategies',
    'spiral://chains/1/constructor',
    'x'.repeat(10_000),
  ])('error: %s is no resource', async (uri) => {
    const { body } = await send(readOf(uri));
    expect(body).toMatchObject({ id: 1, error: { code: -32_002 } });
    expect(body.error.message.length).toBeLessThan(500);
  });
});
