import { BadRequestError } from '../../shared/errors.ts';
import { formatValue, STRATEGY_ID_PATTERN } from '../../shared/ids.ts';
import type { PageCursor, SortDirection, StrategyOrder } from './keys.ts';

/**
 * Encode where a strategy stands, not how many stand before it: a page read on after strategies have come, gone or moved
 * neither repeats nor skips the others.
 */
export function encodeCursor(order: StrategyOrder, direction: SortDirection, position: PageCursor): string {
  const { key, chainId, id } = position;
  const row = [order, direction, key ?? null, chainId, id];
  return btoa(encodeURIComponent(JSON.stringify(row)));
}

/** Read a cursor back. @throws BadRequestError for anything that was not given out for the same order and direction. */
export function decodeCursor(cursor: string, order: StrategyOrder, direction: SortDirection): PageCursor {
  const row = parse(cursor);
  if (Array.isArray(row) && row.length === 5 && row[0] === order && row[1] === direction) {
    const [, , key, chainId, id]: unknown[] = row;
    const isKey = key === null || (order === 'symbol' ? typeof key === 'string' : typeof key === 'number');
    if (isKey && typeof chainId === 'number' && typeof id === 'string' && STRATEGY_ID_PATTERN.test(id)) {
      return { key: key === null ? undefined : (key as number | string), chainId, id };
    }
  }
  throw new BadRequestError(
    `"${formatValue(cursor)}" is not a cursor of this list. Send an endCursor of the same orderBy, or none to start over.`,
    { field: 'after', value: formatValue(cursor) },
  );
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(decodeURIComponent(atob(cursor)));
  } catch {
    return undefined;
  }
}
