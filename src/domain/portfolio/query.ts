import type { Decimal } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { type Address, type ChainId, formatValue, type MarketId, type StrategyId } from '../../shared/ids.ts';
import { cutPage, type PageWindow } from '../../shared/page-window.ts';
import type { Drift, DriftKind, DriftSeverity } from '../drift/types.ts';
import type { PositionStatus } from '../position/types.ts';
import { driftOf } from './items.ts';
import type { PortfolioReport } from './report.ts';
import { type ItemRow, oldest, wholeOf } from './rows.ts';
import type { Portfolio } from './types.ts';

/** Conditions on loops and vaults; all given ones must hold. An unknown value satisfies no limit. */
export interface ItemFilter {
  readonly statuses?: readonly PositionStatus[] | undefined;
  readonly wallets?: readonly Address[] | undefined;
  readonly marketIds?: readonly MarketId[] | undefined;
  readonly strategyIds?: readonly StrategyId[] | undefined;
  readonly vaultIds?: readonly StrategyId[] | undefined;
  readonly driftKinds?: readonly DriftKind[] | undefined;
  readonly minValueUsd?: Decimal | undefined;
  readonly minHeadroomPct?: Decimal | undefined;
  readonly maxHeadroomPct?: Decimal | undefined;
}

export const PORTFOLIO_ORDERS = ['value', 'pnl', 'headroom', 'age'] as const;
/** By net value, by total P&L, by LTV headroom (of a wallet the smallest), by opening time. */
export type PortfolioOrder = (typeof PORTFOLIO_ORDERS)[number];
export type Direction = 'asc' | 'desc';

