import { BadRequestError } from '../../shared/errors.ts';
import { formatValue } from '../../shared/ids.ts';

/** A whole chain's catalog fits several times; more than that is asked page by page. */
export const MAX_PAGE_SIZE = 500;
export const DEFAULT_PAGE_SIZE = 50;
/** Most objects that are found by their global ids in one field. */
export const MAX_NODES = 100;

export interface PageArgs {
  readonly first: number;
  readonly after?: string | null | undefined;
}

export interface Page<T> {
  readonly edges: { cursor: string; node: T }[];
  readonly pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
  readonly totalCount: number;
}

/** Tell how many entries a page may hold: the multiplier of its cost. Never throws: bounds are checked on execution. */
export function askedPageSize({ first }: { readonly first: number }): number {
  return Math.min(MAX_PAGE_SIZE, Math.max(1, first));
}

/** Check a page size. @throws BadRequestError */
export function pageSize(first: number, max: number): number {
  if (Number.isInteger(first) && first >= 1 && first <= max) return first;
  throw new BadRequestError(
    `first is ${first}. Send 1 to ${max} and ask for the next page with "after: <endCursor>".`,
    { field: 'first', value: formatValue(first), limit: { min: 1, max } },
  );
}

/** Make a page from what was cut out of the whole list. */
export function toPage<T>(
  edges: { cursor: string; node: T }[],
  whole: { readonly totalCount: number; readonly hasNextPage: boolean; readonly hasPreviousPage: boolean },
): Page<T> {
  return {
    edges,
    pageInfo: {
      hasNextPage: whole.hasNextPage,
      hasPreviousPage: whole.hasPreviousPage,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: whole.totalCount,
  };
}

/**
 * Cut one page out of a list whose entries never change their places among each other. The cursor is an entry's rank, not
 * its index in this list: an entry that appears or disappears moves no other.
 * @throws BadRequestError for a broken bound or something that is no cursor.
 */
export function pageByRank<T>(
  entries: readonly T[],
  rankOf: (entry: T) => number,
  args: PageArgs,
  max: number,
): Page<T> {
  const size = pageSize(args.first, max);
  const after = args.after == null ? -1 : decodeRank(args.after);
  const rest = entries.filter((entry) => rankOf(entry) > after);
  const edges = rest.slice(0, size).map((node) => ({ cursor: encodeRank(rankOf(node)), node }));
  return toPage(edges, {
    totalCount: entries.length,
    hasNextPage: rest.length > size,
    hasPreviousPage: rest.length < entries.length,
  });
}

function encodeRank(rank: number): string {
  return btoa(`rank:${rank}`);
}

function decodeRank(cursor: string): number {
  const match = cursor.length > 64 ? null : /^rank:(\d{1,9})$/.exec(Buffer.from(cursor, 'base64').toString());
  if (match?.[1] !== undefined) return Number(match[1]);
  throw new BadRequestError(
    `"${formatValue(cursor)}" is not a cursor of this list. Send an endCursor of it, or none.`,
    {
      field: 'after',
      value: formatValue(cursor),
    },
  );
}
