import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type Front, type FrontOptions, PARTNER_KEY, startTestGateway, UNLIMITED } from './test-gateway.ts';

let front: Front | undefined;
afterEach(async () => {
  await front?.stop();
  front = undefined;
});
const start = async (options: FrontOptions = {}) => {
  front = await startTestGateway(options);
  return front;
};
const JSON_TYPE = { 'content-type': 'application/json' };
const post = (body: string, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { ...JSON_TYPE, ...headers },
  body,
});
const times = (count: number, make: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join(' ');

/** Send bytes and read until the connection ends. */
const raw = (url: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer)).on('error', reject);
  });
const pointsOf = async ({ send }: Front, work: () => Promise<unknown>): Promise<number> => {
  const left = async () => Number(/r=(\d+)/.exec((await send('/v1/prices')).headers.get('ratelimit') ?? '')?.[1]);
  const before = await left();
  await work();
  return before - (await left()) - 1;
};

describe('files', () => {
  test('default: GraphiQL is a small page, and its script is a separate immutable file', async () => {
    const { send } = await start({ env: UNLIMITED });
    const page = await send('/graphql', { headers: { accept: 'text/html' } });
    expect(page.text.length).toBeLessThan(4_096);
    const script = /src="(graphiql\/app\.js\?v=[\w-]+)"/.exec(page.text)?.[1];
    const first = await send(`/${script}`, { headers: { 'accept-encoding': 'br' } });
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
      etag: expect.stringMatching(/^"[\w-]+-br"$/),
    });
    expect(Number(first.headers.get('content-length'))).toBeLessThan(2_000_000);
    const again = await send(`/${script}`, {
      headers: { 'accept-encoding': 'br', 'if-none-match': first.headers.get('etag') ?? '' },
    });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test.each(['/openapi.json', '/docs', '/docs/viewer.js', '/docs/style.css', '/ops', '/favicon.svg'])(
    'default: %s is compressed, has an entity tag, and costs a point',
    async (path) => {
      const { send } = await start({ env: { RATE_LIMIT_ANONYMOUS: '3' } });
      const first = await send(path, { headers: { 'accept-encoding': 'gzip' } });
      expect(first.headers.get('content-encoding')).toBe('gzip');
      expect(first.headers.get('vary')).toContain('accept-encoding');
      const etag = first.headers.get('etag') ?? '';
      const again = await send(path, { headers: { 'accept-encoding': 'gzip', 'if-none-match': etag } });
      expect([again.status, again.text]).toEqual([304, '']);
      expect(again.headers.get('ratelimit')).toContain('r=1;');
      await send(path);
      const refused = await send(path);
      expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    },
  );
});

describe('/schema.graphql', () => {
  test('default: is the schema in SDL', async () => {
    const { send } = await start({ env: UNLIMITED });
    const { status, text, headers } = await send('/schema.graphql');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text).toBe(await readFile('schema.graphql', 'utf8'));
  });

  test('error: not_found where introspection is off', async () => {
    const { send } = await start({ env: { ...UNLIMITED, INTROSPECTION: 'false' } });
    expect((await send('/schema.graphql')).status).toBe(404);
    expect((await send('/graphql', { headers: { accept: 'text/html' } })).text).not.toContain('schema.graphql');
  });
});

