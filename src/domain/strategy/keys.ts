import type { Strategy } from './types.ts';

export const STRATEGY_ORDERS = [
  'apy',
  'borrowApy',
  'collateralApy',
  'liquidity',
  'maxLeverage',
  'maturity',
  'name',
] as const;
export type StrategyOrder = (typeof STRATEGY_ORDERS)[number];
export type SortDirection = 'asc' | 'desc';

/** Sort key; `undefined` = unknown. Doubles are used for order and limits only: displayed values stay exact strings. */
export type SortKey = number | string | undefined;

/** What a strategy shows of its market as it is: it is only compared. */
export interface ShownMarket {
  readonly borrowIncentive?: unknown;
  readonly collateralIncentive?: unknown;
  readonly collateralPrice?: unknown;
  readonly loanPrice?: unknown;
  readonly facts: { readonly exitLiquidity?: unknown };
}

export interface IndexedStrategy {
  readonly strategy: Strategy;
  /** Its market, of a vault that of its stock. */
  readonly market: ShownMarket;
  readonly keys: Readonly<Record<StrategyOrder, SortKey>>;
  readonly collateral: ReadonlySet<string>;
  readonly loan: ReadonlySet<string>;
  /** What a search looks in: both symbols and the name of the collateral, in lower case. */
  readonly text: string;
  /** Cached result of `fingerprintOf`. */
  fingerprint?: string | undefined;
}

/** Compute a strategy's keys once; lists are filtered and sorted on them. */
export function indexStrategy(strategy: Strategy, market: ShownMarket): IndexedStrategy {
  const { collateral, loan } = strategy;
  const isLoop = strategy.kind === 'loop';
  return {
    strategy,
    market,
    keys: {
      apy: Number(strategy.defaultLeverage.leverageApyPct),
      borrowApy: Number(strategy.netBorrowApyPct),
      // A vault earns by its yield leg: its rate cannot be compared.
      collateralApy: isLoop ? Number(strategy.totalCollateralApyPct) : undefined,
      liquidity: strategy.liquidityUsd === undefined ? undefined : Number(strategy.liquidityUsd),
      maxLeverage: Number(strategy.maxLeverage),
      maturity: collateral.maturity ?? undefined,
      name: `${collateral.symbol}/${loan.symbol}`.toLowerCase(),
    },
    collateral: new Set([collateral.address.toLowerCase(), collateral.symbol.toLowerCase()]),
    loan: new Set([loan.address.toLowerCase(), loan.symbol.toLowerCase()]),
    text: `${collateral.symbol}/${loan.symbol} ${collateral.name}`.toLowerCase(),
  };
}

/** Compare two keys; unknown ones come last in both directions. */
function compareKeys(a: SortKey, b: SortKey, direction: SortDirection): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  const order = a < b ? -1 : a > b ? 1 : 0;
  return direction === 'asc' ? order : -order;
}

/** Order by key, ties by id and then chain, so that the order is total. */
export function comparePositions(a: PageCursor, b: PageCursor, direction: SortDirection): number {
  const byKey = compareKeys(a.key, b.key, direction);
  if (byKey !== 0) return byKey;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : a.chainId - b.chainId;
}

/** Position of a strategy in an order. */
export interface PageCursor {
  readonly key: SortKey;
  readonly id: string;
  readonly chainId: number;
}
