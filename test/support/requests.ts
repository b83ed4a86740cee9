import fc from 'fast-check';
import type { HttpMessage } from '../../devnet/http.ts';
import { type DocumentedOperation, examplesOf } from './openapi.ts';
import type { Json } from './service.ts';
import { OPS, PARTNER } from './service.ts';

export interface GeneratedRequest {
  readonly url: string;
  readonly init: HttpMessage;
}

/** Fixed, so that a failure is reproducible. */
const SEED = 20_260_601;

/** Every code point but halves of pairs. `unit: 'binary'` makes a table of all of them for every property. */
const anyCharacter = fc
  .oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((point) => String.fromCodePoint(point));
const junk = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.array(anyCharacter, { maxLength: 10 }).map((characters) => characters.join('')),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '1e3',
    'NaN',
    'null',
    'true',
    '[]',
    '{}',
    '0x',
    '../..',
    "' or 1=1",
    '%',
    '\u0000',
    '🦊',
    '1'.repeat(300),
  ),
  fc.integer().map(String),
  fc.stringMatching(/^0x[0-9a-f]{40}$/),
);
/** Nested lists and objects: at the limit, slightly deeper, and beyond any stack. */
const nested = fc
  .tuple(fc.constantFrom(2, 20, 31, 33, 40, 400, 5_000), fc.boolean())
  .map(([depth, list]) => (list ? ['['.repeat(depth), ']'.repeat(depth)] : ['{"a":'.repeat(depth), '}'.repeat(depth)]));
const nestedText = nested.map(([open, close]) => `${open}1${close}`);
const junkValue = fc.oneof(
  junk,
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(junk, { maxLength: 3 }),
  fc.dictionary(fc.string(), junk, { maxKeys: 2 }),
);

/** Generate valid requests and all kinds of invalid ones for an operation of the document. */
export function requestsFor(operation: DocumentedOperation, count: number): GeneratedRequest[] {
  const isKeyed = operation.operation.security?.length > 0;
  const headers = isKeyed
    ? fc.oneof(
        { weight: 8, arbitrary: fc.constantFrom(PARTNER, OPS) },
        { weight: 1, arbitrary: fc.constant({}) },
        wrongKey,
      )
    : fc.oneof({ weight: 12, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.constant(PARTNER) }, wrongKey);
  const request = fc
    .record({ url: urls(operation), headers, sent: bodies(operation) })
    .map(({ url, headers: own, sent }) => ({
      url,
      init: { method: operation.method, ...sent, headers: { ...sent.headers, ...own } as Record<string, string> },
    }));
  return fc.sample(request, { numRuns: count, seed: SEED });
}

const wrongKey = fc.constantFrom(
  { authorization: 'Bearer nobody' },
  { authorization: '' },
  { authorization: 'Basic abc' },
);

function urls({ path, operation }: DocumentedOperation): fc.Arbitrary<string> {
  const parameters: Json[] = operation.parameters ?? [];
  const parts = parameters.map((parameter) => {
    const known = Object.values<Json>(parameter.examples ?? {}).map(({ value }) => String(value));
    const allowed = [
      ...known,
      ...(parameter.schema.enum ?? []).map(String),
      ...(parameter.schema.default === undefined ? [] : [String(parameter.schema.default)]),
    ];
    const right = allowed.length === 0 ? junk : fc.constantFrom(...allowed);
    const value = fc.oneof({ weight: 3, arbitrary: right }, { weight: 1, arbitrary: junk });
    // A path without its parameter would be another path.
    if (parameter.in === 'path')
      return value.map((text) => ({ parameter, values: [text === '' || /^[./]+$/.test(text) ? 'x' : text] }));
    const values = fc.oneof(
      { weight: 5, arbitrary: value.map((text) => [text]) },
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.tuple(value, value) },
    );
    return values.map((texts) => ({ parameter, values: texts as string[] }));
  });
  const extra = fc.option(fc.tuple(fc.string({ minLength: 1, maxLength: 8 }), junk), { freq: 6, nil: null });
  const broken = fc
    .boolean()
    .chain((maybe) => (maybe ? fc.constantFrom('', '', '', '', '%', '%zz', '&&', '=') : fc.constant('')));
  return fc.tuple(fc.tuple(...parts), extra, broken).map(([given, more, tail]) => {
    let url = path;
    const query: string[] = [];
    for (const { parameter, values } of given) {
      const texts = values.map((text) => encodeURIComponent(wellFormed(text)));
      if (parameter.in === 'path') url = url.replace(`{${parameter.name}}`, texts[0] ?? 'x');
      else query.push(...texts.map((text) => `${parameter.name}=${text}`));
    }
    if (more) query.push(`${encodeURIComponent(wellFormed(more[0]))}=${encodeURIComponent(wellFormed(more[1]))}`);
    if (tail !== '') query.push(tail);
    return query.length === 0 ? url : `${url}?${query.join('&')}`;
  });
}

type Sent = { readonly body?: string; readonly headers?: Record<string, string> };

function bodies(operation: DocumentedOperation): fc.Arbitrary<Sent> {
  if (operation.operation.requestBody === undefined) return fc.constant({});
  const known = examplesOf(operation).flatMap(({ init }) =>
    typeof init.body === 'string' ? [JSON.parse(init.body) as Json] : [],
  );
  const fields = Object.keys(operation.operation.requestBody.content['application/json'].schema.properties ?? {});
  const names = fc.constantFrom(...(fields.length === 0 ? ['x'] : fields));
  const example = fc.constantFrom(...known);
  const json = { 'content-type': 'application/json' };
  const asJson = (value: unknown): Sent => ({ body: JSON.stringify(value), headers: json });
  return fc.oneof(
    // Only few are valid, because each valid one is simulated on a chain.
    { weight: 2, arbitrary: example.map(asJson) },
    {
      weight: 40,
      arbitrary: fc.tuple(example, names, junkValue).map(([body, name, value]) => asJson({ ...body, [name]: value })),
    },
    {
      weight: 20,
      arbitrary: example.map((body) => asJson(Object.fromEntries(Object.entries(body).slice(1)))),
    },
    {
      weight: 10,
      arbitrary: fc
        .tuple(example, fc.string(), junkValue)
        .map(([body, name, value]) => asJson({ ...body, [name]: value })),
    },
    {
      weight: 10,
      arbitrary: fc.tuple(example, names, nestedText).map(([body, name, text]) => ({
        // Inserted as text: the JSON serialiser is as recursive as the parser.
        body: JSON.stringify({ ...body, [name]: 'NESTED' }).replace('"NESTED"', text),
        headers: json,
      })),
    },
    { weight: 4, arbitrary: nestedText.map((body) => ({ body, headers: json })) },
    { weight: 10, arbitrary: junkValue.map(asJson) },
    { weight: 10, arbitrary: fc.string().map((body) => ({ body, headers: json })) },
    {
      weight: 5,
      arbitrary: example.map((body) => ({ body: JSON.stringify(body), headers: { 'content-type': 'text/plain' } })),
    },
    {
      weight: 1,
      arbitrary: fc.constant({ body: JSON.stringify({ pad: 'x'.repeat(70_000) }), headers: json }),
    },
  );
}

/** Halves of surrogate pairs have no encoding. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
