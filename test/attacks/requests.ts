import { gzipSync } from 'node:zlib';
import { type Attack, JSON_TYPE, post, query, times } from './attack.ts';

/** A document that needs a key. */
const KEYED = '{ops{driftHistory{totalCount}}}';

export function batches(): Attack[] {
  const one = { query: '{chains{chainId}}' };
  return [
    ...times(10, (i) =>
      post(
        `batch of ${6 + i * 50}`,
        times(6 + i * 50, () => one),
        'query_too_complex',
      ),
    ),
    post('empty batch', [], 'bad_request'),
    post('batch of batches', [[one]], 'bad_request'),
    post('batch of nothing', [null], 'bad_request'),
  ];
}

export function bodies(): Attack[] {
  const big = (size: number) => JSON.stringify({ query: '{chains{chainId}}', extensions: { pad: 'x'.repeat(size) } });
  const raw = (
    name: string,
    body: string | Uint8Array,
    headers: Record<string, string>,
    status: number[],
    code: string,
  ): Attack => ({
    name,
    init: { method: 'POST', headers, body },
    status,
    code,
  });
  const malformed = [
    '',
    '{',
    '}',
    '[',
    '{"query":',
    '"text"',
    '1',
    'null',
    'true',
    '{"query":"{a}"}}',
    "{'query':1}",
    'NaN',
    '\u0000',
    '{"a":01}',
  ];
  return [
    ...times(5, (i) => post(`${65 + i * 40} KiB`, big((65 + i * 40) * 1024), 'payload_too_large', [413])),
    ...malformed.map((body) => post(`body ${JSON.stringify(body)}`, body, 'bad_request')),
    raw('not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), JSON_TYPE, [400], 'bad_request'),
    raw(
      'UTF-16',
      Buffer.from('{"query":"{a}"}', 'utf16le'),
      { 'content-type': 'application/json; charset=utf-16' },
      [415],
      'unsupported_media_type',
    ),
    raw(
      'compressed',
      gzipSync('{"query":"{a}"}'),
      { ...JSON_TYPE, 'content-encoding': 'gzip' },
      [415],
      'unsupported_media_type',
    ),
    ...[
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/graphql',
      'application/xml',
      '*/*',
    ].map((type) =>
      raw(`as ${type}`, 'query={chains{chainId}}', { 'content-type': type }, [415], 'unsupported_media_type'),
    ),
    ...[1, true, [], {}, null].map((value) =>
      post(`query is ${JSON.stringify(value)}`, { query: value }, 'bad_request'),
    ),
    ...[1, 'x', [], true].map((value) =>
      post(`variables are ${JSON.stringify(value)}`, { query: '{chains{chainId}}', variables: value }, 'bad_request'),
    ),
    post('an unknown parameter', { query: '{chains{chainId}}', admin: true }, 'bad_request'),
    post('a prototype', '{"query":"{chains{chainId}}","__proto__":{"a":1}}', 'bad_request'),
    post('an unknown persisted operation', { documentId: 'f'.repeat(64) }, 'not_found', [404]),
    post('a persisted operation that is no text', { documentId: { a: 1 } }, 'bad_request'),
  ];
}

export function odd(): Attack[] {
  const get = (
    path: string,
    status: number[] = [400],
    code = 'bad_request',
    headers: Record<string, string> = {},
  ): Attack => ({
    name: `GET ${path.slice(0, 60)}`,
    path,
    init: { headers },
    status,
    code,
  });
  const methods = ['PUT', 'PATCH', 'DELETE'];
  return [
    ...methods.flatMap((method) =>
      ['/graphql', '/v1/strategies', '/v1/prices'].map(
        (path): Attack => ({
          name: `${method} ${path}`,
          path,
          init: { method },
          status: [405],
          code: 'method_not_allowed',
        }),
      ),
    ),
    ...['%', '%zz', '%E0%A4%A', 'a=%'].map((text) => get(`/v1/prices?chainId=${text}`)),
    ...['%', '%ff', '%E0%A4%A'].map((text) => get(`/v1/strategies/${text}`)),
    ...[
      'chainId=1&chainId=1',
      'chainId=1&chainId=4663',
      'chainId=1e3',
      'chainId=-1',
      'chainId=0x1',
      'chainId=',
      'chainId=9',
    ].map((text) => get(`/v1/prices?${text}`)),
    ...[
      '/v1',
      '/v1/',
      '/v1/strategies/',
      '/v2/prices',
      '/v1/../etc/passwd',
      '/%2e%2e%2f%2e%2e',
      '/wp-admin',
      '/.env',
      '/v1//prices',
    ].map((path) => get(path, [404], 'not_found')),
    get('/graphql'),
    get('/graphql?query=%7B'),
    get('/graphql?query={chains{chainId}}', [406], 'bad_request', { accept: 'text/plain' }),
    get('/graphql?query=%zz'),
    get('/graphql?query={chains{chainId}}&variables={', [400]),
    get('/graphql?query={a}&query={b}'),
    get(
      `/graphql?query=${encodeURIComponent(`{${times(40, (i) => `a${i}:__typename`).join(' ')}}`)}`,
      [400],
      'query_too_complex',
    ),
    ...[
      'Bearer',
      'Bearer ',
      'Bearer x',
      'bearer front-partne',
      `Bearer ${'x'.repeat(4_000)}`,
      'Bearer sg_ops_00000000_x',
    ].flatMap((authorization) => [
      get('/v1/ops/portfolios', [401], 'unauthorized', { authorization }),
      {
        ...query(`key ${authorization.slice(0, 20)}`, KEYED, 'unauthorized'),
        status: [401],
        init: { method: 'POST', headers: { ...JSON_TYPE, authorization }, body: JSON.stringify({ query: KEYED }) },
      },
    ]),
  ];
}
