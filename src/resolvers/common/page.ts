import { BadRequestError } from '../../shared/errors.ts';
import { formatValue } from '../../shared/ids.ts';
import { cutPage, cutRange, DEFAULT_PAGE_SIZE, type PageArgs, pageWindow } from '../../shared/page-window.ts';

export { DEFAULT_PAGE_SIZE, type PageArgs } from '../../shared/page-window.ts';

/** A whole chain's catalog fits several times; larger lists are read by page. */
export const MAX_PAGE_SIZE = 500;
/** Maximum number of objects that one field reads by global ids. */
export const MAX_NODES = 100;

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

/** The largest number of entries of a page: the multiplier of its cost. Never throws: bounds are checked on execution. */
export function requestedPageSize({ first, last }: PageArgs): number {
  return Math.min(MAX_PAGE_SIZE, Math.max(1, first ?? last ?? DEFAULT_PAGE_SIZE));
}

/** Make a page from a section of the whole list. */
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
 * @param list name of the list in its cursors, because a rank in another list looks alike
 * @throws BadRequestError for a broken bound or something that is no cursor.
 */
export function pageByRank<T>(
  entries: readonly T[],
  rankOf: (entry: T) => number,
  args: PageArgs,
  max: number,
  list: string,
): Page<T> {
  const window = pageWindow(args, max);
  const after = args.after == null ? -1 : decodeRank(args.after, list, 'after');
  const before = args.before == null ? Number.POSITIVE_INFINITY : decodeRank(args.before, list, 'before');
  const cut = cutPage(
    entries,
    window,
    (entry) => rankOf(entry) > after,
    (entry) => rankOf(entry) < before,
  );
  const edges = cut.items.map((node) => ({ cursor: encodeRank(rankOf(node), list), node }));
  return toPage(edges, { ...cut, totalCount: entries.length });
}

/**
 * Cut one page out of a list of which every entry has a key of its own. The cursor is that key.
 * @throws BadRequestError for a broken bound or something that is no cursor of this list
 */
export function pageByKey<T>(entries: readonly T[], keyOf: (entry: T) => string, args: PageArgs, max: number): Page<T> {
  const window = pageWindow(args, max);
  const after = args.after == null ? -1 : indexOfKey(entries, keyOf, args.after, 'after');
  const before = args.before == null ? entries.length : indexOfKey(entries, keyOf, args.before, 'before');
  const { items, ...cut } = cutRange(entries, window, after + 1, before);
  const edges = items.map((node) => ({ cursor: btoa(keyOf(node)), node }));
  return toPage(edges, { ...cut, totalCount: entries.length });
}

function indexOfKey<T>(
  entries: readonly T[],
  keyOf: (entry: T) => string,
  cursor: string,
  field: 'after' | 'before',
): number {
  const key = Buffer.from(cursor.slice(0, MAX_CURSOR), 'base64').toString();
  const index = entries.findIndex((entry) => keyOf(entry) === key);
  if (index !== -1) return index;
  throw notACursor(cursor, field);
}

/** Maximum length of a cursor; the service's own are shorter. */
const MAX_CURSOR = 256;

function notACursor(cursor: string, field: 'after' | 'before'): BadRequestError {
  return new BadRequestError(
    `"${formatValue(cursor)}" is not a cursor of this list. Send a cursor of an entry of it, or none.`,
    { field, value: formatValue(cursor) },
  );
}

function encodeRank(rank: number, list: string): string {
  return btoa(`${list}:${rank}`);
}

function decodeRank(cursor: string, list: string, field: 'after' | 'before'): number {
  const match = cursor.length > 64 ? null : /^(\w+):(\d{1,9})$/.exec(Buffer.from(cursor, 'base64').toString());
  if (match?.[1] === list) return Number(match[2]);
  throw notACursor(cursor, field);
}
