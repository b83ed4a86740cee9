import { describe, expect, test } from 'vitest';
import { breakingOpenApiChanges } from '../../scripts/releases/openapi-changes.ts';
import type { Json } from '../support/service.ts';

/** Every kind of change of a schema, with the report for a request and for an answer; `null` = it breaks no client. */
type Kind = readonly [string, before: Json, after: Json, request: string | null, answer: string | null];

const A = { $ref: '#/components/schemas/A' };
const B = { $ref: '#/components/schemas/B' };
const text = { type: 'string' };
const number = { type: 'number' };
const object = (properties: Json, required: readonly string[] = []) => ({ type: 'object', properties, required });
const schemas = { A: object({ a: text }, ['a']), B: object({ b: text }, ['b']) };

const VALUES: readonly Kind[] = [
  ['another type', text, number, 'type string became number', 'type string became number'],
  ['a further type', text, { type: ['string', 'null'] }, null, 'type string became string or null'],
  ['a type less', { type: ['string', 'null'] }, text, 'type string or null became string', null],
  ['a type where there was none', {}, text, 'type any became string', null],
  ['a type that is gone', text, {}, null, 'type string became any'],
  ['an integer for a number', number, { type: 'integer' }, 'type number became integer', null],
  ['a further value', { enum: ['a'] }, { enum: ['a', 'b'] }, null, null],
  ['a value less', { enum: ['a', 'b'] }, { enum: ['a'] }, 'value "b" removed', 'value "b" removed'],
  ['values where there were none', text, { type: 'string', enum: ['a'] }, 'limited to certain values', null],
  ['values that are gone', { type: 'string', enum: ['a'] }, text, null, 'no longer limited to certain values'],
  ['another constant', { const: 'a' }, { const: 'b' }, 'value "a" removed', 'value "a" removed'],
  ['a default where there was none', text, { ...text, default: 'a' }, 'default undefined became "a"', null],
  ['another default', { ...text, default: 'a' }, { ...text, default: 'b' }, 'default "a" became "b"', null],
  ['names of a default in another order', { default: { a: 1, b: 2 } }, { default: { b: 2, a: 1 } }, null, null],
  ['a default that is gone', { ...text, default: 'a' }, text, 'default "a" became undefined', null],
  ['a higher minimum', { ...number, minimum: 1 }, { ...number, minimum: 2 }, 'minimum 1 became 2', null],
  ['a lower minimum', { ...number, minimum: 2 }, { ...number, minimum: 1 }, null, 'minimum 2 became 1'],
  ['an exclusive bound', { maximum: 2 }, { exclusiveMaximum: 2 }, 'maximum 2 became exclusive', null],
  ['an inclusive bound', { exclusiveMaximum: 2 }, { maximum: 2 }, null, 'maximum 2 became inclusive'],
  ['a shorter text', { maxLength: 9 }, { maxLength: 8 }, 'maxLength 9 became 8', null],
  ['a longer text', { maxLength: 8 }, { maxLength: 9 }, null, 'maxLength 8 became 9'],
  ['fewer fields', { maxProperties: 9 }, { maxProperties: 8 }, 'maxProperties 9 became 8', null],
  ['steps', number, { ...number, multipleOf: 2 }, 'multipleOf undefined became 2', null],
  ['steps that are gone', { ...number, multipleOf: 2 }, number, null, 'multipleOf 2 became undefined'],
  ['a pattern', text, { ...text, pattern: '^a$' }, 'pattern undefined became ^a$', null],
  ['a pattern that is gone', { ...text, pattern: '^a$' }, text, null, 'pattern ^a$ became undefined'],
  ['a format', text, { ...text, format: 'date' }, 'format undefined became date', null],
  ['another format', { ...text, format: 'date' }, { ...text, format: 'uri' }, 'format date', 'format date became uri'],
  ['another encoding', text, { ...text, contentEncoding: 'base64' }, 'contentEncoding undefined became base64', null],
  ['an exclusion', text, { ...text, not: { const: 'a' } }, 'not undefined became {"const":"a"}', null],
  ['an exclusion that is gone', { ...text, not: { const: 'a' } }, text, null, 'not {"const":"a"} became undefined'],
  ['a condition', {}, { if: A, else: B }, 'if undefined became', null],
  ['a field of answers only', text, { ...text, readOnly: true }, 'readOnly undefined became true', null],
  ['other words', { ...text, description: 'a', title: 'b' }, { ...text, examples: ['c'], 'x-unit': 'd' }, null, null],
];

