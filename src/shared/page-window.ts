import { BadRequestError } from './errors.ts';
import { formatValue } from './ids.ts';

/** A requested page: the first or the last entries between two cursors. */
export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

export const DEFAULT_PAGE_SIZE = 50;

/** How many entries a page may have, and from which end they are taken. */
export interface PageWindow {
  readonly size: number;
  readonly fromEnd: boolean;
}

/**
 * Read the number of requested entries: the first 50 when neither `first` nor `last` is given.
 * @throws BadRequestError for both, or a number outside of 1 to `max`
 */
export function pageWindow({ first, last }: PageArgs, max: number): PageWindow {
  if (first != null && last != null) {
    throw new BadRequestError(
      'first and last are both given. Send one of them: "first" pages forward, "last" backward.',
      {
        field: 'last',
        value: formatValue(last),
      },
    );
  }
  const fromEnd = last != null;
  const size = last ?? first ?? DEFAULT_PAGE_SIZE;
  if (Number.isInteger(size) && size >= 1 && size <= max) return { size, fromEnd };
  const [name, next] = fromEnd ? ['last', 'before: <startCursor>'] : ['first', 'after: <endCursor>'];
  throw new BadRequestError(`${name} is ${size}. Send 1 to ${max} and ask for the next page with "${next}".`, {
    field: name,
    value: formatValue(size),
    limit: { min: 1, max },
  });
}

export interface Cut<T> {
  readonly items: readonly T[];
  /** Whether entries precede or follow these in the whole list. */
  readonly hasPreviousPage: boolean;
  readonly hasNextPage: boolean;
}

/**
 * Cut a page out of an ordered list.
 * @param isAfter whether an entry follows the cursor `after`; absent: there is none
 * @param isBefore whether an entry precedes the cursor `before`; absent: there is none
 */
export function cutPage<T>(
  ordered: readonly T[],
  window: PageWindow,
  isAfter?: (entry: T) => boolean,
  isBefore?: (entry: T) => boolean,
): Cut<T> {
  const firstAfter = isAfter === undefined ? 0 : ordered.findIndex(isAfter);
  const begin = firstAfter === -1 ? ordered.length : firstAfter;
  return cutRange(
    ordered,
    window,
    begin,
    isBefore === undefined ? ordered.length : ordered.findLastIndex(isBefore) + 1,
  );
}

/** Cut a page out of the entries between two places of an ordered list, `begin` included and `end` excluded. */
export function cutRange<T>(ordered: readonly T[], { size, fromEnd }: PageWindow, begin: number, end: number): Cut<T> {
  const stop = Math.max(begin, end);
  const [from, to] = fromEnd ? [Math.max(begin, stop - size), stop] : [begin, Math.min(stop, begin + size)];
  return { items: ordered.slice(from, to), hasPreviousPage: from > 0, hasNextPage: to < ordered.length };
}
