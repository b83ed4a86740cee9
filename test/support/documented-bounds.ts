import type { HttpMessage } from '../../devnet/http.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { type DocumentedOperation, examplesOf } from './openapi.ts';
import type { Json } from './service.ts';

/** A value at one side of a documented bound, as a request. */
export interface BoundRequest {
  readonly value: unknown;
  readonly url: string;
  readonly init: HttpMessage;
}

/** A bound of a parameter or of a field of a body, with the nearest values at both of its sides. */
export interface BoundCase {
  /** Where it is documented, e.g. `query.days` or `body.amount of close`. */
  readonly place: string;
  /** The field that a refusal has to name. */
  readonly field: string;
  readonly keyword: string;
  /** Texts that the message of a refusal has to name. */
  readonly limit: readonly string[];
  readonly inside: readonly BoundRequest[];
  readonly outside: readonly BoundRequest[];
}

interface Sides {
  readonly keyword: string;
  readonly limit: readonly string[];
  readonly inside: readonly unknown[];
  readonly outside: readonly unknown[];
}

/** The bounds of all parameters and bodies of an operation, with the requests at their sides. */
export function boundsOf(operation: DocumentedOperation, document: Json): readonly BoundCase[] {
  const [example] = examplesOf(operation);
  if (!example) return [];
  return [...parameterBounds(operation, example), ...bodyBounds(operation, example, document)];
}

function parameterBounds(
  { path, operation }: DocumentedOperation,
  { init }: { readonly init: HttpMessage },
): BoundCase[] {
  const parameters: Json[] = operation.parameters ?? [];
  const first = (parameter: Json): unknown => Object.values<Json>(parameter.examples ?? {})[0]?.value;
  return parameters.flatMap((parameter) => {
    const request = (value: unknown): BoundRequest => {
      const query = new URLSearchParams();
      const headers: Record<string, string> = { ...init.headers };
      let url = path;
      for (const other of parameters) {
        const given = other === parameter ? value : other.required ? first(other) : undefined;
        if (given === undefined) continue;
        if (other.in === 'path') url = url.replace(`{${other.name}}`, encodeURIComponent(String(given)));
        else if (other.in === 'header') headers[other.name] = String(given);
        else query.set(other.name, String(given));
      }
      return { value, url: query.size === 0 ? url : `${url}?${query}`, init: { ...init, headers } };
    };
    const sample = first(parameter) ?? parameter.schema.default ?? SAMPLES[parameter.name];
    if (parameter.in !== 'header')
      return casesOf(`${parameter.in}.${parameter.name}`, parameter.schema, sample, request);
    // HTTP takes the spaces around a header away.
    const isSent = ({ value }: BoundRequest) => value === String(value).trim();
    return casesOf(`headers.${parameter.name.toLowerCase()}`, parameter.schema, sample, request).map((bound) => ({
      ...bound,
      outside: bound.outside.filter(isSent),
    }));
  });
}

function bodyBounds(
  { operation }: DocumentedOperation,
  { url, init }: { readonly url: string; readonly init: HttpMessage },
  document: Json,
): BoundCase[] {
  const content = operation.requestBody?.content['application/json'];
  if (!content) return [];
  const resolve = (schema: Json): Json =>
    typeof schema.$ref === 'string' ? resolve(document.components.schemas[schema.$ref.split('/').at(-1)]) : schema;
  const root = resolve(content.schema);
  const known: Json = Object.assign({}, ...Object.values<Json>(content.examples).map(({ value }) => value));
  const seen = new Set<string>();
  const forms: Json[] = (root.oneOf ?? [root]).map(resolve);
  return forms.flatMap((form) => {
    const properties = Object.entries<Json>(form.properties);
    const sampleOf = (name: string, schema: Json): unknown =>
      schema.const ?? known[name] ?? schema.examples?.[0] ?? SAMPLES[name];
    const base: Json = Object.fromEntries(
      properties
        .filter(([name]) => form.required?.includes(name) || name === 'positionId')
        .map(([name, schema]) => [name, sampleOf(name, resolve(schema))]),
    );
    return properties.flatMap(([name, property]) => {
      const schema = resolve(property);
      const { description: _description, ...bounds } = schema;
      const key = JSON.stringify([name, bounds]);
      if (seen.has(key)) return [];
      seen.add(key);
      const request = (value: unknown): BoundRequest => {
        const { positionId, ...rest } = base;
        const body = { ...(name === 'id' || positionId === undefined ? rest : base), [name]: value };
        return { value, url, init: { ...init, body: JSON.stringify(body) } };
      };
      const action = form.properties.action?.const;
      const place = `body.${name}${action === undefined ? '' : ` of ${action}`}`;
      const items = schema.items ? resolve(schema.items) : undefined;
      const inItems = items ? casesOf(`${place}[]`, items, undefined, (value) => request([value])) : [];
      return [...casesOf(place, schema, sampleOf(name, schema), request), ...inItems];
    });
  });
}

