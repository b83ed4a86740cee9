import type { Fact, FactGroup, FactGroups, Failure, GroupState } from '../domain/facts.ts';
import { compacted, Decimal } from '../shared/decimal.ts';
import { isRecord } from '../shared/input/record.ts';
import { inTurns } from '../shared/turns.ts';
import { readFact, readFailure } from './fact-schemas.ts';

/**
 * Version of the persisted format of facts: data of another version is not read. Raise it when the version before could not
 * read a text, or would misread it. A further field, group, chain, reason of a failure, side of a campaign or size of an exit
 * needs none: a reader leaves out unknown fields (`fact-schemas.ts`).
 */
export const CODEC_VERSION = 6;

/** Persisted facts that cannot be decoded. */
export class CodecError extends Error {
  override readonly name = 'CodecError';
}

/** Persisted facts of another version of the service, which are valid for that version. */
export class CodecVersionError extends CodecError {
  /** The version that they carry; `null` when it cannot be read. */
  readonly version: number | null;

  constructor(what: string, version: number | null) {
    super(`${what} of version ${version ?? 'unknown'}, not ${CODEC_VERSION}.`);
    this.version = version;
  }
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Encode any fact value as JSON text. bigint, Decimal and Map keep their type in a one-key tag object. The text is written
 * directly, without an intermediate object, because a large chain has a million values.
 */
export function encode(value: unknown): string {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new CodecError('A fact contains a non-finite number.');
    return JSON.stringify(value);
  }
  if (typeof value === 'bigint') return `{"$bigint":"${value}"}`;
  if (Decimal.isBigNumber(value)) {
    if (!value.isFinite()) throw new CodecError('A fact contains a non-finite decimal.');
    return `{"$decimal":"${value.toFixed()}"}`;
  }
  if (value instanceof Map) {
    return `{"$map":${listOf(value, ([key, item]: readonly [unknown, unknown]) => `[${encode(key)},${encode(item)}]`)}}`;
  }
  if (Array.isArray(value)) return listOf(value, encode);
  if (isRecord(value)) return recordOf(value);
  throw new CodecError(`A fact contains a ${typeof value}, which cannot be persisted.`);
}

function listOf<T>(items: Iterable<T>, textOf: (item: T) => string): string {
  let text = '';
  for (const item of items) text += text === '' ? textOf(item) : `,${textOf(item)}`;
  return `[${text}]`;
}

