import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { AppError, BadRequestError } from '../shared/errors.ts';
import { formatValue } from '../shared/ids.ts';
import { createInputCount, type IsKnownName } from '../shared/input/input-count.ts';
import { nearestName } from '../shared/input/nearest-name.ts';
import { isRecord } from '../shared/input/record.ts';
import { expectation, issuesOf } from './issues.ts';
import { checkStructure } from './json.ts';
import type { RestRequest } from './types.ts';

/** Bodies of the partner surface are a few hundred bytes; this limit has a margin and bounds memory. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Handling of query parameters that a row does not have: named in a header of the answer, or refused. */
export type UnknownNames = 'ignore' | 'refuse';

/** Whether a text is a value of a parameter, by its known name, that its default is not. */
export type DiffersFromDefault = (name: string, value: string) => boolean;

/**
 * Parse a query string to the values of its known names; without `known` every name is one. A repeated known name is refused,
 * because its meaning is ambiguous. An unknown name is refused when it probably stands for a known one; `unknown` decides about
 * the others.
 * @throws BadRequestError
 */
export function parseQuery(
  query: string,
  known?: readonly string[],
  unknown: UnknownNames = 'ignore',
  refused: Readonly<Record<string, string>> = {},
  differs: DiffersFromDefault = () => false,
): Record<string, string> {
  const values: Record<string, string> = {};
  if (/%(?![0-9a-fA-F]{2})/.test(query)) {
    throw new BadRequestError('The query is not valid percent-encoding. Encode every % as %25.', {
      field: 'query',
      value: formatValue(query),
    });
  }
  for (const [name, value] of new URLSearchParams(query)) {
    if (known && !known.includes(name)) {
      checkUnknown(name, value, known, unknown, refused, differs);
      continue;
    }
    if (Object.hasOwn(values, name)) {
      throw new BadRequestError(`The parameter "${formatValue(name)}" is repeated. Send it once.`, {
        field: `query.${formatValue(name)}`,
      });
    }
    Object.defineProperty(values, name, { value, enumerable: true });
  }
  return values;
}

/**
 * Count the parameters of a query, before any of them is looked at.
 * @throws BadRequestError
 */
export function countParameters(query: string, isKnown: IsKnownName): void {
  if (query === '') return;
  const count = createInputCount('query', isKnown);
  for (const name of new URLSearchParams(query).keys()) count.name(name);
}

/** @throws BadRequestError for an unknown name that is not ignored */
function checkUnknown(
  name: string,
  value: string,
  known: readonly string[],
  unknown: UnknownNames,
  refused: Readonly<Record<string, string>>,
  differs: DiffersFromDefault,
): void {
  const reason = Object.hasOwn(refused, name) ? refused[name] : undefined;
  const advice = reason ?? adviceFor(name, value, known, unknown, differs);
  if (advice === undefined) return;
  const problem = reason === undefined ? 'is unknown' : 'is not taken here';
  throw new BadRequestError(`The parameter "${formatValue(name)}" ${problem}. ${advice}`, {
    field: `query.${formatValue(name)}`,
    value: formatValue(value),
    limit: { oneOf: known },
  });
}

/** The next step for an unknown parameter; `undefined` = it is ignored. */
function adviceFor(
  name: string,
  value: string,
  known: readonly string[],
  unknown: UnknownNames,
  differs: DiffersFromDefault,
): string | undefined {
  if (unknown === 'ignore' && name.startsWith('utm_')) return undefined;
  const meant = meantName(name, known);
  if (meant !== undefined) return `Its spelling is "${meant}".`;
  if (known.includes(CHAIN) && numbersIn(value).some((number) => differs(CHAIN, number))) {
    return `Its value is a chain, which is asked for with "${CHAIN}".`;
  }
  if (unknown === 'ignore') return undefined;
  return known.length === 0
    ? 'This path takes no parameters: leave it out.'
    : `This path takes ${known.join(', ')}: leave it out.`;
}

/** The known name that an unknown one probably stands for. */
function meantName(name: string, known: readonly string[]): string | undefined {
  const similar = spellingsIn(name.slice(0, MAX_READ_LENGTH))
    .map((spelling) => knownName(spelling, known))
    .find((found) => found !== undefined);
  if (similar !== undefined) return similar;
  const letters = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  return known.includes(CHAIN) && CHAIN_WORDS.some((word) => letters.includes(word)) ? CHAIN : undefined;
}