const list = (items: Json, more: Json = {}) => ({ type: 'array', items, ...more });
const PARTS: readonly Kind[] = [
  ['an optional field', object({}), object({ a: text }), null, null],
  ['a required field', object({}), object({ a: text }, ['a']), '.a: new required input', null],
  ['a field that is gone', object({ a: text }), object({}), '.a: removed', '.a: removed'],
  ['a field that has to be there', object({ a: text }), object({ a: text }, ['a']), '.a: new required input', null],
  ['a field that may be absent', object({ a: text }, ['a']), object({ a: text }), null, '.a: may be absent'],
  ['no further fields', object({}), { ...object({}), additionalProperties: false }, 'no further fields allowed', null],
  [
    'no further fields, of a part that may be null',
    { ...object({}), type: ['object', 'null'] },
    { ...object({}), type: ['object', 'null'], additionalProperties: false },
    'no further fields allowed',
    null,
  ],
  ['values of a map', { additionalProperties: text }, { additionalProperties: number }, 'type string', 'type string'],
  ['a map of anything', { additionalProperties: text }, {}, null, 'additionalProperties may be anything'],
  ['names of a map', object({}), { ...object({}), propertyNames: { maxLength: 3 } }, 'propertyNames limited', null],
  ['fields by pattern', object({}), { ...object({}), patternProperties: { a: text } }, 'patternProperties', null],
  ['a field that needs another', object({}), { ...object({}), dependentRequired: { a: ['b'] } }, 'dependent', null],
  ['other items', list(text), list(number), 'type string became number', 'type string became number'],
  ['items of any kind', list(text), { type: 'array' }, null, 'items may be anything'],
  ['items of one kind', { type: 'array' }, list(text), 'items limited', null],
  ['no further items', { type: 'array' }, list(false), 'items limited', null],
  ['further items', list(false), { type: 'array' }, null, 'items may be anything'],
  ['a first item', list({}), list({}, { prefixItems: [text] }), '[0]: type any became string', null],
  ['first items that are gone', list({}, { prefixItems: [text] }), list({}), null, '[0]: type string became any'],
  ['first items that are as all others', list({}, { prefixItems: [text, text] }), list(text), '[]: type any', null],
  ['different items', list(text), list(text, { uniqueItems: true }), 'uniqueItems undefined became true', null],
  ['equal items', list(text, { uniqueItems: true }), list(text), null, 'uniqueItems true became undefined'],
];

