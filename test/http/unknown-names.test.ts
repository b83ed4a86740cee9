import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from './test-gateway.ts';

let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED });
});
afterAll(() => front.stop());

const JSON_TYPE = { 'content-type': 'application/json' };
const MCP_TYPE = { ...JSON_TYPE, accept: 'application/json, text/event-stream' };
const names = (count: number, value: unknown = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]));
const post = (path: string, body: unknown, headers: Record<string, string> = JSON_TYPE) =>
  front.send(path, { method: 'POST', headers: { ...headers }, body: JSON.stringify(body) });
const query = '{chains{chainId}}';
const message = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
const open = { strategyId: `0x${'1'.repeat(64)}`, payToken: `0x${'1'.repeat(40)}`, amount: '1', leverage: 5 };

type Shape = readonly [name: string, send: (more: Record<string, unknown>) => ReturnType<typeof post>];

/** Where a request may have names, on every surface. `more` goes there. */
const PLACES: readonly Shape[] = [
  [
    'a row, in the body',
    (more) => post('/v1/partner/leverage/simulate', { ...open, ...more }, { ...JSON_TYPE, ...PARTNER_KEY }),
  ],
  [
    'a row, in a field',
    (more) => post('/v1/partner/leverage/simulate', { ...open, amount: more }, { ...JSON_TYPE, ...PARTNER_KEY }),
  ],
  ['a row, in its query', (more) => front.send(`/v1/prices?${Object.keys(more).join('&')}`)],
  [
    'a keyed row, in its query',
    (more) => front.send(`/v1/partner/alerts?${Object.keys(more).join('&')}`, { headers: PARTNER_KEY }),
  ],
  ['GraphQL, beside the query', (more) => post('/graphql', { query, ...more })],
  ['GraphQL, in extensions', (more) => post('/graphql', { query, extensions: more })],
  ['GraphQL, in variables', (more) => post('/graphql', { query, variables: more })],
  ['GraphQL, in the second of a batch', (more) => post('/graphql', [{ query }, { query, extensions: more }])],
  ['GraphQL, in its query string', (more) => front.send(`/graphql?query=${query}&${Object.keys(more).join('&')}`)],
  [
    'GraphQL, in variables of its query string',
    (more) => front.send(`/graphql?query=${query}&variables=${encodeURIComponent(JSON.stringify(more))}`),
  ],
  ['MCP, in _meta', (more) => post('/mcp', message('tools/list', { _meta: more }), MCP_TYPE)],
  ['MCP, in params', (more) => post('/mcp', message('tools/list', more), MCP_TYPE)],
  ['MCP, beside params', (more) => post('/mcp', { ...message('ping', {}), ...more }, MCP_TYPE)],
  [
    'MCP, in arguments',
    (more) => post('/mcp', message('tools/call', { name: 'list_strategies', arguments: more }), MCP_TYPE),
  ],
  ['MCP, in a batch', (more) => post('/mcp', [message('ping', {}), message('ping', { _meta: more })], MCP_TYPE)],
];

/** The error in the form of its surface. */
const errorOf = ({ body }: Awaited<ReturnType<typeof post>>) => {
  const {
    code,
    message: text,
    details,
  } = body.error?.data === undefined ? (body.error ?? body.errors?.[0]?.extensions ?? {}) : body.error.data;
  return { code, details, message: text ?? body.error?.message ?? body.errors?.[0]?.message };
};

