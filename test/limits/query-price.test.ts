import {
  buildSchema as buildSmall,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  graphqlSync,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { countIntrospection } from '../../src/limits/introspection-cost.ts';
import { pointsOf } from '../../src/limits/points.ts';
import { costlyVariables, costOf, countFields } from '../../src/limits/query-cost.ts';
import { scanDocument } from '../../src/limits/query-scan.ts';
import { checkShape, QueryTooComplexError } from '../../src/limits/query-too-complex.ts';
import { createLimits, TIERS, tierOf } from '../../src/limits/tier-limits.ts';
import { buildSchema } from '../../src/schema/index.ts';
import { QUERY_MEASURES } from '../../src/shared/contract/error-details.ts';

const schema = buildSchema();
const WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const priceOf = (text: string, options: { variables?: object; operationName?: string; limit?: number } = {}) =>
  costOf({ schema, document: parse(text), variables: {}, context: {}, limit: 10_000, ...options } as never);
/** Nodes that an introspection query answers with. */
const nodesOf = (text: string) => countFields(graphqlSync({ schema, source: text }).data);

describe('costOf', () => {
  test.each([
    ['one per field', '{chains{chainId}}', {}, { cost: 3, sized: 3 }],
    ['fields of a list times its size', '{strategies(first:20){nodes{id}}}', {}, { cost: 41, sized: 41 }],
    ['500 for a field that asks an upstream', '{priceChart(coinId:"a"){source}}', {}, { cost: 502, sized: 2 }],
    [
      '1,000 for a field behind a key, unsized',
      `{wallet(address:"${WALLET}" chainIds:[1]){id}}`,
      {},
      { cost: 1_002, sized: 0 },
    ],
    ['1,000 for a field of the ops tier', '{ops{drift(first:5){totalCount}}}', {}, { cost: 1_007, sized: 0 }],
    ['fields inside fragments', '{...F} fragment F on Query{... on Query{chains{chainId}}}', {}, { cost: 3, sized: 3 }],
    [
      'a key inside fragments',
      `{...F} fragment F on Query{wallet(address:"${WALLET}" chainIds:[1]){id}}`,
      {},
      { cost: 1_002, sized: 0 },
    ],
    [
      'the operation that is named',
      'query A{chains{chainId}} query B{a:__typename}',
      { operationName: 'B' },
      { cost: 1, sized: 1 },
    ],
    [
      'the size of a variable',
      'query($n:Int){strategies(first:$n){nodes{id}}}',
      { variables: { n: 7 } },
      { cost: 15, sized: 15 },
    ],
  ])('default: %s', (_name, text, options, price) => {
    expect(priceOf(text, options)).toMatchObject(price);
  });

  test.each([
    ['no operation of several is named', 'query A{chains{chainId}} query B{a:__typename}', {}],
    ['a variable is missing', 'query($f:Int!){strategies(first:$f){totalCount}}', {}],
    ['a variable has another type', 'query($f:Int){strategies(first:$f){totalCount}}', { f: 'x' }],
    ['a variable of an introspection is missing', 'query($n:String!){__type(name:$n){name}}', {}],
  ])('behavior: no price where %s', (_name, text, variables) => {
    expect(priceOf(text, { variables })).toBeNull();
  });

  test('error: an argument that does not fit its field', () => {
    expect(() => priceOf('{strategies(first:"x"){totalCount}}')).toThrow('first');
  });

  test.each([
    ['{__schema{types{name}}}', 1],
    ['{__schema{queryType{fields{name args{name type{name ofType{name}}}}} directives{name locations}}}', 1],
    ['{a:__schema{types{name}} b:__schema{types{kind}}}', 2],
    ['{__type(name:"Strategy"){name fields{name type{kind}}}}', 1],
    ['{__type(name:"NoSuchType"){name}}', 1],
  ])('behavior: %s costs 100 and a quarter of its nodes', (text, roots) => {
    expect(priceOf(text)).toMatchObject({ cost: Math.ceil(roots * 101 + nodesOf(text) / 4), sized: roots });
  });

  test('behavior: an introspection above the limit is not counted further', () => {
    const text = '{__schema{types{name}}}';
    const limit = 100 + nodesOf(text) / 4;
    expect(priceOf(text, { limit: Math.ceil(limit) })?.cost).toBe(Math.ceil(limit + 1));
    const refused = priceOf('{__schema{types{name fields{name args{name}}}}}', { limit: 150 });
    expect(refused).toMatchObject({ cost: 151, sized: 0 });
  });

  test('behavior: an upstream asked below the root makes the price one that is not given back', () => {
    expect(priceOf('{tokens(first:2){nodes{symbol}}}')).toMatchObject({ cost: 5, sized: 5 });
    expect(priceOf('{tokens(first:2){nodes{symbol priceChart{source}}}}')).toMatchObject({ sized: 0 });
    // The name elsewhere than below a token is no upstream.
    expect(priceOf('{priceChart:chains{candles:chainId}}')).toMatchObject({ cost: 3, sized: 3 });
    const printed: DocumentNode = { ...parse('{tokens(first:2){nodes{priceChart{source}}}}'), loc: undefined } as never;
    expect(costOf({ schema, document: printed, variables: {}, context: {}, limit: 10_000 })?.sized).toBe(0);
  });
});

describe('countIntrospection', () => {
  const small = buildSmall('type Query { a(x: Int, y: Int): T  b: [T!]! } type T { c: Int @deprecated d: Query }');
  const count = (text: string, limit = 1_000) => {
    const document = parse(text);
    const [operation, ...fragments] = document.definitions as [OperationDefinitionNode, ...FragmentDefinitionNode[]];
    const [field] = operation.selectionSet.selections as readonly [FieldNode];
    return countIntrospection({ schema: small, field, fragments, variables: {}, limit });
  };
  const answered = (text: string) => countFields(graphqlSync({ schema: small, source: text }).data);

  test.each([
    ['{__schema{types{name}}}'],
    ['{__schema{types{name fields{name args{name type{name}} type{name ofType{name}}}}}}'],
    ['{__schema{...S} } fragment S on __Schema{types{name ... on __Type{kind}}}'],
    ['{__type(name:"T"){fields(includeDeprecated:true){name}}}'],
    ['{__type(name:"T"){fields{name}}}'],
    ['{__type(name:"Nothing"){fields{name}}}'],
    ['{__schema{queryType{fields{type{fields{type{name}}}}}}}'],
  ])('default: equals the fields of the answer to %s', (text) => {
    expect(count(text)).toBe(answered(text));
  });

  test('behavior: counts up to its limit, and stops right above it', () => {
    const text = '{__schema{types{name fields{name args{name}}}}}';
    const nodes = answered(text);
    expect(count(text, nodes)).toBe(nodes);
    expect(count(text, nodes - 1)).toBe(nodes);
    expect(count(text, 5)).toBe(6);
  });
});

test.each([
  [null, 0],
  ['text', 0],
  [[], 0],
  [[1, 2, 3], 0],
  [{ a: 1, b: null }, 2],
  [{ a: { b: 1 }, c: [{ d: 1 }, { d: [{ e: null }] }] }, 6],
])('countFields: %j has %i', (value, fields) => {
  expect(countFields(value)).toBe(fields);
});

describe('costlyVariables', () => {
  test.each([
    ['query($s:String,$i:Int,$d:ID!){a}', ['i', 'd']],
    ['query($s:String!,$o:Filter){a}', []],
    ['query($s:[String]){a}', ['s']],
    ['query($s:String!){__type(name:$s){name}}', ['s']],
    ['fragment F on Query{a}', []],
  ])('default: of %s', (text, names) => {
    expect(costlyVariables(parse(text))).toEqual(names);
  });

  test('behavior: all of a document without its text', () => {
    expect(costlyVariables({ ...parse('query($s:String){a}'), loc: undefined } as never)).toEqual(['s']);
  });
});

describe('checkShape', () => {
  const limits = createLimits({ anonymous: 100, partner: 100, ops: 100 }).anonymous;
  type Measures = Parameters<typeof checkShape>[0];
  const largest = Object.fromEntries(QUERY_MEASURES.map((measure) => [measure, limits[measure]])) as Measures;

  test('default: accepts every measure at its limit', () => {
    expect(() => checkShape(largest, limits, 'anonymous')).not.toThrow();
  });

  test.each(QUERY_MEASURES)('error: query_too_complex one above the limit of %s', (measure) => {
    const actual = limits[measure] + 1;
    expect(() => checkShape({ ...largest, [measure]: actual }, limits, 'anonymous')).toThrow(
      expect.objectContaining({ details: { measure, limit: limits[measure], actual, tier: 'anonymous' } }),
    );
  });

  test('error: names the counted number, or that counting stopped at the limit', () => {
    const error = new QueryTooComplexError({ measure: 'cost', limit: 10, actual: 12, tier: 'ops' });
    expect(error.message).toMatch(/is 12; the limit for ops callers is 10/);
    expect(new QueryTooComplexError({ measure: 'tokens', limit: 10, tier: 'ops' }).message).toMatch(
      /is above 10, the limit for ops callers/,
    );
  });
});

describe('scanDocument', () => {
  const ample = { tokens: 1_000, lines: 1_000, brackets: 100, selections: 1_000, fragments: 100 };

  test.each([
    // 15 tokens are one unit each of parsing and validating; of each operation, 200 tokens are one more.
    ['{a b c d e f g h i j k l m}', 15, 0, 0, 1],
    // 13 fields of one name are compared in 78 pairs, of which 100 are one unit.
    ['{a a a a a a a a a a a a a}', 15, 78, 0, 1],
    // Each fragment follows all spreads and definitions, of which 25 are one unit.
    ['{...F ...G} fragment F on T{a} fragment G on T{b}', 20, 0, 2 * (2 + 3), 1],
    ['query A{a} query B{a(x:{y:1})}', 19, 1, 0, 2],
  ])('default: the cost of %s', (text, tokens, pairs, follows, operations) => {
    const scan = scanDocument(text, ample);
    expect(scan).toMatchObject({ tokens });
    const { parseCost, validationCost } = scan as Exclude<typeof scan, string>;
    expect(parseCost).toBeCloseTo(tokens / 15, 9);
    expect(validationCost).toBeCloseTo(tokens / 15 + pairs / 100 + follows / 25 + (operations * tokens) / 200, 9);
  });

  test.each([
    ['tokens', '{a b}', 4],
    ['lines', '{a\n\n"""b\n"""\n}', 5],
    ['brackets', '{a(b:[{c:1}])}', 4],
    ['selections', '{a b:c ...F ... on T{d}}', 6],
    ['fragments', '{a} fragment F on T{a} fragment G on T{a}', 2],
    ['fragments', '{...F ...G ...F}', 2],
  ] as const)('error: stops at the first of %s above its limit in %s', (measure, text, count) => {
    expect(scanDocument(text, { ...ample, [measure]: count })).toBeTypeOf('object');
    expect(scanDocument(text, { ...ample, [measure]: count - 1 })).toBe(measure);
  });

  test('behavior: names in arguments are no fields, those behind them are', () => {
    expect(scanDocument('{a(b:{c:{d:e}}) f(g:[h]) {i}}', ample)).toMatchObject({ selections: 3 });
    expect(scanDocument('query fragment{fragment}', ample)).toMatchObject({ fragments: 1, selections: 1 });
  });
});

describe('limits', () => {
  const limits = createLimits({ anonymous: 60, partner: 600, ops: 6_000 });

  test('default: the numbers that partners plan with', () => {
    expect(limits).toMatchInlineSnapshot(`
      {
        "anonymous": {
          "aliases": 30,
          "batch": 5,
          "bodyBytes": 65536,
          "brackets": 64,
          "calls": {
            "Query.candles": 30,
            "Query.priceChart": 30,
            "Token.candles": 30,
            "Token.priceChart": 30,
          },
          "cost": 10000,
          "depth": 16,
          "directives": 20,
          "fields": 500,
          "fragments": 50,
          "keyedCalls": 30,
          "lines": 1000,
          "points": 60,
          "selections": 1000,
          "streams": 10,
          "tokens": 2000,
          "validation": 300,
        },
        "ops": {
          "aliases": 100,
          "batch": 10,
          "bodyBytes": 262144,
          "brackets": 64,
          "calls": {
            "Ops.portfolio": 480,
            "Position.deleverageOptions": 120,
            "Position.rewards": 60,
            "Query.candles": 240,
            "Query.node": 480,
            "Query.nodes": 480,
            "Query.priceChart": 240,
            "Token.candles": 240,
            "Token.priceChart": 240,
          },
          "cost": 50000,
          "depth": 16,
          "directives": 60,
          "fields": 2000,
          "fragments": 100,
          "keyedCalls": 480,
          "lines": 8000,
          "points": 6000,
          "selections": 4000,
          "streams": 100,
          "tokens": 8000,
          "validation": 600,
        },
        "partner": {
          "aliases": 60,
          "batch": 10,
          "bodyBytes": 131072,
          "brackets": 64,
          "calls": {
            "Position.deleverageOptions": 60,
            "Position.rewards": 60,
            "Query.candles": 120,
            "Query.node": 240,
            "Query.nodes": 240,
            "Query.priceChart": 120,
            "Token.candles": 120,
            "Token.priceChart": 120,
          },
          "cost": 20000,
          "depth": 16,
          "directives": 40,
          "fields": 1000,
          "fragments": 100,
          "keyedCalls": 240,
          "lines": 4000,
          "points": 600,
          "selections": 2000,
          "streams": 50,
          "tokens": 4000,
          "validation": 600,
        },
      }
    `);
  });

  test.each([
    ['Strategies', 'Public', 1],
    ['PriceChart', 'Public', 5],
    ['Ohlcv', 'Public', 5],
    ['Wallet', 'Partner', 10],
    ['Drift', 'Ops', 10],
    ['Health', 'Status', 0],
  ] as const)('pointsOf: %s on %s costs %i', (operation, surface, points) => {
    expect(pointsOf(operation, surface)).toBe(points);
  });

  test('tierOf: a caller without a key is anonymous', () => {
    expect(
      TIERS.map((tier) => tierOf(tier === 'anonymous' ? { kind: 'anonymous' } : { kind: 'key', keyId: 'a', tier })),
    ).toEqual(['anonymous', 'partner', 'ops']);
  });
});
