import { z } from 'zod';

/**
 * Drop or keep nulls. GraphQL has one null; the contract has two kinds of empty values. A field that the response schema makes
 * - optional only: null means "not measured" and the field is dropped;
 * - nullable only: null is kept;
 * - both: null is kept when `isNone` returns that it was measured as "none" (or does not apply), otherwise dropped. Walks data
 * and schema together; paths are dotted, without list indexes.
 */
export function dropAbsent(schema: z.ZodType, value: unknown, isNone: (path: string) => boolean, path = ''): unknown {
  const type = unwrap(schema).inner;
  if (value === null || value === undefined) return value;
  if (type instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => dropAbsent(type.element as z.ZodType, item, isNone, path));
  }
  if (type instanceof z.ZodUnion) {
    const option = (type.options as z.ZodType[]).find((candidate) => candidate.safeParse(value).success);
    return option === undefined ? value : dropAbsent(option, value, isNone, path);
  }
  if (!(type instanceof z.ZodObject) || typeof value !== 'object') return value;
  const source = value as Readonly<Record<string, unknown>>;
  const entries: [string, unknown][] = [];
  for (const [name, field] of Object.entries(type.shape as Record<string, z.ZodType>)) {
    const here = path === '' ? name : `${path}.${name}`;
    const { optional, nullable } = unwrap(field);
    const given = source[name] ?? null;
    if (given === null) {
      if (nullable && (!optional || isNone(here))) entries.push([name, null]);
      else if (!optional) throw new Error(`The answer lacks the required field ${here}.`);
      continue;
    }
    entries.push([name, dropAbsent(field, given, isNone, here)]);
  }
  return Object.fromEntries(entries);
}

function unwrap(schema: z.ZodType): { inner: z.ZodType; optional: boolean; nullable: boolean } {
  let inner = schema;
  let optional = false;
  let nullable = false;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) {
    if (inner instanceof z.ZodOptional) optional = true;
    else nullable = true;
    inner = inner.unwrap() as z.ZodType;
  }
  return { inner, optional, nullable };
}
