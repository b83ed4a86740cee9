import type { Decimal } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { type Address, type ChainId, formatValue, type MarketId, type StrategyId } from '../../shared/ids.ts';
import { cutPage, type PageWindow } from '../../shared/page-window.ts';
import { DRIFT_SEVERITIES, type Drift, type DriftKind, type DriftSeverity } from '../drift/types.ts';
import { POSITION_STATUSES, type Position, type PositionStatus } from '../position/types.ts';
import { driftOfItem } from './items.ts';
import type { PortfolioReport } from './report.ts';
import { type ItemRow, oldest, wholeOf } from './rows.ts';
import type { Portfolio, PortfolioItem } from './types.ts';

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

export const PORTFOLIO_ORDERS = [
  'value',
  'pnl',
  'headroom',
  'age',
  'ltv',
  'return',
  'status',
  'wallet',
  'chain',
  'name',
  'drift',
] as const;
/** Of a wallet the sum of its values or P&L counts, of everything else the least. */
export type PortfolioOrder = (typeof PORTFOLIO_ORDERS)[number];
export type Direction = 'asc' | 'desc';

export interface ListQuery {
  readonly filter: ItemFilter;
  readonly order: PortfolioOrder;
  readonly direction: Direction;
  readonly window: PageWindow;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  /** List the loops of a vault only where their vault does not match: each amount is then listed once. */
  readonly isWhole?: boolean | undefined;
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
  return cut('portfolios', found, query);
}

/** List the loops and vaults that match. Of a vault the least headroom of its parts counts. */
export function queryItems(reports: readonly PortfolioReport[], query: ListQuery): Listed<ItemRow> {
  const matches = matcherOf(query.filter);
  const found = reports.flatMap((report) =>
    report.rows.flatMap(({ rows }) => {
      const matching = rows.filter(matches);
      return (query.isWhole ? wholeOf(matching) : matching).map((row) => ({
        node: row,
        place: { key: keyOf(row, query.order), chainId: row.chainId, id: `${row.wallet} ${row.key}` },
      }));
    }),
  );
  return cut('items', found, query);
}

export interface DriftFilter {
  readonly kinds?: readonly DriftKind[] | undefined;
  readonly severities?: readonly DriftSeverity[] | undefined;
  readonly wallets?: readonly Address[] | undefined;
  readonly marketIds?: readonly MarketId[] | undefined;
  readonly vaultIds?: readonly StrategyId[] | undefined;
}

/** List disagreements of the loops that match, the earliest first sighting first. */
export function queryDrift(
  reports: readonly PortfolioReport[],
  filter: DriftFilter,
  page: Pick<ListQuery, 'window' | 'after' | 'before'>,
  items: ItemFilter = {},
): Listed<Drift> {
  const { kinds, severities, wallets, marketIds, vaultIds } = filter;
  const matches = matcherOf(items);
  const found = reports
    .flatMap((report) =>
      report.rows.flatMap(({ rows }) =>
        rows.filter(matches).flatMap(({ item }) => (item.kind === 'loop' && item.drift) || []),
      ),
    )
    .filter((drift) => allows(kinds, drift.kind) && allows(severities, drift.severity))
    .filter((drift) => allows(wallets, drift.wallet) && allows(marketIds, drift.marketId))
    .filter(({ vaultId }) => vaultIds === undefined || (vaultId !== null && vaultIds.includes(vaultId)))
    .map((node) => ({
      node,
      place: { key: node.firstSeenMs, chainId: node.chainId, id: `${node.wallet} ${node.positionIndex} ${node.kind}` },
    }));
  return cut('drift', found, { ...page, order: 'age', direction: 'asc' });
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
  readonly key: SortKey;
  readonly chainId: ChainId;
  readonly id: string;
}

/** `null` = not known, or not applicable. */
type SortKey = number | string | null;

function keyOf(row: ItemRow, order: PortfolioOrder): SortKey {
  const { item } = row;
  switch (order) {
    case 'value':
      return numberOf(row.valueUsd);
    case 'pnl':
      return numberOf(row.pnlUsd);
    case 'headroom':
      return numberOf(row.headroomPct);
    case 'age':
      return row.openedAtMs;
    case 'ltv':
      return numberOf(item.kind === 'loop' ? item.position.ltvPct : item.equity?.stock.ltvPct);
    case 'return':
      return numberOf(item.pnl.returnOnEquityPct);
    case 'status':
      return POSITION_STATUSES.indexOf(row.status);
    case 'wallet':
      return row.wallet.toLowerCase();
    case 'chain':
      return row.chainId;
    case 'name':
      return item.kind === 'loop' ? nameOf(item.position) : (item.stockSymbol ?? null);
    case 'drift':
      return severityRank(item);
  }
}

