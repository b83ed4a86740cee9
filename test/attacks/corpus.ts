import { type Attack, post, query, times } from './attack.ts';
import { costlyCorpus } from './costly.ts';
import { batches, bodies, odd } from './requests.ts';

const nest = (depth: number, open: string, inner: string, close: string) =>
  open.repeat(depth) + inner + close.repeat(depth);

/** Fragments that spread each other twice: 2^n fields of n lines. */
function doubling(levels: number, leaf: string): string {
  const fragments = times(levels, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`);
  return `{ ...F0 } ${fragments.join(' ')} fragment F${levels} on Query { ${leaf} }`;
}

function cycle(length: number): string {
  return `{ ...C0 } ${times(length, (i) => `fragment C${i} on Query { ...C${(i + 1) % length} }`).join(' ')}`;
}

/** All attacks: refused ones, and ones that are answered for their cost. */
export function attackCorpus(): readonly Attack[] {
  return [...refusedCorpus(), ...costlyCorpus()];
}

/** Documents and requests that are refused, generated. */
export function refusedCorpus(): readonly Attack[] {
  return [
    ...deep(),
    ...wide(),
    ...aliased(),
    ...fragments(),
    ...tokens(),
    ...costly(),
    ...batches(),
    ...bodies(),
    ...odd(),
  ];
}

function deep(): Attack[] {
  return [
    ...times(20, (i) =>
      query(`nested ${17 + i * 4}`, `{strategies{nodes{${nest(8 + i * 2, 'market{strategies{', 'id', '}}')}}}}`),
    ),
    ...times(10, (i) =>
      query(
        `inline fragments around depth ${i}`,
        `{chains{${nest(20 + i, '... on Chain{stable{chain{', 'name', '}}}')}}}`,
      ),
    ),
    ...times(5, (i) =>
      query(`introspection nested ${i}`, `{__schema{types{${nest(8 + i, 'fields{type{', 'name', '}}')}}}}`),
    ),
    query('nested beyond any stack', nest(900, '{a', '', '}')),
    post('JSON nested beyond any stack', nest(30_000, '[', '', ']'), 'bad_request'),
    post(
      'variables nested beyond any stack',
      `{"query":"{chains{chainId}}","variables":${nest(9_000, '{"a":', '1', '}')}x}`,
      'bad_request',
    ),
    query('values nested', `{strategies(chainIds:${nest(700, '[', '1', ']')}){totalCount}}`),
  ];
}

function wide(): Attack[] {
  return [
    ...times(10, (i) => query(`${600 + i * 20} equal fields`, `{${'__typename '.repeat(600 + i * 20)}}`)),
    ...times(5, (i) => query(`${520 + i} equal leaves`, `{chains{${'chainId '.repeat(520 + i)}}}`)),
    ...times(5, (i) =>
      query(
        `operations ${i}`,
        times(300 + i * 100, (n) => `query Q${n}{__typename ... on Query{__typename}}`).join(' '),
      ),
    ),
  ];
}

function aliased(): Attack[] {
  return [
    ...times(15, (i) =>
      query(`${31 + i * 7} aliases of __typename`, `{${times(31 + i * 7, (n) => `a${n}:__typename`).join(' ')}}`),
    ),
    ...times(10, (i) =>
      query(`${31 + i * 5} aliases of chains`, `{${times(31 + i * 5, (n) => `a${n}:chains{chainId}`).join(' ')}}`),
    ),
    ...times(5, (i) =>
      query(
        `aliases in fragments ${i}`,
        `{${'...F '.repeat(4 + i)}} fragment F on Query {${times(10, (n) => `a${n}:__typename`).join(' ')}}`,
      ),
    ),
    ...times(5, (i) =>
      query(`aliases of introspection ${i}`, `{${times(40 + i, (n) => `a${n}:__schema{types{name}}`).join(' ')}}`),
    ),
  ];
}

function fragments(): Attack[] {
  return [
    ...times(15, (i) => query(`doubling fragments ${10 + i * 5}`, doubling(10 + i * 5, '__typename'))),
    ...times(10, (i) => query(`fragment cycle of ${i + 1}`, cycle(i + 1), 'bad_request')),
    ...times(5, (i) =>
      query(
        `cycle through fields ${i}`,
        `{chains{...C}} fragment C on Chain{${nest(i + 1, 'stable{chain{', '...C', '}}')}}`,
        'bad_request',
      ),
    ),
    query(
      'unused fragments',
      `{chains{chainId}} ${times(60, (i) => `fragment U${i} on Chain{${'chainId '.repeat(10)}}`).join(' ')}`,
    ),
    query('unknown fragment', '{...Nothing}', 'bad_request'),
    query('980 fragments that nobody defines', `{${times(980, (i) => `...G${i}`).join(' ')}}`),
  ];
}

function tokens(): Attack[] {
  return [
    ...times(10, (i) =>
      query(`${2_001 + i * 500} tokens`, `{chain(chainId:1){name}${','.repeat(i)} ${'x '.repeat(2_001 + i * 500)}}`),
    ),
    ...times(10, (i) =>
      query(`${21 + i * 3} directives`, `{chains{chainId ${'@skip(if:false) '.repeat(21 + i * 3)}}}`),
    ),
    ...times(5, (i) =>
      query(
        `directives in fragments ${i}`,
        `{${'...F '.repeat(3 + i)}} fragment F on Query {${'__typename @include(if:true) '.repeat(10)}}`,
      ),
    ),
    ...times(5, (i) =>
      query(`unknown directives ${i}`, `{chains{chainId ${times(25 + i, (n) => `@d${n}`).join(' ')}}}`),
    ),
    query('punctuation', '{'.repeat(5_000)),
    query('a long list', `{strategies(chainIds:[${'1 '.repeat(3_000)}]){totalCount}}`),
  ];
}

function costly(): Attack[] {
  // Lists cost what is there, so several of them are needed to be too costly.
  const many = (field: string) => `{${times(28, (i) => `a${i}:${field}`).join(' ')}}`;
  const rows = (first: number, inner: string) => many(`strategies(first:${first}){nodes{${inner}}}`);
  const NESTED =
    '{nodes{market{strategies{id ...on LoopStrategy{leverageLadder{leverage ltvPct}} gaps{field reason}}}}}';
  return [
    ...times(10, (i) =>
      query(
        `lists of lists ${i}`,
        rows(
          500,
          `market{strategies{id ...on LoopStrategy{leverageLadder{leverage ltvPct ${i % 2 ? 'leverageApyPct' : ''}}} gaps{field reason}}}`,
        ).replace('500', String(400 + i * 10)),
      ),
    ),
    ...times(5, (i) =>
      query(
        `all markets with all their strategies ${i}`,
        many(
          `markets(first:${300 + i}){nodes{strategies{...on LoopStrategy{leverageLadder{leverage ltvPct leverageApyPct}} gaps{field reason message since}}}}`,
        ),
      ),
    ),
    ...times(5, (i) =>
      post(
        `cost by variable ${i}`,
        {
          query: `query($n:Int!)${many(`strategies(first:$n)${NESTED}`)}`,
          variables: { n: 400 + i },
        },
        'query_too_complex',
      ),
    ),
    post(
      'the second operation is the costly one',
      {
        operationName: 'B',
        query: `query A{__typename} query B${many(`strategies(first:500)${NESTED}`)}`,
      },
      'query_too_complex',
    ),
    // A field that refuses its own arguments: execution has begun, and only its part of the answer is missing.
    post('a page beyond the bound', { query: '{strategies(first:100000){totalCount}}' }, 'bad_request', [200]),
    post('a negative page', { query: '{strategies(first:-1){totalCount}}' }, 'bad_request', [200]),
    post(
      'a list of 20000 values',
      {
        query: 'query($c:[ChainId!]){strategies(chainIds:$c){totalCount}}',
        variables: { c: times(20_000, () => 1) },
      },
      'bad_request',
    ),
    post(
      '5,000 unknown fields of an input as a variable',
      {
        query: 'query($f:StrategyFilter){strategies(filter:$f){totalCount}}',
        variables: { f: Object.fromEntries(times(5_000, (i) => [`k${i}`, 1])) },
      },
      'bad_request',
    ),
    post(
      '15,000 values that are not chains',
      {
        query: 'query($c:[ChainId!]){strategies(chainIds:$c){totalCount}}',
        variables: { c: times(15_000, () => 'x') },
      },
      'bad_request',
    ),
    query(
      'aliases of a field that calls an upstream',
      `{${times(25, (i) => `a${i}:priceChart(coinId:"c${i}"){source prices{at value} marketCaps{value} totalVolumes{value}}`).join(' ')}}`,
    ),
  ];
}