describe('names that a request does not take', () => {
  test.each(PLACES)('error: at the hundredth, %s', async (_name, send) => {
    const answer = await send(names(100));
    expect(answer.status).toBe(400);
    const error = errorOf(answer);
    expect(error).toMatchObject({ code: 'bad_request', details: { limit: { maxUnknownNames: 99 } } });
    expect(answer.text).toContain('more than 99 names that this request does not take');
    expect(answer.text.length).toBeLessThan(1_000);
  });

  test.each(PLACES)('behavior: below a hundred the surface decides, %s', async (_name, send) => {
    const answer = await send(names(99));
    expect(answer.text).not.toContain('maxUnknownNames');
  });

  test('error: MCP answers as to a text that it cannot read', async () => {
    const { body } = await post('/mcp', message('tools/list', { _meta: names(100) }), MCP_TYPE);
    expect(body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_700 } });
  });

  test('behavior: names over several messages of a batch count together', async () => {
    const answer = await post(
      '/mcp',
      Array.from({ length: 10 }, () => message('ping', { _meta: names(10) })),
      MCP_TYPE,
    );
    expect(answer.status).toBe(400);
  });

  test('behavior: variables that the document names are known, however many', async () => {
    const variables = Object.fromEntries(Array.from({ length: 110 }, (_, i) => [`v${i}`, 1]));
    const text = `query(${Object.keys(variables)
      .map((name) => `$${name}:Int`)
      .join(' ')}){chains{chainId}}`;
    const answer = await post('/graphql', { query: text, variables });
    expect(answer.text).not.toContain('maxUnknownNames');
  });
});

describe('values', () => {
  const list = Array.from({ length: 2_001 }, () => 1);
  test.each([
    ['a row', () => post('/v1/partner/leverage/simulate', { ...open, amount: list }, { ...JSON_TYPE, ...PARTNER_KEY })],
    ['GraphQL', () => post('/graphql', { query, variables: { a: list } })],
    [
      'MCP',
      () => post('/mcp', message('tools/call', { name: 'list_strategies', arguments: { chainId: list } }), MCP_TYPE),
    ],
    [
      'objects of known names',
      () =>
        post(
          '/graphql',
          Array.from({ length: 2_100 }, () => ({ query: 'a' })),
        ),
    ],
  ] as const)('error: more than 2,000 entries and names, %s', async (_name, send) => {
    const answer = await send();
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'bad_request', details: { limit: { maxValues: 2_000 } } });
  });
});

describe('texts that are not JSON', () => {
  test.each([
    ['a string without an end', `{"a":"${'\\"'.repeat(30_000)}`],
    ['only quotes', '"'.repeat(60_000)],
    ['a name without an end', `{"${'a'.repeat(60_000)}`],
    ['a bad escape in a name', '{"\\x":1}'],
    ['closed too often', ']}]}'.repeat(10_000)],
  ])('error: %s is refused quickly', async (_name, body) => {
    const started = process.cpuUsage();
    const answer = await front.send('/graphql', { method: 'POST', headers: JSON_TYPE, body });
    const { user } = process.cpuUsage(started);
    expect([answer.status, user / 1_000 < 1_000]).toEqual([400, true]);
  });
});

describe('errors of an operation', () => {
  const ids = Array.from({ length: 100 }, (_, i) => `x${i}`);
  test('behavior: twenty of the items of lists are listed, and charged', async () => {
    const answer = await post('/graphql', {
      query: 'query($ids:[ID!]!){a:nodes(ids:$ids){id} b:nodes(ids:$ids){id}}',
      variables: { ids },
    });
    expect(answer.body.errors).toHaveLength(20);
    expect(answer.body.data.b).toHaveLength(100);
    expect(answer.body.extensions.cost.points).toBeGreaterThanOrEqual(2);
  });

  test('error: more ids than the limit of the cost allows', async () => {
    const fields = Array.from({ length: 12 }, (_, i) => `a${i}:nodes(ids:$ids){id}`).join(' ');
    const answer = await post('/graphql', { query: `query($ids:[ID!]!){${fields}}`, variables: { ids } });
    expect(answer.body.errors[0].extensions).toMatchObject({ code: 'query_too_complex', details: { measure: 'cost' } });
  });

  test('error: a document of more lines than an error can be found in quickly', async () => {
    const answer = await post('/graphql', { query: `{${'\n'.repeat(3_000)}node(id:"x"){id}}` });
    expect(answer.body.errors[0].extensions).toMatchObject({
      code: 'query_too_complex',
      details: { measure: 'lines' },
    });
  });

  test('error: an Accept header with a thousand media types', async () => {
    const answer = await front.send(`/graphql?query=${query}`, { headers: { accept: 'a/b,'.repeat(1_000) } });
    expect(errorOf(answer)).toMatchObject({ details: { field: 'headers.accept', limit: { maxLength: 1_000 } } });
  });
});
