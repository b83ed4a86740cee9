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

/** List a wallet's disagreements. */
export function driftOf(entry: PortfolioEntry): readonly Drift[] {
  return isFailed(entry) ? [] : loopsOf(entry).flatMap(({ drift }) => (drift ? [drift] : []));
}
