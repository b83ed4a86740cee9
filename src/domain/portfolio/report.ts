import { type Decimal, ZERO } from '../../shared/decimal.ts';
import type { ChainId } from '../../shared/ids.ts';
import { driftOf, isFailed, itemsOf } from './items.ts';
import type { WalletRows } from './rows.ts';
import type { PortfolioEntry } from './types.ts';

export interface PortfolioCounts {
  /** All wallets, including those that could not be read. */
  readonly users: number;
  /** Open plain loops. */
  readonly open: number;
  readonly equity: number;
  /** Loops and vaults that have ended. */
  readonly closed: number;
  readonly unresolved: number;
  readonly drift: number;
  /** Wallets that could not be read. */
  readonly failed: number;
}

/** Every wallet of a chain, read at one block. */
export interface PortfolioReport {
  readonly chainId: ChainId;
  readonly blockNumber: bigint;
  /** Time of that block, ms. */
  readonly asOfMs: number;
  readonly computedAtMs: number;
  /** Ordered by address. */
  readonly entries: readonly PortfolioEntry[];
  /** The rows of the wallets that could be read, for lists and sums. */
  readonly rows: readonly WalletRows[];
  readonly counts: PortfolioCounts;
}

/** Count the positions of a list of wallets. */
export function countsOf(entries: readonly PortfolioEntry[]): PortfolioCounts {
  const counts = { users: 0, open: 0, equity: 0, closed: 0, unresolved: 0, drift: 0, failed: 0 };
  for (const entry of entries) addCounts(counts, entry);
  return counts;
}

/** Add the counts of one wallet. */
export function addCounts(counts: { -readonly [K in keyof PortfolioCounts]: number }, entry: PortfolioEntry): void {
  counts.users += 1;
  if (isFailed(entry)) {
    counts.failed += 1;
    return;
  }
  counts.open += entry.positions.length;
  counts.equity += entry.equityPositions.length;
  counts.closed += entry.closed.length;
  counts.unresolved += entry.unresolved.length;
  counts.drift += driftOf(entry).length;
}

/** Sums over all portfolios of a chain at one moment, exact USD. Positions with an unknown value are left out. */
export interface PortfolioSample {
  readonly chainId: ChainId;
  readonly atMs: number;
  /** Loops and vaults in the sums. */
  readonly positions: number;
  readonly depositedUsd: Decimal;
  readonly netValueUsd: Decimal;
  readonly incentivesUsd: Decimal;
  readonly totalUsd: Decimal;
}

/** A sample under construction. */
export interface Sampling {
  add(entry: PortfolioEntry): void;
  finish(): PortfolioSample;
}

/** Begin the sample of a report, for the history. */
export function beginSample({ chainId, computedAtMs }: Pick<PortfolioReport, 'chainId' | 'computedAtMs'>): Sampling {
  let positions = 0;
  const sums: Record<(typeof SAMPLED)[number], Decimal> = {
    depositedUsd: ZERO,
    netValueUsd: ZERO,
    incentivesUsd: ZERO,
    totalUsd: ZERO,
  };
  return {
    add(entry) {
      if (isFailed(entry)) return;
      for (const { pnl } of itemsOf(entry)) {
        if (pnl.totalUsd === undefined) continue;
        positions += 1;
        for (const name of SAMPLED) sums[name] = sums[name].plus(pnl[name] ?? 0);
      }
    },
    finish: () => ({ chainId, atMs: computedAtMs, positions, ...sums }),
  };
}

const SAMPLED = ['depositedUsd', 'netValueUsd', 'incentivesUsd', 'totalUsd'] as const;