describe('a path that leads nowhere', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  test('default: a browser gets a page, whose links work at every depth', async () => {
    const { send } = await start({ env: UNLIMITED });
    for (const path of ['/nope', '/docs/nope', '/a/b/c', '/a/%3Cscript%3E']) {
      const { status, text, headers } = await send(path, { headers: { accept: BROWSER } });
      expect([path, status, headers.get('content-type')]).toEqual([path, 404, 'text/html; charset=utf-8']);
      expect(text).not.toContain('<script>');
      const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => new URL(href, `http://x${path}`));
      expect(links.length).toBeGreaterThan(4);
      for (const { pathname, search } of links)
        expect([path, pathname, (await send(pathname + search)).status]).toEqual([path, pathname, 200]);
    }
  });

  test('default: everyone else, and every path of /v1, gets the error as before', async () => {
    const { send } = await start({ env: UNLIMITED });
    for (const [path, accept] of [
      ['/nope', '*/*'],
      ['/nope', 'application/json'],
      ['/v1/nope', BROWSER],
    ] as const) {
      const { status, body } = await send(path, { headers: { accept } });
      expect([path, status, body.error.code]).toEqual([path, 404, 'not_found']);
    }
    const post = await send('/nope', { method: 'POST', headers: { accept: BROWSER } });
    expect(post.body.error.code).toBe('not_found');
  });
});

describe('introspection', () => {
  test('default: answers the standard query from one buffer, at a fixed price', async () => {
    const { getIntrospectionQuery } = await import('graphql');
    const { graphql, send } = await start();
    const first = await graphql(getIntrospectionQuery());
    const again = await graphql(getIntrospectionQuery());
    expect(again.body.data).toEqual(first.body.data);
    expect(again.body.data.__schema.types.length).toBeGreaterThan(100);
    expect(again.body.extensions.cost.points).toBe(5);
    const minified = getIntrospectionQuery().replaceAll(/\s+/g, ' ');
    expect((await send('/graphql', post(JSON.stringify({ query: minified })))).body.data).toEqual(first.body.data);
  });

  test('behavior: other introspection costs its selections times the types', async () => {
    const { graphql } = await start();
    const costOf = async (query: string) => (await graphql(query)).body.extensions.cost.cost as number;
    const names = await costOf('{__schema{types{name}}}');
    expect(await costOf('{__schema{types{a:name b:name c:name d:name e:name}}}')).toBeGreaterThan(names + 4 * 40);
    expect(await costOf('{__schema{types{fields{name type{name}}}}}')).toBeGreaterThan(3 * names);
    const one = await costOf('{__type(name:"Strategy"){fields{name}}}');
    expect(one).toBeLessThan(names);
    const byVariable = 'query($n:String!){__type(name:$n){fields{name type{fields{name}}}}}';
    const ask = async (n: string) => (await graphql(byVariable, { variables: { n } })).body.extensions.cost.cost;
    expect(await ask('Query')).toBeGreaterThan((await ask('Nothing')) + 50);
  });

  test('error: query_too_complex for aliases of large parts', async () => {
    const { graphql } = await start();
    const { status, body } = await graphql(`{${times(30, (i) => `a${i}:__schema{types{fields{name args{name}}}}`)}}`);
    expect([status, body.errors[0].extensions.details.measure]).toEqual([400, 'cost']);
  });

  test('behavior: when off, errors name only names of the query', async () => {
    const { graphql } = await start({ env: { ...UNLIMITED, INTROSPECTION: 'false' } });
    for (const [query, variables] of [
      ['{strategy{id}}', {}],
      ['{wallet{chainId}}', {}],
      ['{chains{...on Strateg{id}}}', {}],
      ['{strategies(orderBy:{field:BEST}){totalCount}}', {}],
      ['{strategies(orderBy:{}){totalCount}}', {}],
      ['mutation{anything}', {}],
      ['{strategies(filter:1){totalCount}}', {}],
      ['{strategies}', {}],
      ['query($f:StrategyFilter){strategies(filter:$f){totalCount}}', { f: 1 }],
    ] as const) {
      const { body } = await graphql(query, { variables });
      const text = body.errors.map(({ message }: { message: string }) => message).join('\n');
      const reported = [...text.matchAll(/"(\w+)[!\]]*"/g)].map(([, name]) => name ?? '');
      expect(reported.filter((name) => !`${query} ${JSON.stringify(variables)}`.includes(name))).toEqual([]);
    }
    expect((await graphql('{strategy{id}}')).text).not.toContain('StrategyId');
  });
});