/**
 * An answer about the default chain does not show that another one was asked for. So a name with one of these words in it, as
 * in `chains`, `targetChain` and `chain_id_eq`, and another chain as the value of any unknown name, stand for this parameter.
 */
const CHAIN = 'chainId';
const CHAIN_WORDS = ['chain', 'network'];

/** The numbers in a value as the contract writes them: `0x1237`, `eip155:4663` and `1,4663` have 4663. */
function numbersIn(value: string): readonly string[] {
  const parts = value.slice(0, MAX_READ_LENGTH).split(/[^A-Za-z0-9.]+/);
  return parts.filter((part) => part !== '').map((part) => String(Number(part)));
}

function knownName(name: string, known: readonly string[]): string | undefined {
  const plain = bare(name);
  return (
    known.find((other) => bare(other) === plain) ??
    (name.length <= MAX_SIMILAR_LENGTH ? nearestName(name, known) : undefined) ??
    known.find((other) => plain.length >= MIN_PREFIX_LENGTH && bare(other).startsWith(plain))
  );
}

/** A name, the name without its signs, and the words between these: `ids[]`, `filter[id]`, `input.id`, `amp;id`, `"id"`. */
function spellingsIn(name: string): readonly string[] {
  const words = name.split(/[^A-Za-z0-9_-]+/).filter((word) => word !== '');
  return words.length === 1 && words[0] === name ? [name] : [name, words.join(''), ...words];
}

/** No more of a name is read for the one that it may stand for. */
const MAX_READ_LENGTH = 64;
/** A shorter beginning of a name may be anything. */
const MIN_PREFIX_LENGTH = 4;
/** Longer names are not compared: no parameter is nearly as long. */
const MAX_SIMILAR_LENGTH = 32;

/** List the query parameters of a row. */
export function queryNames(params: z.ZodType, pathParams: Readonly<Record<string, unknown>>): readonly string[] {
  return params instanceof z.ZodObject
    ? Object.keys(params.shape).filter((name) => !Object.hasOwn(pathParams, name))
    : [];
}

/** Tell, by the parameters of a row, whether a text is a value other than the default; without a default none is. */
export function valuesOf(params: z.ZodType): DiffersFromDefault {
  return (name, value) => {
    const field: unknown = params instanceof z.ZodObject ? params.shape[name] : undefined;
    if (!(field instanceof z.ZodType)) return false;
    const [standard, given] = [field.safeParse(undefined).data, field.safeParse(value)];
    return standard !== undefined && given.success && given.data !== standard;
  };
}

/** A name without case, separators and a plural ending. */
function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '').replace(/s$/, '');
}

/** Maximum number of names, and of characters of each, in the header about ignored parameters. */
const MAX_IGNORED_NAMES = 10;
const MAX_IGNORED_LENGTH = 20;
/** A parameter without a name, as in `?=4663`. Quotes of a name are encoded. */
const NO_NAME = '""';

/** The names of ignored query parameters as a header value, percent-encoded; `undefined` when there are none. */
export function ignoredParameters(query: string, known: readonly string[]): string | undefined {
  if (query === '') return undefined;
  const ignored = [...new URLSearchParams(query).keys()].filter((name) => !known.includes(name));
  if (ignored.length === 0) return undefined;
  return [...new Set(ignored)]
    .slice(0, MAX_IGNORED_NAMES)
    .map((name) => (name === '' ? NO_NAME : encodeURIComponent([...name].slice(0, MAX_IGNORED_LENGTH).join(''))))
    .join(', ');
}

export class UnsupportedMediaTypeError extends AppError<{ readonly accepts: readonly string[] }> {
  constructor() {
    super('unsupported_media_type', 'Send the body as JSON in UTF-8, uncompressed: "content-type: application/json".', {
      details: { accepts: ['application/json'] },
    });
  }
}

/** Names that a JSON text may have anywhere: those of GraphQL depend on the document in it. */
export type KnownNames = (text: string) => IsKnownName;

/**
 * Read and parse a JSON body.
 * @param ready called after the body has arrived; resolves when it may be processed
 * @throws UnsupportedMediaTypeError, BadRequestError, and the transport's error for more than `limit` bytes
 */
