import manifest from '../../src/rest/generated/manifest.json' with { type: 'json' };
import type { Attack } from './attack.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const ALLOWED = [200, 304, 400, 401, 404, 405, 413, 429] as const;
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const joined = (count: number, make: (i: number) => string) => times(count, make).join(' ');

const query = (name: string, text: string, variables?: object): Attack => ({
  name,
  init: {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({ query: text, variables }),
  },
  status: ALLOWED,
});
const batch = (name: string, text: (i: number) => string): Attack => ({
  name: `batch of five: ${name}`,
  init: { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(times(5, (i) => ({ query: text(i) }))) },
  status: ALLOWED,
});
const get = (path: string, headers: Record<string, string> = {}, name = `GET ${path}`): Attack => ({
  name,
  path,
  init: { headers },
  status: ALLOWED,
});

/** Documents that take long to read, within the limits or just beyond. */
const READING: readonly (readonly [name: string, text: (i: number) => string])[] = [
  ['one field 480 times', (i) => `query A${i}{chains{${'chainId '.repeat(480)}}}`],
  ['one object 240 times', (i) => `query A${i}{${'chains{chainId} '.repeat(240)}}`],
  ['one field in 300 inline fragments', (i) => `query A${i}{chains{${'... on Chain{chainId} '.repeat(300)}}}`],
  [
    'a chain of 49 fragments',
    (i) =>
      `query A${i}{chains{...F0}} ${joined(48, (n) => `fragment F${n} on Chain{chainId ...F${n + 1}}`)} fragment F48 on Chain{chainId}`,
  ],
  [
    '49 fragments of one shape',
    (i) =>
      `query A${i}{chains{${joined(49, (n) => `...F${n}`)}}} ${joined(49, (n) => `fragment F${n} on Chain{chainId name stable{chain{chainId}}}`)}`,
  ],
  [
    '29 fragments that spread all after them',
    (i) =>
      `query A${i}{chains{...F0}} ${joined(29, (n) => `fragment F${n} on Chain{chainId ${joined(28 - n, (m) => `...F${n + m + 1}`)}}`)}`,
  ],
  ['100 operations', (i) => `${joined(100, (n) => `query A${i}B${n}{...F}`)} fragment F on Query{__typename}`],
  [
    '40 operations with 40 uses of a variable',
    (i) =>
      `${joined(40, (n) => `query A${i}B${n}($a:Int){...F}`)} fragment F on Query{${joined(29, (n) => `a${n}:strategies(first:$a){totalCount}`)}}`,
  ],
  ['390 misspelt types', (i) => `query A${i}(${joined(390, (n) => `$v${n}:Strateg${n}`)}){chains{chainId}}`],
  ['480 unknown fields', (i) => `query A${i}{chains{${joined(480, (n) => `chainI${n}`)}}}`],
  ['380 variables that nothing uses', (i) => `query A${i}(${joined(380, (n) => `$v${n}:Int`)}){chains{chainId}}`],
  ['600 unknown arguments', (i) => `query A${i}{strategies(${joined(600, (n) => `firs${n}:1`)}){totalCount}}`],
  [
    '600 unknown fields of an input',
    (i) => `query A${i}{strategies(filter:{${joined(600, (n) => `loa${n}:1`)}}){totalCount}}`,
  ],
  ['a list of 1,900 values', (i) => `query A${i}{strategies(filter:{chainIds:[${'1 '.repeat(1_900)}]}){totalCount}}`],
  [
    'objects nested in each other',
    (i) => `query A${i}{${joined(25, (n) => `a${n}:strategies{nodes{market{strategies{market{id}}}}}`)}}`,
  ],
  ['60,000 characters of a comment', (i) => `query A${i}{chains{chainId}} #${'x'.repeat(60_000)}`],
  ['a string of 60,000 characters', (i) => `query A${i}{token(chainId:1 address:"${'x'.repeat(60_000)}"){name}}`],
  [
    'brackets up to the limit',
    (i) => `query A${i}{strategies(filter:{chainIds:${'['.repeat(60)}1${']'.repeat(60)}}){totalCount}}`,
  ],
];

/** Queries that take long to execute, or whose answers are large. */
const EXECUTING: readonly (readonly [name: string, text: (i: number) => string])[] = [
  ...times(
    5,
    (k) =>
      [
        `${(k + 1) * 100} strategies with their ladders`,
        (i: number) =>
          `query A${i}{strategies(first:${(k + 1) * 100}){nodes{id chainId ...on LoopStrategy{leverageLadder{leverage ltvPct leverageApyPct}}}}}`,
      ] as const,
  ),
  [
    '29 aliases of all strategies',
    (i) => `query A${i}{${joined(29, (n) => `a${n}:strategies(first:60){nodes{id chainId strategyId}}`)}}`,
  ],
  [
    '29 aliases of all markets',
    (i) => `query A${i}{${joined(29, (n) => `a${n}:markets(first:60){nodes{id chainId kind}}`)}}`,
  ],
  [
    'all borrow-rate histories',
    (i) => `query A${i}{chains{rateHistories(kind:BORROW_APY){marketId points{at ratePct}}}}`,
  ],
  [
    '9 aliases of all borrow-rate histories',
    (i) => `query A${i}{${joined(9, (n) => `a${n}:chains{rateHistories(kind:BORROW_APY){marketId points{at}}}`)}}`,
  ],
  [
    '29 aliases of all borrow-rate histories',
    (i) => `query A${i}{${joined(29, (n) => `a${n}:chains{rateHistories(kind:BORROW_APY){marketId points{at}}}`)}}`,
  ],
  [
    '9 aliases of all collateral histories',
    (i) => `query A${i}{${joined(9, (n) => `a${n}:chains{rateHistories(kind:COLLATERAL_APY){marketId points{at}}}`)}}`,
  ],
  [
    '29 aliases of all prices',
    (i) => `query A${i}{${joined(29, (n) => `a${n}:tokens(first:100){nodes{address price{usd}}}`)}}`,
  ],
  [
    '29 aliases of TVL',
    (i) => `query A${i}{${joined(29, (n) => `a${n}:tvl{stale total{tvlUsd} chains{chainId tvlUsd}}`)}}`,
  ],
  ['29 aliases of tokens', (i) => `query A${i}{${joined(29, (n) => `a${n}:tokens(first:60){nodes{address name}}`)}}`],
  ['gaps of all strategies', (i) => `query A${i}{strategies(first:200){nodes{id gaps{field reason message since}}}}`],
  [
    'strategies of markets of strategies',
    (i) => `query A${i}{strategies(first:50){nodes{market{strategies{market{id}}}}}}`,
  ],
];

