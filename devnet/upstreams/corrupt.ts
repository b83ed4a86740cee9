import type { AppliedFault } from './faults.ts';
import { shiftTimes } from './times.ts';
import type { BodyShape } from './types.ts';

type Json = unknown;
type JsonObject = Record<string, Json>;

/** Implausible as a yield, a price and an amount. */
const ABSURD = [-1e9, 1e30];

/** Falsify a good body by a fault. Faults of the connection do not change it. */
export function corrupt(body: Json, fault: AppliedFault, shape: BodyShape): Json {
  switch (fault.kind) {
    case 'empty':
      return emptied(body, shape);
    case 'partial':
      if (isSingle(body, shape)) return without(body, shape.values);
      return eachList(body, shape, (items) => thinned(items, shape.values));
    case 'duplicate':
      if (shape.single === true) return body; // its lists are parts of the item
      return eachList(body, shape, (items) => items.flatMap((item) => [item, item]));
    case 'missingField':
      return without(body, fault.field === undefined ? shape.values : [fault.field]);
    case 'absurd': {
      let turn = 0;
      return falsified(body, shape.values, (value) => {
        const absurd = ABSURD[turn++ % ABSURD.length] ?? 1e30;
        return typeof value === 'string' ? BigInt(absurd).toString() : absurd;
      });
    }
    case 'scaled':
      return falsified(body, shape.values, (value) => scaled(value, fault.factor));
    case 'future':
    case 'frozen':
      return shiftTimes(body, fault.kind, shape.times ?? []);
    case 'fields':
      return withFields(body, fault.set);
    case 'nan':
      return falsified(body, shape.values, () => 'NaN');
    default:
      return body;
  }
}

function scaled(value: Json, factor: number): Json {
  const reported = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof reported !== 'number' || !Number.isFinite(reported)) return value;
  if (typeof value === 'number') return reported * factor;
  return /^\d+$/.test(String(value)) ? BigInt(Math.round(reported * factor)).toString() : String(reported * factor);
}

function withFields(body: Json, set: Readonly<Record<string, unknown>>): Json {
  if (Array.isArray(body)) return body.map((item) => withFields(item, set));
  if (!isObject(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, key in set ? set[key] : withFields(value, set)]),
  );
}

function emptied(body: Json, shape: BodyShape): Json {
  if (isSingle(body, shape)) return {};
  if (shape.record !== undefined && recordAt(body, shape.record) !== undefined) {
    return atRecord(body, shape.record, () => ({}));
  }
  return mapLists(body, () => []);
}

/** One item, not a list or record of them. */
function isSingle(body: Json, shape: BodyShape): boolean {
  if (shape.single === true) return true;
  if (shape.record !== undefined && recordAt(body, shape.record) !== undefined) return false;
  let lists = 0;
  mapLists(body, (items) => {
    lists++;
    return items;
  });
  return lists === 0;
}

/** Change every outermost list, and the record of items if there is one. */
function eachList(body: Json, shape: BodyShape, change: (items: readonly Json[]) => readonly Json[]): Json {
  const listed = mapLists(body, change);
  if (shape.record === undefined) return listed;
  return atRecord(listed, shape.record, (record) => {
    const remaining = change(Object.entries(record)) as [string, Json][];
    return Object.fromEntries(remaining.map(([key, value]) => [key, value ?? {}]));
  });
}

function thinned(items: readonly Json[], values: readonly string[]): Json[] {
  return items.filter((_, i) => i % 3 !== 1).map((item, i) => (i % 2 === 1 ? without(item, values) : item));
}

function without(body: Json, fields: readonly string[]): Json {
  if (isTuple(body)) return body.slice(0, 1);
  if (Array.isArray(body)) return body.map((item) => without(item, fields));
  if (!isObject(body)) return body;
  return Object.fromEntries(
    Object.entries(body).flatMap(([key, value]): [string, Json][] =>
      // An envelope may have a value's name: it is removed only without relevant fields inside.
      fields.includes(key) && !holds(value, fields) ? [] : [[key, without(value, fields)]],
    ),
  );
}

function falsified(body: Json, fields: readonly string[], falsify: (value: Json) => Json): Json {
  if (Array.isArray(body)) return body.map((item) => falsified(item, fields, falsify));
  if (!isObject(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => {
      if (!fields.includes(key)) return [key, falsified(value, fields, falsify)];
      if (Array.isArray(value)) {
        const tuples = value.map((item) =>
          isTuple(item) ? [item[0], ...item.slice(1).map(falsify)] : falsified(item, fields, falsify),
        );
        return [key, tuples];
      }
      return [key, isObject(value) ? falsified(value, fields, falsify) : falsify(value)];
    }),
  );
}

function mapLists(body: Json, change: (items: readonly Json[]) => readonly Json[]): Json {
  if (Array.isArray(body)) return change(body);
  if (!isObject(body)) return body;
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, mapLists(value, change)]));
}

function recordAt(body: Json, path: readonly string[]): JsonObject | undefined {
  const found = path.reduce<Json>((at, key) => (isObject(at) ? at[key] : undefined), body);
  // A record of items, not a body that happens to be an object of lists.
  return isObject(found) && Object.values(found).every(isObject) ? found : undefined;
}

function atRecord(body: Json, path: readonly string[], change: (record: JsonObject) => JsonObject): Json {
  const record = recordAt(body, path);
  if (record === undefined) return body;
  const [key, ...rest] = path;
  if (key === undefined) return change(record);
  return { ...(body as JsonObject), [key]: atRecord((body as JsonObject)[key], rest, change) };
}

function holds(body: Json, fields: readonly string[]): boolean {
  if (Array.isArray(body)) return body.some((item) => isObject(item) && holds(item, fields));
  return isObject(body) && Object.entries(body).some(([key, value]) => fields.includes(key) || holds(value, fields));
}

/** A row such as `[time, value]`. */
function isTuple(value: Json): value is Json[] {
  return Array.isArray(value) && value.length > 1 && value.every((part) => typeof part === 'number');
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
