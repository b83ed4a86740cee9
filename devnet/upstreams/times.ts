import { DAY_MS, YEAR_MS } from './series.ts';

type Json = unknown;
type JsonObject = Record<string, Json>;

const AHEAD_MS = 2 * YEAR_MS;
const FROZEN_MS = 40 * DAY_MS;
/** As milliseconds this is March 1973, as seconds the year 5138. */
const SECONDS_BELOW = 100_000_000_000;

/** Falsify times: one more row in the future, or the last 40 days missing. */
export function shiftTimes(body: Json, how: 'future' | 'frozen', fields: readonly string[]): Json {
  if (Array.isArray(body)) {
    const times = body.map((row) => timeOf(row, fields));
    if (body.length > 0 && times.every((atMs) => atMs !== undefined)) return changeRows(body, times, how, fields);
    return body.map((item) => shiftTimes(item, how, fields));
  }
  if (!isObject(body)) return body;
  const byMs = how === 'future' ? AHEAD_MS : -FROZEN_MS;
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      key,
      fields.includes(key) && msOf(value) !== undefined ? moved(value, byMs) : shiftTimes(value, how, fields),
    ]),
  );
}

function changeRows(
  rows: readonly Json[],
  times: readonly number[],
  how: 'future' | 'frozen',
  fields: readonly string[],
): readonly Json[] {
  const newestMs = Math.max(...times);
  if (how === 'frozen') return rows.filter((_, i) => (times[i] ?? 0) <= newestMs - FROZEN_MS);
  const row = rows[times.indexOf(newestMs)];
  const ahead = Array.isArray(row)
    ? [moved(row[0], AHEAD_MS), ...row.slice(1)]
    : Object.fromEntries(
        Object.entries(row as JsonObject).map(([key, value]) => [
          key,
          fields.includes(key) ? moved(value, AHEAD_MS) : value,
        ]),
      );
  return [...rows, ahead];
}

/** Time of a row, ms. */
function timeOf(row: Json, fields: readonly string[]): number | undefined {
  if (Array.isArray(row))
    return row.length > 1 && row.every((part) => typeof part === 'number') ? msOf(row[0]) : undefined;
  if (!isObject(row)) return undefined;
  const field = fields.find((name) => name in row);
  return field === undefined ? undefined : msOf(row[field]);
}

function msOf(value: Json): number | undefined {
  if (typeof value === 'number') return value < SECONDS_BELOW ? value * 1_000 : value;
  const atMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}

function moved(value: Json, byMs: number): Json {
  if (typeof value === 'number') return value + (value < SECONDS_BELOW ? byMs / 1_000 : byMs);
  return new Date(Date.parse(String(value)) + byMs).toISOString();
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
