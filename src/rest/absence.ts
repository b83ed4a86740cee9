import { z } from 'zod';

/** Whether a field, named by its dotted path without list indexes, was measured as "none" or does not apply. */
type IsNone = (path: string) => boolean;
type Drop = (value: unknown, isNone: IsNone) => unknown;

/**
 * Create the function that drops or keeps the nulls of a response. GraphQL has one null; the contract has two kinds of empty
 * values. A field that the response schema makes
 * - optional only: null means "not measured" and the field is dropped;
 * - nullable only: null is kept;
 * - both: null is kept when `isNone` returns that it was measured as "none" (or does not apply), otherwise dropped.
 * The schema is walked here, once: reading it for every answer took longer than the answer.
 */
export function absenceOf(schema: z.ZodType, path = ''): Drop {
  const type = unwrap(schema).inner;
  if (type instanceof z.ZodArray) {
    const item = absenceOf(type.element as z.ZodType, path);
    return (value, isNone) => (Array.isArray(value) ? value.map((entry) => item(entry, isNone)) : value);
  }
  if (type instanceof z.ZodUnion) {
    const options = (type.options as z.ZodType[]).map((option) => ({ option, drop: absenceOf(option, path) }));
    return (value, isNone) => {
      if (value === null || value === undefined) return value;
      const found = options.find(({ option }) => option.safeParse(value).success);
      return found === undefined ? value : found.drop(value, isNone);
    };
  }
  return type instanceof z.ZodObject ? absenceOfObject(type, path) : (value) => value;
}

function absenceOfObject(type: z.ZodObject, path: string): Drop {
  const fields = Object.entries(type.shape as Record<string, z.ZodType>).map(([name, schema]) => {
    const here = path === '' ? name : `${path}.${name}`;
    const { optional, nullable } = unwrap(schema);
    return { name, path: here, optional, nullable, drop: absenceOf(schema, here) };
  });
  return (value, isNone) => {
    if (typeof value !== 'object' || value === null) return value;
    const source = value as Readonly<Record<string, unknown>>;
    const projected: Record<string, unknown> = {};
    for (const field of fields) {
      const given = source[field.name] ?? null;
      if (given !== null) projected[field.name] = field.drop(given, isNone);
      else if (field.nullable) {
        if (!field.optional || isNone(field.path)) projected[field.name] = null;
      } else if (!field.optional) throw new Error(`The answer lacks the required field ${field.path}.`);
    }
    return projected;
  };
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