export interface ListQuery {
  readonly filter: ItemFilter;
  readonly order: PortfolioOrder;
  readonly direction: Direction;
  readonly window: PageWindow;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

export interface Listed<T> {
  readonly edges: { cursor: string; node: T }[];
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/**
 * List wallets with at least one matching item, ordered by their matching items. Without conditions all wallets are listed.
 */
export function queryPortfolios(reports: readonly PortfolioReport[], query: ListQuery): Listed<Portfolio> {
  const matches = matcherOf(query.filter);
  const isOpenToAll = Object.keys(query.filter).length === 0;
  const found = reports.flatMap((report) =>
    report.rows.flatMap(({ portfolio, rows }) => {
      const matching = rows.filter(matches);
      if (matching.length === 0 && !isOpenToAll) return [];
      return [{ node: portfolio, place: walletPlace(portfolio, matching, query.order) }];
    }),
  );
  return cut(found, query);
}

/** List the loops and vaults that match. */
export function queryItems(reports: readonly PortfolioReport[], query: ListQuery): Listed<ItemRow> {
  const matches = matcherOf(query.filter);
  const found = reports.flatMap((report) =>
    report.rows.flatMap(({ rows }) =>
      rows.filter(matches).map((row) => ({
        node: row,
        place: { key: keyOf(row, query.order), chainId: row.chainId, id: `${row.wallet} ${row.key}` },
      })),
    ),
  );
  return cut(found, query);
}

export interface DriftFilter {
  readonly kinds?: readonly DriftKind[] | undefined;
  readonly severities?: readonly DriftSeverity[] | undefined;
  readonly wallets?: readonly Address[] | undefined;
  readonly marketIds?: readonly MarketId[] | undefined;
}

/** List disagreements, the earliest first sighting first. */
export function queryDrift(
  reports: readonly PortfolioReport[],
  filter: DriftFilter,
  page: Pick<ListQuery, 'window' | 'after' | 'before'>,
): Listed<Drift> {
  const { kinds, severities, wallets, marketIds } = filter;
  const found = reports
    .flatMap((report) => report.entries.flatMap(driftOf))
    .filter((drift) => allows(kinds, drift.kind) && allows(severities, drift.severity))
    .filter((drift) => allows(wallets, drift.wallet) && allows(marketIds, drift.marketId))
    .map((node) => ({
      node,
      place: { key: node.firstSeenMs, chainId: node.chainId, id: `${node.wallet} ${node.positionIndex} ${node.kind}` },
    }));
  return cut(found, { ...page, order: 'age', direction: 'asc' });
}

export function matcherOf(filter: ItemFilter): (row: ItemRow) => boolean {
  const { minValueUsd, minHeadroomPct, maxHeadroomPct, driftKinds } = filter;
  return (row) =>
    allows(filter.statuses, row.status) &&
    allows(filter.wallets, row.wallet) &&
    allows(filter.marketIds, row.marketId) &&
    allows(filter.strategyIds, row.strategyId) &&
    (filter.vaultIds === undefined || (row.vaultId !== null && filter.vaultIds.includes(row.vaultId))) &&
    (driftKinds === undefined || row.driftKinds.some((kind) => driftKinds.includes(kind))) &&
    (minValueUsd === undefined || (row.valueUsd !== null && minValueUsd.lte(row.valueUsd))) &&
    (minHeadroomPct === undefined || (row.headroomPct !== null && minHeadroomPct.lte(row.headroomPct))) &&
    (maxHeadroomPct === undefined || (row.headroomPct !== null && maxHeadroomPct.gte(row.headroomPct)));
}

function allows<T>(list: readonly T[] | undefined, value: T): boolean {
  return list === undefined || list.includes(value);
}

/** Position of an entry in an order. Keys are only compared; displayed values stay exact. */
interface SortPosition {
  readonly key: number | null;
  readonly chainId: ChainId;
  readonly id: string;
}

function keyOf(row: ItemRow, order: PortfolioOrder): number | null {
  switch (order) {
    case 'value':
      return row.valueUsd === null ? null : Number(row.valueUsd);
    case 'pnl':
      return row.pnlUsd === null ? null : Number(row.pnlUsd);
    case 'headroom':
      return row.headroomPct === null ? null : Number(row.headroomPct);
    case 'age':
      return row.openedAtMs;
  }
}

function walletPlace(
  { chainId, wallet }: Portfolio,
  matching: readonly ItemRow[],
  order: PortfolioOrder,
): SortPosition {
  const place = (key: number | null): SortPosition => ({ key, chainId, id: wallet });
  if (order === 'age') return place(oldest(matching.map(({ openedAtMs }) => openedAtMs)));
  const counted = order === 'headroom' ? matching : wholeOf(matching);
  const keys = counted.flatMap((row) => keyOf(row, order) ?? []);
  if (keys.length === 0) return place(null);
  return place(order === 'headroom' ? Math.min(...keys) : keys.reduce((sum, key) => sum + key, 0));
}

/** Unknown keys come last in both directions; ties are broken by chain and id. */
function compare(a: SortPosition, b: SortPosition, direction: Direction): number {
  if (a.key !== b.key) {
    if (a.key === null) return 1;
    if (b.key === null) return -1;
    return direction === 'asc' ? a.key - b.key : b.key - a.key;
  }
  if (a.chainId !== b.chainId) return a.chainId - b.chainId;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

function cut<T>(
  found: readonly { readonly node: T; readonly place: SortPosition }[],
  query: Pick<ListQuery, 'order' | 'direction' | 'window' | 'after' | 'before'>,
): Listed<T> {
  const { order, direction } = query;
  const sorted = found.toSorted((a, b) => compare(a.place, b.place, direction));
  const after = query.after === undefined ? undefined : decodePlace(query.after, order, direction, 'after');
  const before = query.before === undefined ? undefined : decodePlace(query.before, order, direction, 'before');
  const { items, ...cut } = cutPage(
    sorted,
    query.window,
    after && (({ place }) => compare(place, after, direction) > 0),
    before && (({ place }) => compare(place, before, direction) < 0),
  );
  return {
    ...cut,
    edges: items.map(({ place, node }) => ({ cursor: encodePlace(place, order, direction), node })),
    totalCount: sorted.length,
  };
}

/** A cursor encodes the position of an entry instead of an offset, because entries may appear and vanish between two pages. */
function encodePlace({ key, chainId, id }: SortPosition, order: PortfolioOrder, direction: Direction): string {
  return btoa(JSON.stringify([order, direction, key, chainId, id]));
}

function decodePlace(
  cursor: string,
  order: PortfolioOrder,
  direction: Direction,
  field: 'after' | 'before',
): SortPosition {
  const row = parsed(cursor);
  if (Array.isArray(row) && row.length === 5 && row[0] === order && row[1] === direction) {
    const [, , key, chainId, id]: unknown[] = row;
    if ((key === null || typeof key === 'number') && typeof chainId === 'number' && typeof id === 'string') {
      return { key, chainId, id };
    }
  }
  throw new BadRequestError(
    `"${formatValue(cursor)}" is not a cursor of this list. Send a cursor of the same orderBy, or none to start over.`,
    { field, value: formatValue(cursor) },
  );
}

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(atob(cursor));
  } catch {
    return undefined;
  }
}
