import type { CollateralApySource, CollateralCategory } from '../../catalog/schema.ts';
import { cutPage, type PageWindow } from '../../shared/page-window.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import {
  comparePositions,
  type IndexedStrategy,
  type PageCursor,
  type SortDirection,
  type StrategyOrder,
} from './keys.ts';
import type { Strategy } from './types.ts';

/** All conditions must hold. An unknown value satisfies no limit. */
export interface StrategyFilter {
  readonly categories?: readonly CollateralCategory[] | undefined;
  readonly correlated?: boolean | undefined;
  readonly kinds?: readonly Strategy['kind'][] | undefined;
  /** Address or symbol, any case. */
  readonly loan?: string | undefined;
  /** Address or symbol, any case. */
  readonly collateral?: string | undefined;
  /** Part of the name of the strategy or of its collateral, any case. */
  readonly search?: string | undefined;
  readonly apySources?: readonly CollateralApySource[] | undefined;
  /** Percent; of the APY at the default leverage, at least. */
  readonly minApyPct?: number | undefined;
  /** USD, at least. */
  readonly minLiquidityUsd?: number | undefined;
  /** Of the maximum leverage, at least. */
  readonly minMaxLeverage?: number | undefined;
  /** Unix seconds; strategies without a maturity satisfy neither. */
  readonly maturesBefore?: number | undefined;
  readonly maturesAfter?: number | undefined;
  /** Without strategies that the listing rules hide. */
  readonly listedOnly?: boolean | undefined;
}

export interface StrategyQuery {
  readonly filter?: StrategyFilter | undefined;
  readonly order: StrategyOrder;
  readonly direction: SortDirection;
  /** How many, and from which end. */
  readonly window: PageWindow;
  /** Only strategies after this cursor. */
  readonly after?: string | undefined;
  /** Only strategies before this cursor. */
  readonly before?: string | undefined;
}

export interface StrategyPage {
  /** Cursors are encoded when they are read, because most callers read two of a page. */
  readonly items: readonly { readonly strategy: Strategy; readonly cursor: string }[];
  /** Number of strategies that satisfy the filter, on all pages. */
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/** A strategy with its position in one order. */
interface Ranked {
  readonly entry: IndexedStrategy;
  readonly position: PageCursor;
}

/**
 * Filter, order and page strategies. Unknown values come last in both directions, ties are broken by id.
 * @throws BadRequestError for a cursor that was not issued for this order.
 */
export function queryStrategies(strategies: readonly IndexedStrategy[], query: StrategyQuery): StrategyPage {
  const { order, direction, window } = query;
  const after = query.after === undefined ? undefined : decodeCursor(query.after, order, direction, 'after');
  const before = query.before === undefined ? undefined : decodeCursor(query.before, order, direction, 'before');
  const ranked = strategies
    .filter(matcher(query.filter ?? {}))
    .map((entry): Ranked => ({ entry, position: positionOf(entry, order) }))
    .sort((a, b) => comparePositions(a.position, b.position, direction));
  const { items, ...cut } = cutPage(
    ranked,
    window,
    after && (({ position }) => comparePositions(position, after, direction) > 0),
    before && (({ position }) => comparePositions(position, before, direction) < 0),
  );
  return {
    ...cut,
    items: items.map(({ entry, position }) => ({
      strategy: entry.strategy,
      get cursor() {
        return encodeCursor(order, direction, position);
      },
    })),
    totalCount: ranked.length,
  };
}

function positionOf({ strategy, keys }: IndexedStrategy, order: StrategyOrder): PageCursor {
  return { key: keys[order], id: strategy.id, chainId: strategy.chainId };
}

type Condition = (entry: IndexedStrategy) => boolean;

function matcher(filter: StrategyFilter): Condition {
  const conditions: Condition[] = [];
  const { categories, correlated, kinds, apySources, listedOnly } = filter;
  if (categories) conditions.push(({ strategy }) => categories.includes(strategy.collateral.category));
  if (correlated !== undefined) conditions.push(({ strategy }) => strategy.correlated === correlated);
  if (kinds) conditions.push(({ strategy }) => kinds.includes(strategy.kind));
  if (apySources) conditions.push(({ strategy }) => apySources.includes(strategy.collateralApySource));
  if (listedOnly) conditions.push(({ strategy }) => strategy.visibility.visible);
  const loan = filter.loan?.toLowerCase();
  if (loan !== undefined) conditions.push((entry) => entry.loan.has(loan));
  const collateral = filter.collateral?.toLowerCase();
  if (collateral !== undefined) conditions.push((entry) => entry.collateral.has(collateral));
  const search = filter.search?.trim().toLowerCase();
  if (search !== undefined) conditions.push((entry) => entry.text.includes(search));
  limit(conditions, 'apy', filter.minApyPct, (key, bound) => key >= bound);
  limit(conditions, 'liquidity', filter.minLiquidityUsd, (key, bound) => key >= bound);
  limit(conditions, 'maxLeverage', filter.minMaxLeverage, (key, bound) => key >= bound);
  limit(conditions, 'maturity', filter.maturesBefore, (key, bound) => key < bound);
  limit(conditions, 'maturity', filter.maturesAfter, (key, bound) => key > bound);
  return (entry) => conditions.every((condition) => condition(entry));
}

function limit(
  conditions: Condition[],
  order: StrategyOrder,
  bound: number | undefined,
  passes: (key: number, bound: number) => boolean,
): void {
  if (bound === undefined) return;
  conditions.push(({ keys }) => {
    const key = keys[order];
    return typeof key === 'number' && passes(key, bound);
  });
}