/** Values of fields that no example has. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  amount: '10',
  payToken: '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497',
  leverage: 5,
  desiredLtv: '80',
  minAmountOut: '1',
  stockLtvPct: '20',
  address: '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497',
  holdingDays: '30',
  limit: '10',
  'Idempotency-Key': '5e0c6a5f-1d51-4a53-9c1c-5a9f6c1b2d3e',
  alertId: '00000000-0000-4000-8000-000000000001',
  minBlock: '1',
  afterTx: `0x${'1'.repeat(64)}`,
  marketId: '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5',
  vaultId: 'equity-0x50bc39b5722fb5634c436d74c6787f3c125b879e7b73cf9e9ecc01bbb57b8e55',
};

function casesOf(
  place: string,
  schema: Json,
  sample: unknown,
  request: (value: unknown) => BoundRequest,
): readonly BoundCase[] {
  return sidesOf(schema, sample).map(({ inside, outside, ...bound }) => ({
    place,
    field: place.replace(/ of .*|\[\]/g, ''),
    ...bound,
    inside: inside.map(request),
    outside: outside.map(request),
  }));
}

function sidesOf(schema: Json, sample: unknown): readonly Sides[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, maxItems, maxLength, pattern } = schema;
  const step = (at: number) => (schema.type === 'integer' ? 1 : Math.abs(at) * Number.EPSILON || Number.MIN_VALUE);
  const sides: Sides[] = [];
  const add = (keyword: string, limit: unknown, inside: readonly unknown[], outside: readonly unknown[]) => {
    sides.push({ keyword, limit: [limit].flat().map(plain), inside, outside });
  };
  if (Array.isArray(schema.enum)) add('enum', schema.enum, schema.enum, besides(schema.enum));
  else {
    if (minimum !== undefined) add('minimum', minimum, [minimum], [minimum - step(minimum)]);
    if (maximum !== undefined) add('maximum', maximum, [maximum], [maximum + step(maximum)]);
    if (exclusiveMinimum !== undefined)
      add('exclusiveMinimum', exclusiveMinimum, [nextAbove(exclusiveMinimum)], [exclusiveMinimum]);
    if (exclusiveMaximum !== undefined)
      add('exclusiveMaximum', exclusiveMaximum, [-nextAbove(-exclusiveMaximum)], [exclusiveMaximum]);
  }
  if (schema.const !== undefined) add('const', schema.const, [schema.const], besides([schema.const]));
  if (schema.type === 'integer') add('type', [], [], [0.5, (schema.enum?.[0] ?? minimum) + 0.5]);
  if (maxItems !== undefined) {
    const items = Array.from({ length: maxItems + 1 }, (_, i) => i);
    add('maxItems', maxItems, [items.slice(1)], [items]);
  }
  if (maxLength !== undefined) add('maxLength', maxLength, [], ['a'.repeat(maxLength + 1)]);
  if (pattern !== undefined) sides.push(sidesOfPattern(new RegExp(pattern, 'u'), String(sample)));
  return sides;
}

/** The next number that JSON can express. */
function nextAbove(value: number): number {
  return value === 0 ? Number.MIN_VALUE : value + Math.abs(value) * Number.EPSILON;
}

/** A limit as messages write it. */
function plain(limit: unknown): string {
  return typeof limit === 'number' ? new Decimal(String(limit)).toFixed() : String(limit);
}

/** Values next to those of a list. */
function besides(values: readonly unknown[]): readonly unknown[] {
  const next = values.flatMap((value): readonly unknown[] => {
    if (typeof value === 'number') return [value - 1, value + 1, -value];
    // Beside `full: true` is the other form of the body.
    if (typeof value === 'boolean') return [];
    return [`${value}s`, String(value).slice(0, -1), String(value).toUpperCase(), ` ${value}`];
  });
  return next.filter((value) => !values.includes(value));
}

/** Of the texts with a length, one; of the lengths, the extreme ones. */
function shortestAndLongest(texts: readonly string[]): readonly string[] {
  const byLength = [...new Map(texts.map((text) => [text.length, text])).values()].sort((a, b) => a.length - b.length);
  return byLength.length <= 4 ? byLength : [...byLength.slice(0, 2), ...byLength.slice(-2)];
}

/** Places of a text at which a part of a pattern begins or ends. */
function placesIn(text: string): readonly number[] {
  const signs = [...text].flatMap((character, at) => (/[^0-9a-z]/i.test(character) ? [at - 1, at, at + 1] : []));
  return [...new Set([0, 1, 2, ...signs, text.length - 1])].filter((at) => at >= 0 && at < text.length);
}

/** Longer than every documented text. */
const MAX_LENGTH = 200;

/**
 * The longest and shortest texts around a sample that match, their next neighbours that do not, and frequent mistakes. The
 * documented pattern decides on which side a text is.
 */
function sidesOfPattern(pattern: RegExp, sample: string): Sides {
  if (!pattern.test(sample)) throw new Error(`The sample ${sample} does not match ${pattern}.`);
  const texts = new Set<string>([sample]);
  const until = (change: (text: string) => string, from: string) => {
    for (
      let text = from, next = change(text);
      next !== text && next.length < MAX_LENGTH;
      text = next, next = change(text)
    ) {
      if (pattern.test(next)) continue;
      texts.add(text).add(next);
      return;
    }
  };
  for (const from of [sample, `${sample}.5`].filter((text) => pattern.test(text))) {
    for (const at of placesIn(from)) {
      until((text) => text.slice(0, at) + from[at] + text.slice(at), from);
      until((text) => text.slice(0, at) + text.slice(at + 1), from);
    }
  }
  const mistakes = [
    `${sample} `,
    ` ${sample}`,
    `${sample}\n`,
    `-${sample}`,
    `+${sample}`,
    `equity-${sample}`,
    sample.toUpperCase(),
  ];
  for (const text of [...mistakes, `${sample}.`, `${sample},5`, `${sample}e1`, '1e3']) texts.add(text);
  const all = [...texts].filter((text) => text !== '');
  const numbers = [...pattern.source.matchAll(/\{(?:\d+,)?(\d\d+)\}/g)].map(([, most = '']) => most);
  return {
    keyword: 'pattern',
    limit: [...new Set(numbers)],
    inside: shortestAndLongest(all.filter((text) => pattern.test(text))),
    outside: all.filter((text) => !pattern.test(text)),
  };
}
