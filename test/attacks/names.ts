import { type Attack, JSON_TYPE, times } from './attack.ts';

/** Answered or refused: what counts is the cost. */
const ALLOWED = [200, 202, 400, 401, 404, 406, 413, 429, 431] as const;
const MCP_TYPE = { ...JSON_TYPE, accept: 'application/json, text/event-stream' };
/** A key of the local world, so that bodies of keyed rows are read. */
export const KEY = { authorization: 'Bearer local-partner' };

export const names = (count: number, value: unknown = 1): Record<string, unknown> =>
  Object.fromEntries(times(count, (i) => [`k${i.toString(36)}`, value]));

const send = (name: string, path: string, body: unknown, headers: Record<string, string>): Attack => ({
  name,
  path,
  init: { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) },
  status: ALLOWED,
});
export const message = (method: string, params: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
  ...more,
});
const mcp = (name: string, body: unknown): Attack => send(`/mcp: ${name}`, '/mcp', body, MCP_TYPE);
const graphql = (name: string, body: unknown): Attack => send(`/graphql: ${name}`, '/graphql', body, JSON_TYPE);
const row = (name: string, body: unknown): Attack =>
  send(`a body of a row: ${name}`, '/v1/partner/leverage/simulate', body, { ...JSON_TYPE, ...KEY });
const get = (name: string, target: string, headers: Record<string, string> = {}): Attack => ({
  name,
  path: target,
  init: { headers },
  status: ALLOWED,
});

/** Bodies and query strings with thousands of names, items and errors: one request each, within the limits of size. */
export function namesCorpus(): readonly Attack[] {
  return [...mcpNames(), ...graphqlNames(), ...rowNames(), ...queryNames()];
}

const call = (args: unknown) => message('tools/call', { name: 'list_strategies', arguments: args });

function mcpNames(): Attack[] {
  const sixty = 'x'.repeat(60_000);
  return [
    mcp('6,900 names in _meta', message('tools/list', { _meta: names(6_900) })),
    mcp('6,900 names in _meta of a call', message('tools/call', { name: 'x', arguments: {}, _meta: names(6_900) })),
    mcp('6,900 names in params', message('tools/list', names(6_900))),
    mcp('6,900 names beside params', message('tools/list', {}, names(6_900))),
    mcp('6,900 names in arguments', call(names(6_900))),
    mcp('6,900 names in _meta of ping', message('ping', { _meta: names(6_900) })),
    mcp('6,900 names in a resource', message('resources/read', { uri: 'x', ...names(6_900) })),
    mcp('6,000 names in capabilities', initialize({ capabilities: names(6_000, {}) })),
    mcp('6,000 names in experimental capabilities', initialize({ capabilities: { experimental: names(6_000, {}) } })),
    mcp('6,000 names in clientInfo', initialize({ clientInfo: { name: 'a', version: '1', ...names(6_000) } })),
    mcp('6,900 names in an unknown method', message('nothing/here', names(6_900))),
    mcp(
      'ten messages of 690 names',
      times(10, () => message('tools/list', { _meta: names(640) })),
    ),
    mcp(
      'ten messages of 90 names',
      times(10, () => message('tools/list', { _meta: names(90) })),
    ),
    mcp(
      'ten calls',
      times(10, () => call({})),
    ),
    mcp(
      'ten lists of tools',
      times(10, () => message('tools/list', {})),
    ),
    mcp(
      '1,000 messages',
      times(1_000, () => message('ping', {})),
    ),
    mcp('10,000 items in an argument', call({ chainId: times(20_000, () => 1) })),
    mcp('10,000 objects in an argument', call({ chainId: times(6_000, () => ({ a: 1 })) })),
    mcp('a value 30 levels deep, many times', call(times(600, () => nested(30)))),
    mcp('an argument of 60,000 characters', call({ chainId: sixty })),
    mcp('a tool of 60,000 characters', message('tools/call', { name: sixty })),
    mcp('a URI of 60,000 characters', message('resources/read', { uri: sixty })),
    mcp('a method of 60,000 characters', message(sixty, {})),
    mcp('a name of 60,000 characters', call({ [sixty]: 1 })),
    mcp('an id of 60,000 characters', message('tools/list', {}, { id: sixty })),
    mcp('a tool that does not exist', message('tools/call', { name: 'nothing' })),
    mcp('the list of tools', message('tools/list', {})),
  ];
}