describe('charges of requests', () => {
  test('behavior: every operation of a batch is charged, also invalid ones', async () => {
    const started = await start();
    const batch = (query: string) => () =>
      started.send(
        '/graphql',
        post(JSON.stringify(times(5, () => query).length ? Array.from({ length: 5 }, () => ({ query })) : [])),
      );
    expect(await pointsOf(started, batch('{chains{chainId}}'))).toBe(5);
    expect(await pointsOf(started, batch('{'))).toBe(5);
    expect(await pointsOf(started, batch('query($a:Strategi){chains{chainId}}'))).toBe(5);
  });

  test('error: rate_limited before the execution of a batch beyond the budget', async () => {
    const { send } = await start({ env: { RATE_LIMIT_ANONYMOUS: '3' } });
    const answer = await send('/graphql', post(JSON.stringify(Array.from({ length: 5 }, () => ({ query: '{' })))));
    expect([answer.status, answer.body.errors[0].extensions.code]).toEqual([429, 'rate_limited']);
  });

  test('behavior: charges a document that takes long to validate, valid or not, and returns the points after a syntax error', async () => {
    const started = await start();
    const fields = times(200, () => 'chainId');
    const ask = (query: string) => () => started.graphql(query);
    const invalid = await pointsOf(started, ask(`{chains{${fields} nothing}}`));
    expect(invalid).toBeGreaterThanOrEqual(2);
    const valid = await pointsOf(started, ask(`{chains{${fields}}}`));
    expect(valid).toBeGreaterThanOrEqual(invalid);
    // It is known from then on.
    expect(await pointsOf(started, ask(`{chains{${fields}}}`))).toBeLessThan(valid);
    expect(await pointsOf(started, ask(`{chains{${fields}}`))).toBe(1);
  });

  test('behavior: does not look up unknown keys beyond the budget of their address', async () => {
    let lookups = 0;
    const verify = async () => {
      lookups += 1;
      return null;
    };
    const { send } = await start({ verify, env: { RATE_LIMIT_ANONYMOUS: '20' } });
    const guess = (i: number) =>
      send(`/v1/partner/positions/0x${'1'.repeat(40)}`, { headers: { authorization: `Bearer sg_partner_${i}` } });
    const statuses = (await Promise.all(Array.from({ length: 60 }, (_, i) => guess(i)))).map(({ status }) => status);
    expect(lookups).toBe(20);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  });
});

describe('depth', () => {
  const nested = (depth: number, inner = '1') => '['.repeat(depth) + inner + ']'.repeat(depth);
  test.each([
    ['variables', `{"query":"{chains{chainId}}","variables":{"a":${nested(5_000)}}}`, 'body.variables.a.0'],
    ['a body that is all nesting', nested(30_000), 'body.0.0'],
    ['extensions', `{"query":"{chains{chainId}}","extensions":{"a":${nested(40)}}}`, 'body.extensions.a.0'],
  ])('error: bad_request for %s, naming the place', async (_name, body, place) => {
    const { send } = await start({ env: UNLIMITED });
    const answer = await send('/graphql', post(body));
    const { code, details } = answer.body.errors[0].extensions;
    expect([answer.status, code, details.limit]).toEqual([400, 'bad_request', { max: 32 }]);
    expect(details.field).toContain(place);
  });

  test('error: bad_request for a parameter and for a body of REST', async () => {
    const { send } = await start({ env: UNLIMITED });
    const variables = encodeURIComponent(`{"a":${nested(100)}}`);
    const get = await send(`/graphql?query={chains{chainId}}&variables=${variables}`);
    expect(get.body.errors[0].extensions.details.field).toContain('query.variables.a.0');
    const rest = await send('/v1/partner/leverage/build', post(`{"amount":${nested(30_000)}}`, PARTNER_KEY));
    expect([rest.status, rest.body.error.code]).toEqual([400, 'bad_request']);
    expect(rest.body.error.details.field).toContain('body.amount.0');
  });

  test.each([
    ['list literals', `{strategies(chainIds:${nested(3_900)}){totalCount}}`, 'brackets'],
    ['fragments', `{...F0} ${times(1_200, (i) => `fragment F${i} on Query{...F${i + 1}}`)}`, 'fragments'],
    ['inline fragments', `{${'...{'.repeat(900)}`, 'brackets'],
    ['comparisons of fields', `{${times(240, () => 'chains{chainId}')}}`, 'validation'],
    ['selections', `{${times(1_001, (i) => `f${i}`)}}`, 'selections'],
  ])('error: query_too_complex for nested or too many %s', async (_name, query, measure) => {
    const { graphql } = await start({ env: UNLIMITED });
    const { status, body } = await graphql(query);
    expect([status, body.errors[0].extensions.details.measure]).toEqual([400, measure]);
  });
});

