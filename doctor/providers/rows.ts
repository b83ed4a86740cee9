import { readTimeMs } from '../../src/upstreams/readings.ts';

/** Maximum depth and number of rows to inspect, because answers may be of any size. */
const [MAX_DEPTH, MAX_ROWS] = [8, 20_000];

/** The outermost arrays of an answer, whose elements are its rows. */
function listsIn(body: unknown, depth = 0): readonly (readonly unknown[])[] {
  if (Array.isArray(body)) return [body.slice(0, MAX_ROWS)];
  if (typeof body !== 'object' || body === null || depth >= MAX_DEPTH) return [];
  return Object.values(body).flatMap((value) => listsIn(value, depth + 1));
}

/** Count the repeated rows of an answer. */
export function repeatedRows(body: unknown): number {
  let repeated = 0;
  for (const rows of listsIn(body)) {
    const ids = new Set<string>();
    for (const row of rows) {
      if (typeof row !== 'object' || row === null) continue;
      const text = textOf(row);
      if (text === undefined) continue;
      if (ids.has(text)) repeated += 1;
      ids.add(text);
    }
  }
  return repeated;
}

/** A row that is nested too deep to serialize counts as unique. */
function textOf(row: object): string | undefined {
  try {
    return JSON.stringify(row);
  } catch {
    return undefined;
  }
}

/** Observation times of an answer's rows, ms: the named fields of objects, and the first number of numeric rows. */
export function timesIn(body: unknown, fields: readonly string[], depth = 0): readonly number[] {
  if (Array.isArray(body)) {
    if (body.length > 1 && body.every((part) => typeof part === 'number')) return msOf(body[0]);
    return body.slice(0, MAX_ROWS).flatMap((item) => timesIn(item, fields, depth + 1));
  }
  if (typeof body !== 'object' || body === null || depth >= MAX_DEPTH) return [];
  return Object.entries(body).flatMap(([key, value]) =>
    fields.includes(key) && typeof value !== 'object' ? msOf(value) : timesIn(value, fields, depth + 1),
  );
}

function msOf(value: unknown): readonly number[] {
  const read = readTimeMs(value, 'any');
  return read.ok ? [read.value] : [];
}
