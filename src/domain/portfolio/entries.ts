import { BadRequestError } from '../../shared/errors.ts';
import { formatValue } from '../../shared/ids.ts';
import type { Listed } from './query.ts';
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
  { first, after }: { readonly first: number; readonly after?: string | null | undefined },
): Listed<PortfolioEntry> {
  if (after != null && !CURSOR.test(after)) {
    throw new BadRequestError(
      `"${formatValue(after)}" is not a cursor of this list. Send an endCursor of it, or none to start over.`,
      { field: 'after', value: formatValue(after) },
    );
  }
  const start = after == null ? 0 : firstBehind(entries, after.toLowerCase());
  const page = entries.slice(start, start + first);
  return {
    edges: page.map((node) => ({ cursor: node.wallet, node })),
    totalCount: entries.length,
    hasNextPage: start + first < entries.length,
    hasPreviousPage: start > 0,
  };
}

/** Find the index of the first wallet with a greater address, by bisection. */
function firstBehind(entries: readonly PortfolioEntry[], address: string): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.wallet.toLowerCase() ?? '') <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}