export async function parseJsonBody(
  request: RestRequest,
  limit: number,
  ready: () => Promise<void>,
  known: KnownNames,
): Promise<unknown> {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (!isJsonType(request.headers['content-type'] ?? '') || encoding !== 'identity')
    throw new UnsupportedMediaTypeError();
  const bytes = await request.body(limit);
  await ready();
  if (bytes.length === 0) throw new BadRequestError('The body is empty. Send a JSON object.', { field: 'body' });
  const text = readText(bytes);
  return parseJson(text, 'body', 'The body is not valid JSON in UTF-8.', known);
}

const BYTE_ORDER_MARK = '\ufeff';

/** @throws BadRequestError */
function readText(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new BadRequestError('The body is not valid JSON in UTF-8.', { field: 'body' });
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/**
 * Parse JSON of a caller, with limits of its depth, names and values, and without repeated keys.
 * @param place name of the text, e.g. `body`
 * @throws BadRequestError naming the place
 */
export function parseJson(text: string, place: string, otherwise: string, known: KnownNames): unknown {
  checkStructure(text, place, known(text));
  try {
    return JSON.parse(text);
  } catch {
    throw new BadRequestError(otherwise, { field: place });
  }
}

function isJsonType(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  return mediaType.trim() === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset));
}

/** Leave out the optional fields of a body that are null: clients send null for what they leave out. */
export function withoutAbsent(schema: z.ZodType, value: unknown): unknown {
  if (!(schema instanceof z.ZodObject) || !isRecord(value)) return value;
  const shape = schema.shape as Readonly<Record<string, z.ZodType>>;
  const isAbsent = (name: string) =>
    value[name] === null && Object.hasOwn(shape, name) && shape[name]?.safeParse(undefined).success === true;
  const absent = Object.keys(value).filter(isAbsent);
  return absent.length === 0
    ? value
    : Object.fromEntries(Object.entries(value).filter(([name]) => !absent.includes(name)));
}

/** Parse with a schema; every issue names its field, the received value and the expected one. */
export function parseInput<T>(
  schema: z.ZodType<T>,
  value: unknown,
  whereIs: (name: string | undefined) => 'path' | 'query' | 'body' | 'headers',
): T {
  const result = schema.safeParse(value, { reportInput: true, error: expectation });
  if (result.success) return result.data;
  const issues = issuesOf(schema, value, result.error, whereIs);
  const [first] = issues;
  if (!first) throw new BadRequestError('The input is not valid.', { field: whereIs(undefined) });
  const got = first.input === undefined ? 'it is missing' : `got "${formatValue(first.input)}"`;
  throw new BadRequestError(`${first.field}: ${first.message} (${got}).`, {
    field: first.field,
    value: first.input === undefined ? undefined : formatValue(first.input),
    limit: first.limit,
    issues: issues.length > 1 ? issues.map(({ field, message }) => ({ field, message })) : undefined,
  });
}

/** Prefix of input names in the pipeline: a variable, or a field of the one input object or of its position. */
const PIPELINE_PLACE = /^(variables\.)?(input\.)?(position\.at\.)?/;

/** Map a named input to its location in the request: `body.amount`, `path.address`, `query.chainId`. */
export function locateField(
  name: string,
  row: {
    readonly params: z.ZodType;
    readonly body?: z.ZodType | undefined;
    readonly pathParams: Readonly<Record<string, unknown>>;
  },
): string {
  if (/^(path|query|body)(\.|$)/.test(name)) return name;
  const field = name.replace(PIPELINE_PLACE, '');
  const [first = ''] = field.split('.');
  if (row.body instanceof z.ZodObject && Object.hasOwn(row.body.shape, first)) return `body.${field}`;
  if (Object.hasOwn(row.pathParams, first)) return `path.${field}`;
  if (row.params instanceof z.ZodObject && Object.hasOwn(row.params.shape, first)) return `query.${field}`;
  return name;
}

/** List the names in a schema of inputs, of objects in it too. */
export function namesIn(schema: z.ZodType): readonly string[] {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([name, field]) => [name, ...namesIn(field as z.ZodType)]);
  }
  if (schema instanceof z.ZodArray) return namesIn(schema.element as z.ZodType);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => namesIn(option as z.ZodType));
  return 'unwrap' in schema ? namesIn((schema as z.ZodOptional<z.ZodType>).unwrap()) : [];
}