const coded = (code: string) => object({ code: { const: code } }, ['code']);
const FORMS: readonly Kind[] = [
  ['another name', A, B, 'schema A became B', 'schema A became B'],
  ['a named form', { oneOf: [A] }, { oneOf: [A, B] }, null, 'form B added'],
  ['a named form less', { oneOf: [A, B] }, { oneOf: [A] }, 'form #/components/schemas/B removed', null],
  [
    'a scalar form beside a named one',
    { anyOf: [A] },
    { anyOf: [A, text] },
    null,
    'type object became object or string',
  ],
  ['a scalar form in front', { anyOf: [A] }, { anyOf: [text, A] }, null, 'form 0 added'],
  [
    'a second scalar form',
    { anyOf: [{ ...text, format: 'date' }] },
    { anyOf: [{ ...text, format: 'date' }, text] },
    null,
    'form 1 added',
  ],
  ['null as a form', { anyOf: [A] }, { anyOf: [A, { type: 'null' }] }, null, 'type object became object or null'],
  ['a form of any type', { anyOf: [A, text] }, { anyOf: [A, text, {}] }, null, 'type object or string became any'],
  ['a constant beside others', { anyOf: [{ const: 'a' }] }, { anyOf: [{ const: 'a' }, { const: 'b' }] }, null, null],
  [
    'a constant of another type',
    { anyOf: [{ const: 'a' }] },
    { anyOf: [{ const: 'a' }, { const: 1 }] },
    null,
    'form 1 added',
  ],
  ['a scalar form less', { anyOf: [text, number] }, { anyOf: [text] }, 'type string or number became string', null],
  ['forms in another order', { oneOf: [text, number, A] }, { oneOf: [A, number, text] }, null, null],
  ['an object form', { anyOf: [coded('a')] }, { anyOf: [coded('a'), coded('b')] }, null, 'form 1 added'],
  [
    'a form named as if of errors',
    { anyOf: [A] },
    { anyOf: [A, { $ref: '#/components/schemas/MoreDetails' }] },
    null,
    'form MoreDetails added',
  ],
  ['forms for a plain schema', text, { anyOf: [text, number] }, null, 'type string became string or number'],
  [
    'forms that are narrower',
    text,
    { ...text, anyOf: [{ minLength: 3 }, { pattern: '^a' }] },
    'limited to certain forms',
    null,
  ],
  ['a plain schema for its forms', { anyOf: [text, number] }, text, 'forms removed', null],
  [
    'another object for forms',
    { anyOf: [coded('a'), coded('b')] },
    { type: 'object' },
    'forms removed',
    'no longer limited to certain forms',
  ],
  ['one form only', { anyOf: [A, B] }, { oneOf: [A, B] }, 'anyOf became oneOf', null],
  [
    'further forms beside',
    { oneOf: [A, B] },
    { oneOf: [A, B], anyOf: [{ required: ['a'] }] },
    'limited to certain forms',
    null,
  ],
  ['a member', object({}), { ...object({}), allOf: [{ required: ['a'] }] }, '.a: new required input', null],
  ['a named member', object({}), { ...object({}), allOf: [A] }, 'schema none became A', null],
  ['a narrower member', { allOf: [{ maxLength: 9 }] }, { allOf: [{ maxLength: 8 }] }, 'maxLength 9 became 8', null],
  ['a wider member', { allOf: [{ maxLength: 8 }] }, { allOf: [{ maxLength: 9 }] }, null, 'maxLength 8 became 9'],
  ['a member that is gone', { allOf: [object({ a: text })] }, { allOf: [] }, '.a: removed', '.a: removed'],
  ['a bound of a member that is gone', { allOf: [{ maxLength: 8 }] }, {}, null, 'maxLength 8 became Infinity'],
  [
    'another discriminator',
    { oneOf: [A], discriminator: { propertyName: 'a' } },
    { oneOf: [A], discriminator: { propertyName: 'b' } },
    'discriminator changed',
    'discriminator changed',
  ],
];

const json = (schema: Json) => ({ content: { 'application/json': { schema } } });
const document = (operation: Json, more: Json = {}): Json => ({
  paths: { '/a': { post: { responses: {}, ...operation } } },
  components: {
    schemas: { ...schemas, MoreDetails: object({ more: text }) },
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
  },
  ...more,
});
const changesOf = (before: Json, after: Json) => breakingOpenApiChanges(before, after, '2026-11-22').join('\n');
const expectReport = (report: string, expected: string | null) => {
  if (expected === null) expect(report).toBe('');
  else expect(report).toContain(expected);
};

describe('kinds of changes of a schema', () => {
  test.each([...VALUES, ...PARTS, ...FORMS])('behavior: %s', (_what, before, after, request, answer) => {
    const inBody = (schema: Json) => document({ requestBody: json(schema) });
    const inAnswer = (schema: Json) => document({ responses: { 200: json(schema) } });
    expectReport(changesOf(inBody(before), inBody(after)), request);
    expectReport(changesOf(inAnswer(before), inAnswer(after)), answer);
  });
});

