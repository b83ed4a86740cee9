import { buildSchema, type GraphQLObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createAnswers } from '../../src/rest/derive/answers.ts';
import type { Conversions } from '../../src/rest/derive/conversion.ts';
import type { JsonSchema, Refer } from '../../src/rest/openapi/json-schema.ts';

const schema = buildSchema(`
  scalar Decimal
  type Query { thing: Thing result: Result }
  "A thing."
  type Thing implements Named {
    "Its name."
    name: String
    "Value, USD."
    valueUsd: Decimal
    "Result, USD. Signed."
    resultUsd: Decimal!
    "Amount, USD."
    amountUsd: Decimal
    street: String
    city: String
    maker: Maker!
    parts: [Part!]!
    gaps: [Gap!]!
  }
  interface Named { name: String }
  union Maker = Person | Company
  type Person { age: Int! }
  type Company { size: Int! seats: Seats! }
  type Seats { most: Int! }
  "A part."
  type Part { size: Decimal note: String }
  type Gap { field: String! reason: String! }
  interface Refusal { message: String! }
  type LimitRefusal implements Refusal { message: String! limit: Int! }
  union Result = Thing | LimitRefusal
`);
/** Declare more of a field of `Thing` than its type says. */
const declare = (name: string, extensions: object) =>
  Object.assign((schema.getType('Thing') as GraphQLObjectType).getFields()[name] ?? {}, { extensions });
declare('amountUsd', { jsonSchema: { exclusiveMinimum: 0, maximum: 10 } });
declare('street', { nullWith: 'address' });
declare('city', { nullWith: 'address' });
const conversions: Conversions = {
  upper: { schema: (of) => of, convert: (text) => String(text).toUpperCase(), says: 'In capitals.' },
  count: { schema: () => ({ type: 'integer' }), convert: (list) => (list as readonly unknown[]).length },
  orNone: { schema: (of) => of, takesNull: true, convert: (text) => text ?? 'none' },
  namesOf: {
    schema: (of) => of,
    convert: (gaps, { namesOf }) => (gaps as { field: string }[]).flatMap((gap) => namesOf(gap.field)),
  },
};
const refusal =
  'fragment Refusal on Refusal { __typename message @hide ... on LimitRefusal { limit @at(path: "most") } }';
const errorOf = ({ message }: { readonly message: string }, details: unknown) =>
  Object.assign(new Error(message), { details });

const answerOf = (row: string) => createAnswers({ schema, documents: { Row: { row } }, conversions, errorOf })('Row');
const bodyOf = (selection: string, thing: object) => answerOf(`{ thing { ${selection} } }`).body({ thing });
const refer: Refer = Object.assign((name: string) => ({ $ref: name }), { definition: () => ({}) });
const schemaOf = (selection: string): JsonSchema => answerOf(`{ thing { ${selection} } }`).schema(refer, false);

describe('marks', () => {
  test.each<[string, string, object, unknown]>([
    ['null is absent', 'name valueUsd', { name: null, valueUsd: '1' }, { valueUsd: '1' }],
    ['@null keeps it', 'name @null', { name: null }, { name: null }],
    ['@number', 'valueUsd @number', { valueUsd: '1.50' }, { valueUsd: 1.5 }],
    ['@number of null', 'valueUsd @number', { valueUsd: null }, {}],
    ['@hide', 'name @hide valueUsd', { name: 'a', valueUsd: '1' }, { valueUsd: '1' }],
    ['@at a place', 'name @at(path: "a.b")', { name: 'x' }, { a: { b: 'x' } }],
    ['@at of null makes no place', 'name @at(path: "a.b")', { name: null }, {}],
    [
      'two at one place',
      'name @at(path: "a.b") valueUsd @at(path: "a.c")',
      { name: 'x', valueUsd: '1' },
      { a: { b: 'x', c: '1' } },
    ],
    ['@via', 'name @via(fn: "upper")', { name: 'x' }, { name: 'X' }],
    ['@via of null', 'name @via(fn: "upper")', { name: null }, {}],
    ['@via that takes null', 'name @via(fn: "orNone")', { name: null }, { name: 'none' }],
    ['@via of a list', 'parts @via(fn: "count") { size }', { parts: [{ size: '1' }, { size: null }] }, { parts: 2 }],
    [
      'marks inside of lists',
      'parts { size @number }',
      { parts: [{ size: '1' }, { size: null }] },
      { parts: [{ size: 1 }, {}] },
    ],
  ])('behavior: %s', (_what, selection, thing, body) => {
    expect(bodyOf(selection, thing)).toEqual(body);
  });

  const gaps = [
    { field: 'valueUsd', reason: 'NONE' },
    { field: 'name', reason: 'SOURCE_FAILED' },
    { field: 'parts.1.size', reason: 'NOT_APPLICABLE' },
  ];
  test('behavior: @null(ifNone) keeps null where the gaps say that there is none, in lists by place', () => {
    const selection =
      'name @null(ifNone: true) valueUsd @null(ifNone: true) parts { size @null(ifNone: true) } gaps @hide { field reason }';
    const thing = { name: null, valueUsd: null, parts: [{ size: null }, { size: null }], gaps };
    expect(bodyOf(selection, thing)).toEqual({ valueUsd: null, parts: [{}, { size: null }] });
  });

  test('behavior: conversions know the names of fields in the body', () => {
    const selection =
      'title: name value: valueUsd @at(path: "a.usd") again: valueUsd gaps @via(fn: "namesOf") { field reason }';
    expect(bodyOf(selection, { title: null, value: null, again: null, gaps })).toEqual({
      gaps: ['a.usd', 'again', 'title'],
    });
  });

  test('error: a conversion that does not exist', () => {
    expect(() => bodyOf('name @via(fn: "other")', { name: 'x' })).toThrow('no conversion is named other');
  });
});

