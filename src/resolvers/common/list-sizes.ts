import type { ChainId } from '../../shared/ids.ts';
import type { PageArgs } from '../../shared/page-window.ts';
import { requestedPageSize } from './page.ts';
import type { Services } from './services.ts';

/** How many entries the lists of the snapshot have, for the cost of a query before it is executed. */
export interface ListSizes {
  /**
   * Entries of a list on some chains, on all when none is named, before other conditions.
   * @returns `undefined` = not known: a chain is not measured yet
   */
  count(list: SnapshotList, chainIds?: readonly ChainId[] | null): number | undefined;
  /** Equal as long as all sizes are. */
  readonly version: string;
}

export type SnapshotList = 'strategies' | 'markets' | 'tokens';

/** Create the sizes of one operation. */
export function createListSizes({ catalog, composed }: Pick<Services, 'catalog' | 'composed'>): ListSizes {
  let version: string | undefined;
  const sizeOn = (list: SnapshotList, chainId: ChainId): number | undefined => {
    if (list === 'tokens') return catalog.chain(chainId)?.tokens.length;
    try {
      const { markets, lookup, excluded } = composed(chainId);
      // Nothing could be composed yet.
      if (markets.length === 0 && excluded.length > 0) return undefined;
      return list === 'markets' ? markets.length : lookup.indexed.length;
    } catch {
      // The field itself answers the failure.
      return undefined;
    }
  };
  return {
    count(list, chainIds) {
      const asked = chainIds == null ? catalog.chainIds : catalog.chainIds.filter((id) => chainIds.includes(id));
      const sizes = asked.map((chainId) => sizeOn(list, chainId));
      return sizes.includes(undefined) ? undefined : sizes.reduce((sum: number, size = 0) => sum + size, 0);
    },
    get version() {
      version ??= catalog.chainIds.map((id) => `${sizeOn('strategies', id)},${sizeOn('markets', id)}`).join(' ');
      return version;
    },
  };
}

/** The largest number of entries of a page of the snapshot: what is requested, or what is there. */
export function existingPageSize(
  args: PageArgs & { readonly chainIds?: readonly ChainId[] | null | undefined },
  list: SnapshotList,
  { sizes }: { readonly sizes?: ListSizes | undefined },
): number {
  const size = sizes?.count(list, args.chainIds);
  return Math.min(requestedPageSize(args), Math.max(1, size ?? Number.POSITIVE_INFINITY));
}
