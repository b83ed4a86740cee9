import { BadRequestError } from '../../shared/errors.ts';
import { formatValue } from '../../shared/ids.ts';
import { cutRange } from '../../shared/page-window.ts';
import type { Listed, ListQuery } from './query.ts';
import type { PortfolioReport } from './report.ts';
import type { PortfolioEntry } from './types.ts';

const CURSOR = /^0x[0-9a-f]{40}$/i;

/**
 * Cut a page out of a report's wallets, which are ordered by address. The cursor is the address, so that the next page may
 * come from a newer report.
 * @throws BadRequestError for an invalid cursor
 */
export function pageOfEntries(
  { entries }: Pick<PortfolioReport, 'entries'>,
  { window, after, before }: Pick<ListQuery, 'window' | 'after' | 'before'>,
): Listed<PortfolioEntry> {
  const begin = after === undefined ? 0 : firstFrom(entries, addressOf(after, 'after'), true);
  const end = before === undefined ? entries.length : firstFrom(entries, addressOf(before, 'before'), false);
  const { items, ...cut } = cutRange(entries, window, begin, end);
  return { ...cut, edges: items.map((node) => ({ cursor: node.wallet, node })), totalCount: entries.length };
}

/** @throws BadRequestError for something that is no cursor */
function addressOf(cursor: string, field: 'after' | 'before'): string {
  if (CURSOR.test(cursor)) return cursor.toLowerCase();
  throw new BadRequestError(
    `"${formatValue(cursor)}" is not a cursor of this list. Send a cursor of it, or none to start over.`,
    { field, value: formatValue(cursor) },
  );
}

/** Find the index of the first wallet whose address is greater, or with `behind: false` not less, by halves. */
function firstFrom(entries: readonly PortfolioEntry[], address: string, behind: boolean): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const wallet = entries[middle]?.wallet.toLowerCase() ?? '';
    if (behind ? wallet <= address : wallet < address) low = middle + 1;
    else high = middle;
  }
  return low;
}