function recordOf(record: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const key of Object.keys(record)) {
    const value = record[key];
    if (value === undefined) continue;
    if (key.startsWith('$')) throw new CodecError(`A fact contains the reserved key "${key}".`);
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${encode(value)}`;
  }
  return `{${text}}`;
}

/**
 * Decode the output of `encode`.
 * @throws CodecError when the text is not JSON or has an unknown tag
 */
export function decode(text: string): unknown {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new CodecError('The persisted facts are not JSON.');
  }
  return untag(json as Json);
}

/**
 * Encode one group's state in parts of one JSON text. Every item is on a line of its own, so that the text can be decoded in
 * parts.
 */
export function* encodeGroup(group: FactGroup, { items, failures, ...times }: GroupState<unknown>): Generator<string> {
  yield `${encode({ v: CODEC_VERSION, group }).slice(0, -1)},"items":`;
  yield* encodeMap(items);
  yield ',"failures":';
  yield* encodeMap(failures);
  yield `,${encode(times).slice(1)}`;
}

function* encodeMap(map: ReadonlyMap<string, unknown>): Generator<string> {
  yield '{"$map":[';
  let separator = '';
  for (const [key, item] of map) {
    yield `${separator}\n[${encode(key)},${encode(item)}]`;
    separator = ',';
  }
  yield '\n]}';
}

/**
 * Decode and check the output of `encodeGroup` item by item, with other work in between. A text without line breaks is decoded in one piece.
 * @throws CodecError naming the fault
 */
export async function decodeGroup<G extends FactGroup>(group: G, text: string): Promise<GroupState<FactGroups[G]>> {
  /** The JSON text with its maps of items and failures left empty. */
  let frame = '';
  const maps: [string, unknown][][] = [];
  for await (const line of inTurns(text.split('\n'))) {
    if (line.startsWith(ITEM)) maps.at(-1)?.push(entryOf(line));
    else {
      frame += line;
      maps.push([]);
    }
  }
  const { items, failures, ...times } = asGroup(group, decode(frame));
  const [readItems = [], readFailures = []] = maps;
  return {
    ...times,
    items: new Map([...items, ...itemsOf(group, readItems)]),
    failures: new Map([...failures, ...failuresOf(group, readFailures)]),
  };
}

const ITEM = '[';

function entryOf(line: string): [string, unknown] {
  return decode(line.endsWith(',') ? line.slice(0, -1) : line) as [string, unknown];
}

/**
 * Check the frame of a decoded group.
 * @throws CodecError naming the fault
 */
export function asGroup<G extends FactGroup>(group: G, value: unknown): GroupState<FactGroups[G]> {
  if (!isRecord(value) || value.group !== group) throw incomplete(group);
  if (value.v !== CODEC_VERSION) {
    throw new CodecVersionError(`The persisted "${group}" facts are`, typeof value.v === 'number' ? value.v : null);
  }
  const { items, failures, lastAttemptMs, lastSuccessMs } = value;
  if (!(items instanceof Map && failures instanceof Map && isTime(lastAttemptMs) && isTime(lastSuccessMs))) {
    throw incomplete(group);
  }
  return {
    items: new Map(itemsOf(group, items)),
    failures: new Map(failuresOf(group, failures)),
    lastAttemptMs,
    lastSuccessMs,
  };
}

type Entries = Iterable<readonly [unknown, unknown]>;

function* itemsOf<G extends FactGroup>(group: G, entries: Entries): Generator<[string, Fact<FactGroups[G]>]> {
  for (const [key, decoded] of entries) {
    const fact = readFact(group, decoded);
    if (typeof key !== 'string' || fact === undefined) throw incomplete(group);
    yield [key, fact];
  }
}

function* failuresOf(group: FactGroup, entries: Entries): Generator<[string, Failure]> {
  for (const [key, decoded] of entries) {
    const failure = readFailure(decoded);
    if (typeof key !== 'string' || failure === undefined) throw incomplete(group);
    yield [key, failure];
  }
}

function incomplete(group: FactGroup): CodecError {
  return new CodecError(`The persisted "${group}" facts are incomplete.`);
}

function untag(json: Json): unknown {
  if (json === null || typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map(untag);
  const entries = Object.entries(json);
  const [first] = entries;
  if (first === undefined || !first[0].startsWith('$')) {
    return Object.fromEntries(entries.map(([key, item]) => [key, untag(item)]));
  }
  const [name, content] = first;
  if (name === '$bigint' && typeof content === 'string' && /^-?\d{1,100}$/.test(content)) return BigInt(content);
  if (name === '$decimal' && typeof content === 'string') return decimalOf(content);
  if (name === '$map' && Array.isArray(content) && content.every(isPair)) return new Map(content.map(entryFrom));
  throw new CodecError(`The persisted facts contain an invalid tag "${name}".`);
}

function isPair(json: Json): json is readonly [Json, Json] {
  return Array.isArray(json) && json.length === 2;
}

function entryFrom([key, item]: readonly [Json, Json]): [unknown, unknown] {
  return [untag(key), untag(item)];
}

/** Characters. Exact quotients have some hundred digits; a longer text would cost the start seconds. */
const MAX_DECIMAL_CHARS = 10_000;

function decimalOf(text: string): Decimal {
  if (text.length > MAX_DECIMAL_CHARS || !/^-?\d+(\.\d+)?$/.test(text))
    throw new CodecError('The persisted facts contain a decimal that is not a number.');
  return compacted(new Decimal(text));
}

function isTime(value: unknown): value is number | null {
  return value === null || typeof value === 'number';
}