describe('kinds of changes of an operation', () => {
  const parameter = (more: Json = {}) => ({ name: 'q', in: 'query', schema: text, ...more });
  const parameters = (...list: Json[]) => document({ parameters: list });
  const secured = (...security: Json[]) => document({ security });
  const answers = (responses: Json) => document({ responses });
  const header = (more: Json) => answers({ 200: { headers: { Age: { schema: text, ...more } } } });
  const key = { key: [] };
  const other = { other: [] };

  test.each<readonly [string, Json, Json, string | null]>([
    ['a body', document({}), document({ requestBody: json(text) }), null],
    [
      'a required body',
      document({}),
      document({ requestBody: { ...json(text), required: true } }),
      'new required input',
    ],
    ['a parameter', parameters(), parameters(parameter()), null],
    ['a required parameter', parameters(), parameters(parameter({ required: true })), 'query.q: new required input'],
    ['a parameter that is gone', parameters(parameter()), parameters(), 'query.q: removed'],
    ['a parameter in another place', parameters(parameter()), parameters(parameter({ in: 'header' })), 'removed'],
    [
      'a default of a parameter',
      parameters(parameter()),
      parameters(parameter({ schema: { ...text, default: 'a' } })),
      'default',
    ],
    ['another style', parameters(parameter()), parameters(parameter({ style: 'pipeDelimited' })), 'style undefined'],
    [
      'a parameter with content',
      parameters(parameter()),
      parameters({ name: 'q', in: 'query', ...json(text) }),
      'removed',
    ],
    [
      'a parameter of the path',
      document({}, { paths: { '/a': { parameters: [parameter()], post: { responses: {} } } } }),
      document({}, { paths: { '/a': { post: { responses: {} } } } }),
      'query.q: removed',
    ],
    [
      'a parameter by reference',
      document({ parameters: [{ $ref: '#/parameters/Q' }] }, { parameters: { Q: parameter() } }),
      document({ parameters: [{ $ref: '#/parameters/Q' }] }, { parameters: { Q: parameter({ schema: number }) } }),
      'type string became number',
    ],
    ['a key', secured(), secured(key), 'needs a key'],
    ['a key that may be left out', secured(), secured({}, key), null],
    ['a key that has to be there', secured({}, key), secured(key), 'needs a key'],
    ['no key', secured(key), secured(), null],
    ['no key beside one', secured(key), secured({}, key), null],
    ['another key beside none', secured({}, key), secured({}, other), 'security {"key":[]} removed'],
    ['two keys for one', secured(key), secured({ ...key, ...other }), 'security {"key":[]} removed'],
    ['one key for two', secured({ ...key, ...other }), secured(key), null],
    ['a scope', secured({ key: ['a'] }), secured({ key: ['a', 'b'] }), 'security {"key":["a"]} removed'],
    ['a further success', answers({ 200: json(A) }), answers({ 200: json(A), 202: json(B) }), 'POST /a 202: added'],
    ['a further error', answers({ 200: json(A) }), answers({ 200: json(A), 409: json(B) }), null],
    [
      'a further content type',
      answers({ 200: json(A) }),
      answers({ 200: { content: { ...json(A).content, b: {} } } }),
      null,
    ],
    ['a header that may be absent', header({ required: true }), header({}), 'header Age: may be absent'],
    ['another header', header({}), header({ schema: number }), 'header Age: type string became number'],
  ])('behavior: %s', (_what, before, after, expected) => {
    expectReport(changesOf(before, after), expected);
  });

  const error = (...details: Json[]) =>
    object({ error: object({ code: text, details: { anyOf: details } }, ['code']) }, ['error']);
  const known = object({ field: text }, ['field']);

  test.each<readonly [string, Json, Json, string | null]>([
    ['a kind of error', { anyOf: [error(known)] }, { anyOf: [error(known), error(text)] }, null],
    ['a body that is no error', { anyOf: [error(known)] }, { anyOf: [error(known), A] }, 'form A added'],
    ['a kind of details', error(A, B), error(A, B, { $ref: '#/components/schemas/MoreDetails' }), null],
    ['details without a field of all others', error(known), error(known, A), 'form A added'],
    ['details that are text', error(A), error(A, text), 'type object became object or string'],
    [
      'a form within the details',
      error(object({ rule: { anyOf: [A] } })),
      error(object({ rule: { anyOf: [A, B] } })),
      'form B added',
    ],
  ])('behavior: in the answer to a refused request: %s', (_what, before, after, expected) => {
    const refused = (schema: Json) => document({ responses: { 400: json(schema) } });
    expectReport(changesOf(refused(before), refused(after)), expected);
    const answered = (schema: Json) => document({ responses: { 200: json(schema) } });
    expect(changesOf(answered(before), answered(after))).toContain('added');
  });
});