const INTROSPECTING: readonly (readonly [name: string, text: (i: number) => string])[] = [
  ...times(
    10,
    (k) =>
      [
        `${k * 3 + 1} aliases of the names of all types`,
        (i: number) => `query A${i}{${joined(k * 3 + 1, (n) => `a${n}:__schema{types{name}}`)}}`,
      ] as const,
  ),
  ...times(
    6,
    (k) =>
      [
        `${k + 1} aliases of all fields with their arguments`,
        (i: number) =>
          `query A${i}{${joined(k + 1, (n) => `a${n}:__schema{types{name fields{name args{name} type{name}}}}`)}}`,
      ] as const,
  ),
  ['all fields of the types of all fields', (i) => `query A${i}{__schema{types{fields{type{fields{type{name}}}}}}}`],
  ['descriptions', (i) => `query A${i}{__schema{types{description fields{description}}}}`],
  ['the possible types of all types', (i) => `query A${i}{__schema{types{possibleTypes{fields{name}}}}}`],
  [
    '29 aliases of one type',
    (i) => `query A${i}{${joined(29, (n) => `a${n}:__type(name:"Query"){fields{name args{name}}}`)}}`,
  ],
];

const ROWS = [
  '/v1/strategies',
  '/v1/strategies?chainId=4663',
  '/v1/stable-apy',
  '/v1/tvl',
  '/v1/app/markets',
  '/v1/markets/borrow-apy-history',
  '/v1/collateral/apy-history',
  '/v1/prices',
  '/v1/prices?chainId=4663',
];
const PERSISTED = ['AppMarkets', 'StableApy', 'BorrowApyHistories', 'CollateralApyHistories'] as const;
const FILES = [
  '/health',
  '/ready',
  '/openapi.json',
  '/docs',
  '/docs/viewer.js',
  '/docs/style.css',
  '/ops',
  '/ops/main.js',
  '/graphiql/app.js',
  '/graphiql/style.css',
  '/graphiql/graphql-worker.js',
];

/** Requests that are admitted, or refused late, with their costs. Each is different every time it is sent. */
export function costlyCorpus(): readonly Attack[] {
  const requested = [...READING, ...EXECUTING, ...INTROSPECTING];
  return [
    ...requested.map(([name, text]) => query(name, text(0))),
    ...requested.map(([name, text]) => batch(name, text)),
    ...ROWS.map((path) => get(path)),
    ...ROWS.map((path) => get(path, { 'accept-encoding': 'br' }, `GET ${path}, brotli`)),
    ...ROWS.map((path) =>
      get(`${path}${path.includes('?') ? '&' : '?'}unknown=1`, {}, `GET ${path} with what it does not know`),
    ),
    ...FILES.map((path) => get(path)),
    ...FILES.map((path) => get(path, { 'accept-encoding': 'br' }, `GET ${path}, brotli`)),
    get('/graphql', { accept: 'text/html' }, 'GraphiQL'),
    ...PERSISTED.flatMap((name) => {
      const { sha256: documentId } = manifest[name];
      // Executed each time, because the requests differ.
      const request = (i: number) => ({ documentId, variables: { other: `query A${i}` } });
      const attack = (title: string, body: unknown): Attack => ({
        name: title,
        init: { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) },
        status: ALLOWED,
      });
      return [attack(`${name} by its id`, request(0)), attack(`batch of five: ${name} by its id`, times(5, request))];
    }),
    query(
      '28 uses of a variable of 15,000 values',
      `query A0($c:[ChainId!]){${joined(28, (n) => `a${n}:strategies(filter:{chainIds:$c}){totalCount}`)}}`,
      { c: times(15_000, () => 1) },
    ),
    get('/v1/prices', { authorization: `Bearer sg_partner_abcdefgh_${'S'.repeat(43)}` }, 'a key that nobody knows'),
    ...times(5, (i) =>
      get(`/v1/nowhere/${'x'.repeat(i * 1_000)}`, {}, `a path of ${i * 1_000} characters that is not there`),
    ),
    ...times(5, (i) =>
      get(
        '/v1/prices',
        Object.fromEntries(times((i + 1) * 40, (n) => [`x-${n}`, 'x'.repeat(60)])),
        `${(i + 1) * 40} headers`,
      ),
    ),
    ...times(5, (i) => ({
      name: `variables of ${(i + 1) * 12} kB`,
      init: {
        method: 'POST',
        headers: JSON_TYPE,
        body: JSON.stringify({
          query: '{chains{chainId}}',
          variables: Object.fromEntries(times((i + 1) * 1_000, (n) => [`v${n}`, n])),
        }),
      },
      status: ALLOWED,
    })),
  ];
}
