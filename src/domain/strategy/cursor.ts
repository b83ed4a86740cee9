import { BadRequestError } from '../../shared/errors.ts';
import { formatValue, STRATEGY_ID_PATTERN } from '../../shared/ids.ts';
import type { PageCursor, SortDirection, StrategyOrder } from './keys.ts';

/**
 * Encode the sort position of a strategy instead of an offset: when strategies come, go or move between two pages, the others
 * are neither repeated nor skipped.
 */
export function encodeCursor(order: StrategyOrder, direction: SortDirection, position: PageCursor): string {
  const { key, chainId, id } = position;
  const row = [order, direction, key ?? null, chainId, id];
  return btoa(encodeURIComponent(JSON.stringify(row)));
}

/**
 * Decode a cursor.
 * @throws BadRequestError for a cursor that was not issued for the same order and direction.
 */
export function decodeCursor(
  cursor: string,
  order: StrategyOrder,
  direction: SortDirection,
  field: 'after' | 'before',
): PageCursor {
  const row = parse(cursor);
  if (Array.isArray(row) && row.length === 5 && row[0] === order && row[1] === direction) {
    const [, , key, chainId, id]: unknown[] = row;
    const isKey = key === null || (order === 'name' ? typeof key === 'string' : typeof key === 'number');
    if (isKey && typeof chainId === 'number' && typeof id === 'string' && STRATEGY_ID_PATTERN.test(id)) {
      return { key: key === null ? undefined : (key as number | string), chainId, id };
    }
  }
  throw new BadRequestError(
    `"${formatValue(cursor)}" is not a cursor of this list. Send a cursor of the same orderBy, or none to start over.`,
    { field, value: formatValue(cursor) },
  );
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(decodeURIComponent(atob(cursor)));
  } catch {
    return undefined;
  }
}
