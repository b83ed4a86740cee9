/** Narrow a parsed value to an object that is not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as JSON carries it: what is sent, and no longer shared with the caller, who may change it. */
export function jsonCopyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/** A copy of a value of plain objects and lists, with every field of its own. */
export function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copyOf(part)])) as T;
}