const initialize = (more: object) =>
  message('initialize', {
    protocolVersion: '2025-03-26',
    capabilities: {},
    clientInfo: { name: 'a', version: '1' },
    ...more,
  });

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

function graphqlNames(): Attack[] {
  const query = 'query A{chains{chainId}}';
  const nodes = 'query A($i:[ID!]!){nodes(ids:$i){id}}';
  const filter = 'query A($f:StrategyFilter,$c:[ChainId!]){strategies(filter:$f,chainIds:$c){totalCount}}';
  const ids = (make: (i: number) => string) => times(100, make);
  const unknownId = (i: number) =>
    Buffer.from(`Strategy:1:0x${i.toString(16).padStart(64, '0')}`).toString('base64url');
  return [
    graphql('6,900 names in extensions', { query, extensions: names(6_900) }),
    graphql('6,900 variables', { query, variables: names(6_900) }),
    graphql('6,900 unknown parameters', { query, ...names(6_900) }),
    graphql('6,900 names in an input', { query: filter, variables: { f: names(6_900) } }),
    graphql('6,000 names in nested objects', { query, variables: { a: times(3_000, () => ({ b: { c: 1 } })) } }),
    graphql('30,000 values in a variable', { query: filter, variables: { c: times(30_000, () => 1) } }),
    graphql('6,900 wrong values', { query: filter, variables: { c: times(6_900, () => 'x') } }),
    graphql(
      'a batch with 1,300 names in each extensions',
      times(5, () => ({ query, extensions: names(1_300) })),
    ),
    graphql(
      'a batch with 1,300 variables each',
      times(5, () => ({ query, variables: names(1_300) })),
    ),
    graphql('100 malformed ids', { query: nodes, variables: { i: ids((i) => `x${i}`) } }),
    graphql('100 malformed ids of 500 characters', { query: nodes, variables: { i: ids(() => 'x'.repeat(500)) } }),
    graphql('100 ids of nothing', { query: nodes, variables: { i: ids(unknownId) } }),
    graphql('100 malformed ids in the document', {
      query: `query A{nodes(ids:[${ids((i) => `"x${i}"`).join(' ')}]){id}}`,
    }),
    graphql(
      'a batch of 100 malformed ids each',
      times(5, () => ({ query: nodes, variables: { i: ids((i) => `x${i}`) } })),
    ),
    graphql('10 times 100 malformed ids', {
      query: `query A($i:[ID!]!){${times(10, (i) => `a${i}:nodes(ids:$i){id}`).join(' ')}}`,
      variables: { i: ids((i) => `x${i}`) },
    }),
    graphql('100 malformed ids after 25,000 lines', {
      query: `query A($i:[ID!]!){${'\n'.repeat(25_000)}nodes(ids:$i){id}}`,
      variables: { i: ids((i) => `x${i}`) },
    }),
    graphql('10 times 100 malformed ids after 1,000 lines', {
      query: `query A($i:[ID!]!){${'\n'.repeat(990)}${times(10, (i) => `a${i}:nodes(ids:$i){id}`).join(' ')}}`,
      variables: { i: ids((i) => `x${i}`) },
    }),
    graphql('30 malformed ids after 1,000 lines', {
      query: `query A{${'\n'.repeat(990)}${times(30, (i) => `a${i}:node(id:"x${i}"){id}`).join(' ')}}`,
    }),
    graphql('30 malformed ids after 25,000 lines', {
      query: `query A{${'\n'.repeat(25_000)}${times(30, (i) => `a${i}:node(id:"x${i}"){id}`).join(' ')}}`,
    }),
    graphql('30 unknown fields after 25,000 lines', {
      query: `query A{${'\n'.repeat(25_000)}${times(30, (i) => `x${i}`).join(' ')}}`,
    }),
    graphql('6 wrong variables after 25,000 lines', {
      query: `query A(${'\n'.repeat(25_000)}${times(30, (i) => `$v${i}:Int!`).join(' ')}){strategies{totalCount}}`,
    }),
    graphql('an error in each of a list', {
      query: 'query A{strategies(first:100){nodes{... on LoopStrategy{stress(leverage:"0.5"){dropToLiquidationPct}}}}}',
    }),
    graphql('30 times a malformed id', {
      query: `query A{${times(30, (i) => `a${i}:node(id:"x${i}"){id}`).join(' ')}}`,
    }),
    graphql('30 times a strategy of nothing', {
      query: `query A{${times(30, (i) => `a${i}:strategy(id:"0x${String(i).padStart(64, '0')}"){id}`).join(' ')}}`,
    }),
    graphql('30 wrong page sizes', {
      query: `query A{${times(30, (i) => `a${i}:strategies(first:-1){totalCount}`).join(' ')}}`,
    }),
    graphql('an amount of 60,000 digits', {
      query: filter,
      variables: { f: { minLiquidityUsd: '9'.repeat(60_000) } },
    }),
    graphql('an id of 60,000 characters', { query: nodes, variables: { i: ['x'.repeat(60_000)] } }),
    graphql('an operation name of 60,000 characters', { query, operationName: 'x'.repeat(60_000) }),
    graphql('a number of 60,000 digits', `{"query":"${query}","variables":{"a":${'9'.repeat(60_000)}}}`),
    graphql('a persisted id of 60,000 characters', { documentId: 'f'.repeat(60_000) }),
    get(
      '/graphql: 2,000 variables in the query string',
      `/graphql?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(JSON.stringify(names(600)))}`,
    ),
  ];
}