describe('the body', () => {
  test('behavior: it is the only field; null = it does not exist', () => {
    expect(answerOf('{ thing { name } }').body({ thing: null })).toBeNull();
  });

  test('behavior: it is the data where the only field has a place', () => {
    expect(answerOf('{ thing @at(path: "found") { name } }').body({ thing: { name: 'x' } })).toEqual({
      found: { name: 'x' },
    });
  });

  test('error: a refusal becomes the error with its details', () => {
    const { body } = answerOf(`{ result { __typename ... on Thing { name } ...Refusal } } ${refusal}`);
    expect(body({ result: { __typename: 'Thing', name: 'x' } })).toEqual({ name: 'x' });
    const refused = { result: { __typename: 'LimitRefusal', message: 'too much', limit: 3 } };
    expect(() => body(refused)).toThrow(expect.objectContaining({ message: 'too much', details: { most: 3 } }));
  });
});

describe('the schema', () => {
  test('default: types, descriptions and sign of the fields; required is what cannot be null', () => {
    expect(schemaOf('name @via(fn: "upper") valueUsd resultUsd')).toEqual({
      type: 'object',
      required: ['resultUsd'],
      properties: {
        name: { type: 'string', description: 'Its name. In capitals.' },
        valueUsd: { type: 'string', pattern: '^\\d+(\\.\\d+)?$', description: 'Value, USD.' },
        resultUsd: { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$', description: 'Result, USD. Signed.' },
      },
    });
  });

  test('behavior: null that stays, numbers, and what a conversion always answers', () => {
    expect(schemaOf('name @null valueUsd @number parts @via(fn: "count") { size }')).toMatchObject({
      required: ['name', 'parts'],
      properties: {
        name: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        valueUsd: { type: 'number', minimum: 0 },
        parts: { type: 'integer' },
      },
    });
  });

  test('behavior: an object that is made for a place has its description and the members of all', () => {
    expect(schemaOf('name @at(path: "a.b", about: "Made.") resultUsd @at(path: "a.c")').properties).toMatchObject({
      a: { type: 'object', description: 'Made.', required: ['c'], properties: { b: {}, c: {} } },
    });
  });

  test('behavior: what a field declares narrows its type; bounds are those of numbers', () => {
    expect(schemaOf('amountUsd @number text: amountUsd').properties).toEqual({
      amountUsd: { type: 'number', exclusiveMinimum: 0, maximum: 10, description: 'Amount, USD.' },
      text: { type: 'string', pattern: '^\\d+(\\.\\d+)?$', description: 'Amount, USD.' },
    });
  });

  test('behavior: members of a made object are required in it that are null together, or of one type', () => {
    const place = 'street @at(path: "at.street") city @at(path: "at.city")';
    expect(schemaOf(place)).toMatchObject({ required: [], properties: { at: { required: ['street', 'city'] } } });
    expect(schemaOf(`${place} name @at(path: "at.name")`)).toMatchObject({ properties: { at: { required: [] } } });
    const company = '... on Company { size @at(path: "firm.size") seats @at(path: "firm") { most } }';
    expect(schemaOf(`maker { ... on Person { age } ${company} }`)).toMatchObject({
      properties: { maker: { anyOf: [{}, { properties: { firm: { required: ['most', 'size'] } } }] } },
    });
  });

  test('behavior: a fragment is a named schema, unless others are placed in it', () => {
    const part = 'fragment Part on Part { size }';
    const named = answerOf(`{ thing { parts { ...Part } } } ${part}`).schema(refer, false);
    expect(named.properties).toMatchObject({ parts: { type: 'array', items: { $ref: 'Part' } } });
  });
});
