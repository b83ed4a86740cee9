import type { JsonSchema } from '../rest/openapi/json-schema.ts';
import type { ToolList } from '../rest/types.ts';
import { BadRequestError } from '../shared/errors.ts';
import { formatValue } from '../shared/ids.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';

/** The part of a list that an answer has. */
export interface ToolPage {
  readonly limit: number;
  readonly offset: number;
  readonly isFull: boolean;
}

type Body = Readonly<Record<string, unknown>>;

const MAX_LIMIT = 100;
const MAX_OFFSET = 1_000_000;
const DETAILS = ['brief', 'full'] as const;

/** The arguments of a tool that returns pages, as JSON schemas. */
export function pageArguments({ limit, brief, newestFirst }: ToolList): Record<string, JsonSchema> {
  const from = newestFirst ? 'newest' : 'first';
  return withoutUndefined({
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_LIMIT,
      default: limit,
      description: `Number of items, 1 to ${MAX_LIMIT}. Default ${limit}.`,
    },
    offset: {
      type: 'integer',
      minimum: 0,
      maximum: MAX_OFFSET,
      default: 0,
      description: `Number of items to skip, counted from the ${from} one. Default 0.`,
    },
    detail: brief && detailArgument(brief),
  });
}

function detailArgument(brief: readonly string[]): JsonSchema {
  return {
    type: 'string',
    enum: [...DETAILS],
    default: 'brief',
    description: `brief: ${brief.join(', ')}; full: all fields. Default brief.`,
  };
}

/**
 * Take the arguments for pages out of the others.
 * @throws BadRequestError
 */
export function readPage(list: ToolList, given: Body): { readonly page: ToolPage; readonly rest: Body } {
  const { limit, offset, detail, ...rest } = given;
  const page = {
    limit: wholeNumber('limit', limit ?? list.limit, 1, MAX_LIMIT),
    offset: wholeNumber('offset', offset ?? 0, 0, MAX_OFFSET),
    isFull: list.brief === undefined || choice('detail', detail ?? 'brief', DETAILS) === 'full',
  };
  return { page, rest: list.brief === undefined && detail !== undefined ? { ...rest, detail } : rest };
}

function wholeNumber(field: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw new BadRequestError(`${field}: expected a whole number from ${min} to ${max} (got "${formatValue(value)}").`, {
    field,
    value: formatValue(value),
    limit: { min, max },
  });
}

function choice<T extends string>(field: string, value: unknown, all: readonly T[]): T {
  const found = all.find((one) => one === value);
  if (found !== undefined) return found;
  throw new BadRequestError(`${field}: expected one of ${all.join(', ')} (got "${formatValue(value)}").`, {
    field,
    value: formatValue(value),
    limit: { oneOf: all },
  });
}

/** Cut the lists of a body to a page, and say where the page is. */
export function pageOf(body: Body, { fields, newestFirst = false, brief }: ToolList, page: ToolPage): Body {
  const { limit, offset, isFull } = page;
  const lists = fields.map((field) => [field, itemsOf(body[field])] as const);
  const total = Math.max(...lists.map(([, items]) => items.length));
  const cut = lists.map(([field, items]) => {
    const start = newestFirst ? Math.max(0, items.length - offset - limit) : offset;
    const end = newestFirst ? Math.max(0, items.length - offset) : offset + limit;
    const own = items.slice(start, end);
    return [field, isFull || brief === undefined ? own : own.map((item) => briefly(item, brief))];
  });
  const nextOffset = offset + limit < total ? offset + limit : null;
  return { ...body, ...Object.fromEntries(cut), page: { offset, limit, total, nextOffset } };
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function briefly(item: unknown, names: readonly string[]): unknown {
  if (typeof item !== 'object' || item === null) return item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));
}

const PAGE_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'The part of the list that this answer has.',
  properties: {
    offset: { type: 'integer', description: 'Items skipped.' },
    limit: { type: 'integer', description: 'Maximum number of items.' },
    total: { type: 'integer', description: 'Items of the whole list.' },
    nextOffset: { type: ['integer', 'null'], description: 'Offset of the next page; null = this is the last one.' },
  },
  required: ['offset', 'limit', 'total', 'nextOffset'],
};

/** The schema of a row's body for pages: without the bounds of the whole lists, and with the fields of brief items only required. */
export function pagedOutput(schema: JsonSchema, { fields, brief }: ToolList): JsonSchema {
  const { $defs = {}, properties, required = [], ...rest } = schema as Parts;
  const lists = fields.map((field) => {
    const { minItems: _min, maxItems: _max, items, ...list } = properties[field] ?? {};
    return [field, { ...list, items: brief === undefined ? items : briefItems(items, $defs, brief) }] as const;
  });
  const all = { ...properties, ...Object.fromEntries(lists), page: PAGE_SCHEMA };
  const used = usedParts(all, $defs);
  return {
    ...rest,
    properties: all,
    required: [...required, 'page'],
    $defs: used,
  };
}

type Parts = JsonSchema & {
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
};

const REFERENCE = '#/$defs/';

/** Brief items have some of the fields, so only those of them can be required. */
function briefItems(items: unknown, $defs: Readonly<Record<string, JsonSchema>>, brief: readonly string[]): JsonSchema {
  const { $ref } = items as { readonly $ref?: string };
  const whole = $ref === undefined ? (items as JsonSchema) : ($defs[$ref.slice(REFERENCE.length)] ?? {});
  const { required = [], ...rest } = whole as { readonly required?: readonly string[] };
  return { ...rest, required: required.filter((name) => brief.includes(name)) };
}

/** The named parts that a schema refers to, directly or by others. */
function usedParts(
  schema: unknown,
  $defs: Readonly<Record<string, JsonSchema>>,
  found: Record<string, JsonSchema> = {},
): Record<string, JsonSchema> {
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
    const part = $defs[name];
    if (part === undefined || Object.hasOwn(found, name)) continue;
    found[name] = part;
    usedParts(part, $defs, found);
  }
  return found;
}