function numberOf(value: string | null | undefined): number | null {
  return value == null ? null : Number(value);
}

function nameOf({ collateralSymbol, loanSymbol }: Position): string | null {
  return collateralSymbol === undefined ? null : `${collateralSymbol}/${loanSymbol ?? ''}`;
}

/** The weightiest disagreement of an item; a larger rank weighs more. */
function severityRank(item: PortfolioItem): number | null {
  const ranks = driftOfItem(item).map(({ severity }) => DRIFT_SEVERITIES.length - DRIFT_SEVERITIES.indexOf(severity));
  return ranks.length === 0 ? null : Math.max(...ranks);
}

function walletPlace(
  { chainId, wallet }: Portfolio,
  matching: readonly ItemRow[],
  order: PortfolioOrder,
): SortPosition {
  const place = (key: SortKey): SortPosition => ({ key, chainId, id: wallet });
  if (order === 'age') return place(oldest(matching.map(({ openedAtMs }) => openedAtMs)));
  if (order === 'value' || order === 'pnl') {
    const amounts = wholeOf(matching).flatMap((row) => numberOf(order === 'value' ? row.valueUsd : row.pnlUsd) ?? []);
    return place(amounts.length === 0 ? null : amounts.reduce((sum, amount) => sum + amount, 0));
  }
  const keys = matching.flatMap((row) => keyOf(row, order) ?? []);
  return place(keys.toSorted(compareKeys)[0] ?? null);
}

function compareKeys(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Unknown keys come last in both directions; ties are broken by chain and id. */
function compare(a: SortPosition, b: SortPosition, direction: Direction): number {
  if (a.key !== b.key) {
    if (a.key === null) return 1;
    if (b.key === null) return -1;
    return direction === 'asc' ? compareKeys(a.key, b.key) : compareKeys(b.key, a.key);
  }
  if (a.chainId !== b.chainId) return a.chainId - b.chainId;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** The list and order that a cursor is valid in: the same item has another place in others. */
type CursorScope = Pick<ListQuery, 'order' | 'direction'> & { readonly list: 'portfolios' | 'items' | 'drift' };

function cut<T>(
  list: CursorScope['list'],
  found: readonly { readonly node: T; readonly place: SortPosition }[],
  query: Pick<ListQuery, 'order' | 'direction' | 'window' | 'after' | 'before'>,
): Listed<T> {
  const { order, direction } = query;
  const scope = { list, order, direction };
  const sorted = found.toSorted((a, b) => compare(a.place, b.place, direction));
  const after = query.after === undefined ? undefined : decodePlace(query.after, scope, 'after');
  const before = query.before === undefined ? undefined : decodePlace(query.before, scope, 'before');
  const { items, ...cut } = cutPage(
    sorted,
    query.window,
    after && (({ place }) => compare(place, after, direction) > 0),
    before && (({ place }) => compare(place, before, direction) < 0),
  );
  return {
    ...cut,
    edges: items.map(({ place, node }) => ({ cursor: encodePlace(place, scope), node })),
    totalCount: sorted.length,
  };
}

/** A cursor encodes the position of an entry instead of an offset, because entries may appear and vanish between two pages. */
function encodePlace({ key, chainId, id }: SortPosition, { list, order, direction }: CursorScope): string {
  return btoa(JSON.stringify([list, order, direction, key, chainId, id]));
}

function decodePlace(cursor: string, { list, order, direction }: CursorScope, field: 'after' | 'before'): SortPosition {
  const row = parsed(cursor);
  const isOfList = Array.isArray(row) && row.length === 6 && row[0] === list;
  if (isOfList && row[1] === order && row[2] === direction) {
    const [, , , key, chainId, id]: unknown[] = row;
    if (
      (key === null || typeof key === 'number' || typeof key === 'string') &&
      typeof chainId === 'number' &&
      typeof id === 'string'
    ) {
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
