import type { JsonSchema } from '../rest/openapi/json-schema.ts';
import type { RowTool, ToolList } from '../rest/types.ts';
import { BadRequestError } from '../shared/errors.ts';
import { formatValue } from '../shared/ids.ts';

/** The part of a list that an answer has. */
export interface ToolPage {
  readonly limit: number;
  readonly offset: number;
}

type Body = Readonly<Record<string, unknown>>;

const MAX_LIMIT = 100;
const MAX_OFFSET = 1_000_000;
const DETAILS = ['brief', 'full'] as const;

/** The arguments of a tool for the size of its answer, as JSON schemas. */
export function sizeArguments({ list, brief }: RowTool): Record<string, JsonSchema> {
  return {
    ...(list && {
      limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: list.limit, description: 'Number of items.' },
      offset: {
        type: 'integer',
        minimum: 0,
        maximum: MAX_OFFSET,
        default: 0,
        description: `Number of ${list.newestFirst ? 'newest' : 'first'} items to skip.`,
      },
    }),
    ...(brief && {
      detail: { type: 'string', enum: [...DETAILS], default: 'brief', description: 'full: all fields.' },
    }),
  };
}

/** The size that a call asks for, and its other arguments. */
export interface AskedSize {
  /** Absent for a tool without a list. */
  readonly page?: ToolPage | undefined;
  readonly isBrief: boolean;
  readonly rest: Body;
}

/**
 * Take the arguments for the size out of the others.
 * @throws BadRequestError
 */
export function readSize({ list, brief }: RowTool, given: Body): AskedSize {
  const { limit, offset, ...others } = given;
  const page = list && {
    limit: wholeNumber('limit', limit ?? list.limit, 1, MAX_LIMIT),
    offset: wholeNumber('offset', offset ?? 0, 0, MAX_OFFSET),
  };
  const sized = page === undefined ? given : others;
  if (brief === undefined) return { page, isBrief: false, rest: sized };
  const { detail, ...rest } = sized;
  return { page, isBrief: choice('detail', detail ?? 'brief', DETAILS) === 'brief', rest };
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
export function pageOf(body: Body, { fields, newestFirst = false }: ToolList, page: ToolPage): Body {
  const { limit, offset } = page;
  const lists = fields.map((field) => [field, itemsOf(body[field])] as const);
  const total = Math.max(...lists.map(([, items]) => items.length));
  const cut = lists.map(([field, items]) => {
    const start = newestFirst ? Math.max(0, items.length - offset - limit) : offset;
    const end = newestFirst ? Math.max(0, items.length - offset) : offset + limit;
    return [field, items.slice(start, end)];
  });
  const nextOffset = offset + limit < total ? offset + limit : null;
  return { ...body, ...Object.fromEntries(cut), page: { offset, limit, total, nextOffset } };
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const PAGE_SCHEMA: JsonSchema = {
  type: 'object',
  properties: { total: { type: 'integer' }, nextOffset: { type: ['integer', 'null'] } },
};

/** The schema of a row's body for pages: without the bounds of the whole lists. */
export function pagedOutput(schema: JsonSchema, { fields }: ToolList): JsonSchema {
  const { properties, required = [], ...rest } = schema as Parts;
  const lists = fields.map((field) => {
    const { minItems: _min, maxItems: _max, ...list } = properties[field] ?? {};
    return [field, list] as const;
  });
  return {
    ...rest,
    properties: { ...properties, ...Object.fromEntries(lists), page: PAGE_SCHEMA },
    required: [...required, 'page'],
  };
}

type Parts = JsonSchema & {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
};