function rowNames(): Attack[] {
  const known = {
    strategyId: '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5',
    payToken: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    amount: '1000',
    leverage: 5,
  };
  return [
    row('6,600 unknown fields', { ...known, ...names(6_600) }),
    row('6,600 unknown fields in a field', { ...known, amount: names(6_600) }),
    row('4,500 fields alike', { ...known, ...Object.fromEntries(times(4_500, (i) => [`amoun${i}`, 1])) }),
    row('30,000 items', { ...known, amount: times(30_000, () => 1) }),
    row(
      '30,000 items as the body',
      times(30_000, () => 1),
    ),
    row('an amount of 60,000 digits', { ...known, amount: '9'.repeat(60_000) }),
    row('an amount of 60,000 places', { ...known, amount: `0.${'0'.repeat(60_000)}1` }),
    row('a field twice, 5,000 names before', `{${times(5_000, (i) => `"k${i}":1`).join()},"k0":1}`),
  ];
}

function queryNames(): Attack[] {
  const list = (count: number, make: (i: number) => string) => times(count, make).join('&');
  return [
    get('4,000 parameters of a row', `/v1/strategies?${list(2_600, (i) => `k${i}`)}`),
    get('7,000 parameters without a name of a row', `/v1/strategies?${'a&'.repeat(7_000)}`),
    get('3,000 parameters alike', `/v1/strategies?${list(1_400, (i) => `chainI${i}`)}`),
    get(
      'parameters of many words',
      `/v1/strategies?${list(300, (i) => `a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p${i}=1.2.3.4`)}`,
    ),
    get('1,500 times utm', `/v1/strategies?${list(1_500, (i) => `utm_${i}`)}`),
    get('2,000 parameters of a page', `/docs?${list(2_000, (i) => `k${i}`)}`),
    get('2,000 parameters of a keyed row', `/v1/partner/alerts?${list(2_000, (i) => `k${i}`)}`, KEY),
    get('2,000 parameters of /graphql', `/graphql?${list(2_000, (i) => `k${i}`)}`),
    get('an escape 5,000 times', `/v1/strategies?a=${'%41'.repeat(5_000)}`),
    get('a path of 4,000 parts', `/v1${'/a'.repeat(4_000)}`),
    get('an id of 15,000 characters', `/v1/strategies/${'x'.repeat(15_000)}`),
    get('3,000 hops', '/v1/tvl', { 'x-forwarded-for': times(1_500, () => '::1').join() }),
    get('3,000 entity tags', '/v1/tvl', { 'if-none-match': times(3_000, () => '"a"').join() }),
    get('3,000 encodings', '/v1/tvl', { 'accept-encoding': times(3_000, (i) => `a${i % 10}`).join() }),
    get('3,000 media types', '/graphql?query={chains{chainId}}', { accept: times(3_000, () => 'a/b').join() }),
    get('1,500 headers', '/v1/tvl', Object.fromEntries(times(1_500, (i) => [`x${i}`, 'a']))),
  ];
}