describe('unread answers', () => {
  test('error: not_ready beyond the limit of an address, with Retry-After; small answers and other addresses continue', async () => {
    const { url, send } = await start({
      env: { ...UNLIMITED, TRUSTED_PROXIES: '1' },
      unread: { processBytes: 64 * 2 ** 20, addressBytes: 8 * 2 ** 20 },
    });
    const path = '/graphiql/app.js';
    await send(path);
    const { port } = new URL(url);
    const sockets = Array.from({ length: 40 }, () => {
      const socket = connect(Number(port), '127.0.0.1').pause();
      socket.on('error', () => {});
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 192.0.2.1\r\n\r\n`);
      return socket;
    });
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    await expect.poll(async () => (await send(path, from('192.0.2.1'))).status).toBe(503);
    const refused = await send(path, from('192.0.2.1'));
    expect([refused.body.error.code, refused.headers.get('retry-after')]).toEqual(['not_ready', '2']);
    expect((await send('/v1/nowhere', from('192.0.2.1'))).status).toBe(404);
    expect((await send(path, from('192.0.2.2'))).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await send(path, from('192.0.2.1'))).status).toBe(200);
  });
});

describe('HTTP', () => {
  test('error: bad_request for two keys; schemes other than Bearer are not keys', async () => {
    const { url, send, graphql } = await start({ env: UNLIMITED });
    const two = (path: string) =>
      raw(
        url,
        `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n`,
      );
    for (const path of ['/v1/prices', '/graphql?query={chains{chainId}}', '/docs']) {
      const answer = await two(path);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('headers.authorization');
    }
    const headers = { authorization: 'Basic dXNlcjpwYXNz' };
    expect((await send('/v1/prices', { headers })).status).toBe(200);
    expect((await graphql('{chains{chainId}}', { headers })).status).toBe(200);
    expect((await send(`/v1/partner/positions/0x${'1'.repeat(40)}`, { headers })).status).toBe(401);
  });

  test('behavior: public rows vary with the key', async () => {
    const { send } = await start({ env: UNLIMITED });
    expect((await send('/v1/prices')).headers.get('vary')).toContain('authorization');
    expect((await send('/v1/prices', { headers: PARTNER_KEY })).headers.get('vary')).toContain('authorization');
  });

  test.each([
    ['no Host', 'GET /v1/prices HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'bad_request'],
    [
      'another expectation',
      'GET /v1/prices HTTP/1.1\r\nhost: x\r\nexpect: 200-ok\r\nconnection: close\r\n\r\n',
      417,
      'bad_request',
    ],
    ['a tunnel', 'CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n', 405, 'method_not_allowed'],
  ])('error: the envelope for %s', async (_name, text, status, code) => {
    const { url } = await start({ env: UNLIMITED });
    const answer = await raw(url, text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
    expect(body.error).toMatchObject({ code, correlationId: expect.any(String) });
    if (status !== 405) return;
    expect(answer).toMatch(/\r\nallow: \r\n/);
    expect(body.error.details).toEqual({ allow: [] });
  });

  test('behavior: always answers a refused body of 5 MB', async () => {
    const { send } = await start({ env: UNLIMITED });
    const body = JSON.stringify({ query: 'x'.repeat(5 * 2 ** 20) });
    for (let i = 0; i < 10; i += 1) {
      const [graphql, rest] = await Promise.all([
        send('/graphql', post(body)),
        send('/v1/partner/leverage/build', post(body, PARTNER_KEY)),
      ]);
      expect([graphql.status, rest.status]).toEqual([413, 413]);
    }
  });

  test('error: method_not_allowed for a mutation by GET, in the status and in the extensions', async () => {
    const { send } = await start({ env: UNLIMITED });
    const { status, headers, body } = await send('/graphql?query=mutation{anything}');
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    expect(body.errors[0].extensions).toMatchObject({ code: 'method_not_allowed', status: 405 });
  });

  test('behavior: accepts any alias, also `then`', async () => {
    const { graphql } = await start({ env: UNLIMITED });
    for (let i = 0; i < 4; i += 1) {
      const { body } = await graphql('{then:__typename chains{then:chainId stable{then:chain{then:name}}}}');
      expect(body.errors).toBeUndefined();
      expect(body.data.then).toBe('Query');
      expect(body.data.chains[0].then).toBe(1);
    }
  });

  test('behavior: does not write the error of the next request into an answer', async () => {
    const { url } = await start({ env: UNLIMITED });
    const sent = JSON.stringify({ query: '{strategies(first:500){nodes{id}}}' });
    const head = `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${sent.length}\r\n\r\n`;
    const answer = await raw(url, `${head}${sent}this is not HTTP\r\n\r\n`);
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(['200']);
    const [, text = ''] = answer.split('\r\n\r\n');
    expect(JSON.parse(text).data.strategies.nodes.length).toBeGreaterThan(1);
  });

  test('behavior: a body with a malformed transfer encoding gets one answer', async () => {
    const { url } = await start({ env: UNLIMITED });
    const head =
      'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
    const answer = await raw(url, `${head}zz\r\nnot a chunk`);
    expect([...answer.matchAll(/HTTP\/1\.1 \d+/g)]).toHaveLength(1);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).error.code).toBe('bad_request');
  });

  test.each([
    ['preflights', 'OPTIONS /v1/prices', '', [204, 204]],
    ['preflights with an empty body', 'OPTIONS /graphql', 'content-length: 0\r\n', [204, 204]],
    ['deletions without a key', `DELETE /v1/partner/alerts/${'0'.repeat(32)}`, '', [401, 401]],
    ['posts without a body', 'POST /v1/partner/leverage/build', '', [401, 401]],
    ['posts of a small body', 'POST /v1/prices', 'content-length: 2\r\n', [405, 405]],
    ['unknown methods', 'PUT /docs', '', [405, 405]],
  ])('behavior: the connection stays open after %s', async (_name, line, header, expected) => {
    const { url } = await start({ env: UNLIMITED });
    const body = header.endsWith('2\r\n') ? '{}' : '';
    const one = `${line} HTTP/1.1\r\nhost: x\r\n${header}`;
    const answer = await raw(url, `${one}\r\n${body}${one}connection: close\r\n\r\n${body}`);
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))).toEqual(expected);
  });

  test('behavior: supports Expect: 100-continue', async () => {
    const { url } = await start({ env: UNLIMITED });
    const status = await new Promise((resolve, reject) => {
      const sent = request(`${url}/graphql`, { method: 'POST', headers: { ...JSON_TYPE, expect: '100-continue' } });
      sent.on('continue', () => sent.end('{"query":"{chains{chainId}}"}'));
      sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
      sent.flushHeaders();
    });
    expect(status).toBe(200);
  });
});
