import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { rawCorsHeaders } from '../../src/http/headers.ts';
import { type Front, type FrontOptions, OPS_KEY, PARTNER_KEY, startTestGateway, UNLIMITED } from './test-gateway.ts';

let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED });
});
afterAll(() => front.stop());

let other: Front | undefined;
const start = async (options: FrontOptions) => {
  other = await startTestGateway(options);
  return other;
};
afterEach(async () => {
  await other?.stop();
  other = undefined;
});

const LOOP = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const SURFACES = ['/v1/prices', '/v1/nowhere', '/graphql?query={chains{chainId}}', '/graphql?query={'];

/** Parameters of reads that wait for a block. */
const FRESH = ['afterTx', 'minBlock', 'maxAge'];

describe('headers', () => {
  test.each(SURFACES)('default: %s', async (path) => {
    const { headers } = await front.send(path);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'access-control-allow-origin': '*',
      'x-correlation-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const readable = headers.get('access-control-expose-headers') ?? '';
    for (const name of ['RateLimit', 'RateLimit-Policy', 'Retry-After', 'ETag', 'x-correlation-id']) {
      expect(readable.split(', ')).toContain(name);
    }
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('server')).toBeNull();
  });

  test.each(SURFACES)('behavior: a preflight for %s needs no key and no budget', async (path) => {
    const { status, headers } = await front.send(path, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-methods')).toContain('POST');
    expect(headers.get('access-control-allow-headers')).toContain('authorization');
    expect(headers.get('ratelimit')).toBeNull();
  });

  const preflight = async (asked: string | undefined, more: Record<string, string> = {}) => {
    const asking = asked === undefined ? undefined : { 'access-control-request-headers': asked };
    const { status, headers } = await front.send('/graphql', {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST', ...asking, ...more },
    });
    expect([status, headers.get('vary')]).toEqual([204, 'Access-Control-Request-Headers']);
    return headers.get('access-control-allow-headers') ?? '';
  };

  test('behavior: a preflight allows the headers that it asks for', async () => {
    const asked =
      'apollographql-client-name,apollographql-client-version,authorization,baggage,content-type,mcp-method,mcp-name,sentry-trace,traceparent,tracestate,x-datadog-trace-id';
    expect((await preflight(asked)).split(', ')).toEqual(asked.split(','));
    expect(await preflight('X-Own , x_2')).toBe('X-Own, x_2');
  });

  test('behavior: what is not the name of a header is not allowed', async () => {
    expect(await preflight('traceparent, two words, a:b, "c", \xe4, ,baggage')).toBe('traceparent, baggage');
    const usual = await preflight(undefined);
    expect(usual).toContain('authorization, content-type');
    expect(await preflight('a b')).toBe(usual);
    expect(await preflight('')).toBe(usual);
  });

  test('behavior: a preflight may ask for 4 kB of names', async () => {
    const names = (bytes: number) => 'abcdefg,'.repeat(bytes / 8).slice(0, -1);
    expect((await preflight(names(4_096))).split(', ')).toHaveLength(512);
    expect(await preflight(`${names(4_096)},x`)).toBe(await preflight(undefined));
  });

  test('behavior: origins are a setting', async () => {
    const { send } = await start({ env: { ...UNLIMITED, CORS_ORIGINS: 'https://app.example' } });
    const from = async (origin: string) => (await send('/v1/prices', { headers: { origin } })).headers;
    expect((await from('https://app.example')).get('access-control-allow-origin')).toBe('https://app.example');
    expect((await from('https://evil.example')).get('access-control-allow-origin')).toBeNull();
    expect((await from('https://evil.example')).get('vary')).toContain('Origin');
  });

  test.each(SURFACES)('behavior: %s with a key is no-store', async (path) => {
    expect((await front.send(path, { headers: PARTNER_KEY })).headers.get('cache-control')).toBe('no-store');
  });

  test('behavior: a well-formed correlation id is kept, anything else replaced', async () => {
    const idOf = async (id: string) =>
      (await front.send('/v1/prices', { headers: { 'x-correlation-id': id } })).headers.get('x-correlation-id');
    expect(await idOf('order-4711.a')).toBe('order-4711.a');
    for (const id of ['short', 'x'.repeat(65), 'with space here', '<script>alert(1)</script>'])
      expect(await idOf(id)).not.toBe(id);
  });

  test('behavior: 405 names the allowed methods', async () => {
    const put = await front.send('/v1/prices', { method: 'PUT' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const get = await front.send('/v1/partner/leverage/build', { headers: PARTNER_KEY });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    const gql = await front.send('/graphql', { method: 'DELETE' });
    expect([gql.status, gql.headers.get('allow')]).toEqual([405, 'GET, POST']);
  });

  test('behavior: HEAD is GET without a body', async () => {
    const head = await front.send('/v1/prices', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
  });
});

/** Send bytes, and read until the connection ends. */
const raw = (url: string, text: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('error', () => {}).on('close', () => resolve(answer));
  });

const APP = 'https://app.example';
const CLOSE = `host: x\r\norigin: ${APP}\r\nconnection: close\r\n`;
const JSON_POST = `content-type: application/json\r\n${CLOSE}`;
const REFUSED: readonly (readonly [status: number, text: string])[] = [
  [431, `GET / HTTP/1.1\r\n${CLOSE}x: ${'x'.repeat(20_000)}\r\n\r\n`],
  [400, `GET / HTTP/9.9\r\n${CLOSE}\r\n`],
  [400, `GET / HTTP/1.1\r\n${CLOSE}a b\r\n\r\n`],
  [400, `POST /graphql HTTP/1.1\r\ntransfer-encoding: chunked\r\n${JSON_POST}\r\nzz\r\n`],
  [408, `POST /graphql HTTP/1.1\r\ncontent-length: 9\r\n${JSON_POST}\r\n{`],
  [413, `POST /graphql HTTP/1.1\r\ncontent-length: 300000\r\n${JSON_POST}\r\n${' '.repeat(300_000)}`],
  [417, `GET / HTTP/1.1\r\nexpect: 200-ok\r\n${CLOSE}\r\n`],
  [405, `CONNECT example.org:443 HTTP/1.1\r\n${CLOSE}\r\n`],
  [400, `GET /v1/prices HTTP/1.1\r\nhost: y\r\n${CLOSE}\r\n`],
  [404, `GET /v1/nowhere HTTP/1.1\r\n${CLOSE}\r\n`],
];

describe.each([
  ['every origin', '*', '*'],
  ['a listed origin', APP, APP],
  ['another origin', 'https://other.example', undefined],
])('a page of %s reads the refusal of', (_name, CORS_ORIGINS, allowed) => {
  const env = { ...UNLIMITED, CORS_ORIGINS };
  const expectCors = (answer: string, status: number) => {
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const [head = ''] = answer.split('\r\n\r\n');
    expect(/^access-control-allow-origin: (.*)$/im.exec(head)?.[1]).toBe(allowed);
    expect(/^vary: .*origin/im.test(head)).toBe(CORS_ORIGINS !== '*');
    if (allowed !== undefined) expect(head).toMatch(/^access-control-expose-headers: .*x-correlation-id/im);
  };

  test('everything that reaches no row', async () => {
    const { url } = await start({ env, headersTimeout: 100, requestTimeout: 200 });
    for (const [status, text] of REFUSED) expectCors(await raw(url, text), status);
    expect(await raw(url, 'GET / HTTP/1.1\r\nhost: x\r\n')).toMatch(
      allowed === '*' ? /^HTTP\/1\.1 408 .*access-control-allow-origin: \*/is : /^HTTP\/1\.1 408 .*vary: Origin/is,
    );
  });

  test('a connection beyond the limit, after its preflight', async () => {
    const { url } = await start({ env, connectionsPerAddress: 1 });
    const first = connect(Number(new URL(url).port), '127.0.0.1');
    await new Promise((resolve) => first.once('connect', resolve));
    // The first connection is known to the service once it is answered there.
    first.write('GET /v1/nowhere HTTP/1.1\r\nhost: x\r\n\r\n');
    await new Promise((resolve) => first.once('data', resolve));
    const asked = 'access-control-request-method: GET\r\naccess-control-request-headers: traceparent\r\n';
    const before = await raw(url, `OPTIONS /v1/prices HTTP/1.1\r\nhost: x\r\norigin: ${APP}\r\n${asked}\r\n`);
    expectCors(before, 204);
    expect(before).toContain('access-control-allow-headers: traceparent\r\n');
    expectCors(await raw(url, `GET /v1/prices HTTP/1.1\r\nhost: x\r\norigin: ${APP}\r\n\r\n`), 503);
    // A key that turns out to be none opens no connection, and the state of the service is told to everybody.
    const wrong = `GET /v1/tvl HTTP/1.1\r\nhost: x\r\nauthorization: Bearer wrong\r\norigin: ${APP}\r\n\r\n`;
    expectCors(await raw(url, wrong), 503);
    first.destroy();
  });

  test('a used-up budget', async () => {
    const { url, send } = await start({ env: { CORS_ORIGINS, RATE_LIMIT_ANONYMOUS: '1' } });
    await send('/v1/prices');
    for (const line of ['GET /v1/prices', 'GET /graphql?query={chains{chainId}}', 'POST /mcp', 'GET /docs'])
      expectCors(await raw(url, `${line} HTTP/1.1\r\n${CLOSE}\r\n`), 429);
  });
});

describe('query parameters', () => {
  test('behavior: public rows ignore unknown ones and name them in a header', async () => {
    const plain = await front.send('/v1/prices');
    expect(plain.headers.get('ignored-parameters')).toBeNull();
    const answer = await front.send('/v1/prices?utm_source=x&chainId=1&b%0Ac=2&=3');
    expect([answer.status, answer.headers.get('ignored-parameters')]).toEqual([200, 'utm_source, b%0Ac, ""']);
    expect(answer.text).toBe(plain.text);
  });

  test.each(['chainIds=4663', 'ChainID=4663', 'chain_id=4663', 'chanId=4663', 'chain=4663'])(
    'error: BadRequest for a name like a known one: %s',
    async (query) => {
      const { status, body } = await front.send(`/v1/prices?${query}`);
      const field = `query.${query.split('=')[0]}`;
      expect(status).toBe(400);
      const oneOf = ['chainId', ...FRESH];
      expect(body.error).toMatchObject({ code: 'bad_request', details: { field, limit: { oneOf } } });
      expect(body.error.message).toContain('Its spelling is "chainId".');
    },
  );

  test.each([
    ['/v1/partner/positions/0x90F79bf6EB2c4f870365E785982E1f101E93b906', FRESH],
    ['/v1/ops/portfolios', []],
  ])('error: BadRequest for any unknown name on %s', async (path, more) => {
    const { status, body } = await front.send(`${path}?page=2`, { headers: OPS_KEY });
    expect([status, body.error.details]).toEqual([
      400,
      { field: 'query.page', value: '2', limit: { oneOf: ['chainId', ...more] } },
    ]);
  });

  test.each([
    `/v1/strategies/${LOOP}`,
    ...['leveraged-apy-history', 'stress'].map((row) => `/v1/strategies/${LOOP}/${row}`),
    ...['borrow-apy-history', 'incentive-history'].map((row) => `/v1/markets/${LOOP}/${row}`),
    `/v1/collateral/${LOOP}/apy-history`,
  ])('error: BadRequest naming the right chain for a chainId that contradicts the id: %s', async (path) => {
    const { status, body } = await front.send(`${path}?chainId=4663`);
    expect([status, body.error?.details]).toEqual([
      400,
      { field: 'query.chainId', value: '4663', limit: { oneOf: [1] } },
    ]);
    expect(body.error.message).toMatch(/on chain 1\b/);
    const [right, none] = [await front.send(`${path}?chainId=1`), await front.send(path)];
    expect([right.status, right.headers.get('ignored-parameters')]).toEqual([none.status, null]);
    expect(right.status).not.toBe(400);
  });

  test('error: BadRequest for a parameter beside the body of a build', async () => {
    const headers = { ...PARTNER_KEY, 'content-type': 'application/json' };
    const { status, body } = await front.send('/v1/partner/manage/build?chainId=4663', {
      method: 'POST',
      headers,
      body: '{}',
    });
    expect([status, body.error.details.field]).toEqual([400, 'query.chainId']);
    expect(body.error.message).toContain('This path takes no parameters');
  });
});

describe('introspection', () => {
  test('behavior: is a setting; without it errors suggest no names', async () => {
    const { graphql } = await start({ env: { ...UNLIMITED, INTROSPECTION: 'false' } });
    for (const query of ['{__schema{types{name}}}', '{__type(name:"Query"){name}}']) {
      const { body } = await graphql(query);
      expect(body.errors[0].extensions.code).toBe('bad_request');
      expect(body.data).toBeUndefined();
    }
    for (const query of [
      '{chans{chainId}}',
      '{chains{chainIdd}}',
      '{strategies(filtr:{}){totalCount}}',
      '{strategies(orderBy:{field:LEVERAGE_APYS}){totalCount}}',
    ]) {
      const { text } = await graphql(query);
      expect(text).toContain('bad_request');
      expect(text).not.toContain('Did you mean');
    }
    expect((await graphql('{__typename chains{__typename}}')).body.errors).toBeUndefined();
    expect((await front.graphql('{chans{chainId}}')).text).toContain('Did you mean');
    expect((await front.graphql('{__schema{types{name}}}')).body.errors).toBeUndefined();
  });
});

describe('GraphiQL', () => {
  const page = { headers: { accept: 'text/html' } };
  test('behavior: is a setting, and has a policy without external requests', async () => {
    const shown = await front.send('/graphql', page);
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(shown.headers.get('content-security-policy')).toContain("connect-src 'self'");
    const { send } = await start({ env: { ...UNLIMITED, GRAPHIQL: 'false' } });
    const hidden = await send('/graphql', page);
    expect(hidden.headers.get('content-type')).toContain('json');
    for (const path of ['/', '/docs']) {
      expect((await front.send(path)).text).toContain('href="graphql"');
      expect((await send(path)).text).not.toContain('href="graphql"');
    }
    // The example app is a part of the local world, which this service does not have.
    expect((await send('/')).text).not.toContain('app/');
    for (const path of ['/app', '/app/', '/app/world.json']) expect((await send(path)).status).toBe(404);
  });
});

test('behavior: a request that cannot be parsed gets the headers of the only listed origin', () => {
  const one = { origins: [APP] };
  expect(rawCorsHeaders(one, undefined)).toMatchObject({ 'access-control-allow-origin': APP });
  expect(rawCorsHeaders(one, 'https://other.example')).toEqual({ vary: 'Origin' });
  expect(rawCorsHeaders({ origins: [APP, 'https://b.example'] }, undefined)).toEqual({ vary: 'Origin' });
});
