import type { Drift } from '../drift/types.ts';
import type { FailedPortfolio, Portfolio, PortfolioEntry, PortfolioItem, PortfolioLoop } from './types.ts';

/** Whether a wallet could not be read. */
export function isFailed(entry: PortfolioEntry): entry is FailedPortfolio {
  return 'failure' in entry;
}

/** List the items of a wallet that are not part of another: open loops, open vaults, and ended ones. */
export function itemsOf({ positions, equityPositions, closed }: Portfolio): readonly PortfolioItem[] {
  return [...positions, ...equityPositions, ...closed];
}

/** List every loop of a wallet, including those of vaults. */
function loopsOf(portfolio: Portfolio): readonly PortfolioLoop[] {
  return itemsOf(portfolio).flatMap((item) => (item.kind === 'loop' ? [item] : item.loops));
}

/** List the disagreements of a loop, or of the loops of a vault. */
export function driftOfItem(item: PortfolioItem): readonly Drift[] {
  return (item.kind === 'loop' ? [item] : item.loops).flatMap(({ drift }) => drift ?? []);
}

/** Least points of LTV before liquidation, of a vault over its stock leg and its loops; `null` = none is known. */
export function leastHeadroomPct(item: PortfolioItem): string | null {
  const all =
    item.kind === 'loop'
      ? [item.position.ltvHeadroomPct]
      : [item.equity?.stock.ltvHeadroomPct, ...item.loops.map(({ position }) => position.ltvHeadroomPct)];
  const known = all.filter((points) => points != null);
  return known.toSorted((a, b) => Number(a) - Number(b))[0] ?? null;
}

/** List a wallet's disagreements. */
export function driftOf(entry: PortfolioEntry): readonly Drift[] {
  return isFailed(entry) ? [] : loopsOf(entry).flatMap(({ drift }) => (drift ? [drift] : []));
}
