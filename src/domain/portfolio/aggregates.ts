import { Decimal, ZERO } from '../../shared/decimal.ts';
import type { ChainId, MarketId } from '../../shared/ids.ts';
import { DRIFT_KINDS, type DriftKind, type DriftSeverity } from '../drift/types.ts';
import { POSITION_STATUSES, type PositionStatus } from '../position/types.ts';
import { type ItemFilter, matcherOf } from './query.ts';
import type { PortfolioReport } from './report.ts';
import { type ItemRow, type WalletRows, wholeOf } from './rows.ts';
import { UNRESOLVED_REASONS, type UnresolvedReason } from './types.ts';

/** A sum with the number of entries that are not in it. */
export interface Total {
  readonly usd: Decimal;
  /** Entries with an unknown value; they are not in the sum. */
  readonly unknown: number;
}

export interface GroupTotals {
  readonly count: number;
  readonly depositedUsd: Total;
  readonly netValueUsd: Total;
  /** The part of the net value that is valued by divergent oracles. */
  readonly divergentUsd: Total;
  readonly incentivesUsd: Total;
  readonly totalUsd: Total;
  readonly yieldFeeUsd: Total;
  readonly totalAfterFeeUsd: Total;
}

export interface PortfolioAggregates {
  readonly wallets: number;
  /** Wallets that could not be read, independent of the filter. */
  readonly failedWallets: number;
  /** Loops and vaults that match. A vault's loops count as part of the vault. */
  readonly all: GroupTotals;
  readonly byStatus: readonly ({ readonly status: PositionStatus } & GroupTotals)[];
  /** Ordered by net value, largest first. */
  readonly byMarket: readonly ({
    readonly chainId: ChainId;
    readonly marketId: MarketId;
    readonly isVault: boolean;
  } & GroupTotals)[];
  readonly byDriftKind: readonly {
    readonly kind: DriftKind;
    readonly count: number;
    readonly bySeverity: Readonly<Record<DriftSeverity, number>>;
  }[];
  /** Counts of unresolved rows of the matching wallets. */
  readonly byUnresolvedReason: readonly { readonly reason: UnresolvedReason; readonly count: number }[];
}

/** Sums under construction. */
export interface Aggregating {
  add(wallet: WalletRows): void;
  finish(): PortfolioAggregates;
}

/** Begin to sum all matching rows over any number of chains. */
export function beginAggregates(reports: readonly PortfolioReport[], filter: ItemFilter): Aggregating {
  const matches = matcherOf(filter);
  const isOpenToAll = Object.keys(filter).length === 0;
  const all = noSums();
  const byStatus = new Map(POSITION_STATUSES.map((status) => [status, noSums()] as const));
  const byMarket = new Map<string, { readonly first: ItemRow; readonly sums: Sums }>();
  const drift = Object.fromEntries(DRIFT_KINDS.map((kind) => [kind, { high: 0, medium: 0, low: 0 }])) as Record<
    DriftKind,
    Record<DriftSeverity, number>
  >;
  const unresolved = Object.fromEntries(UNRESOLVED_REASONS.map((reason) => [reason, 0])) as Record<
    UnresolvedReason,
    number
  >;
  let wallets = 0;
  return {
    add({ portfolio, rows }) {
      const matching = rows.filter(matches);
      if (matching.length === 0 && !isOpenToAll) return;
      wallets += 1;
      for (const { reason } of portfolio.unresolved) unresolved[reason] += 1;
      for (const { item } of matching) {
        if (item.kind === 'loop' && item.drift) drift[item.drift.kind][item.drift.severity] += 1;
      }
      for (const row of wholeOf(matching)) {
        const key = `${row.chainId} ${row.strategyId}`;
        const ofMarket = byMarket.get(key) ?? { first: row, sums: noSums() };
        byMarket.set(key, ofMarket);
        add(row, [all, byStatus.get(row.status), ofMarket.sums]);
      }
    },
    finish: () => ({
      wallets,
      failedWallets: reports.reduce((sum, { counts }) => sum + counts.failed, 0),
      all: totalsOf(all),
      byStatus: [...byStatus].map(([status, sums]) => ({ status, ...totalsOf(sums) })),
      byMarket: [...byMarket.values()]
        .map(({ first, sums }) => ({
          chainId: first.chainId,
          marketId: first.marketId,
          isVault: first.item.kind === 'vault',
          ...totalsOf(sums),
        }))
        .sort((a, b) => b.netValueUsd.usd.comparedTo(a.netValueUsd.usd) ?? 0),
      byDriftKind: DRIFT_KINDS.map((kind) => {
        const bySeverity = drift[kind];
        return { kind, count: bySeverity.high + bySeverity.medium + bySeverity.low, bySeverity };
      }),
      byUnresolvedReason: UNRESOLVED_REASONS.map((reason) => ({ reason, count: unresolved[reason] })),
    }),
  };
}

const SUMMED = [
  'depositedUsd',
  'netValueUsd',
  'divergentUsd',
  'incentivesUsd',
  'totalUsd',
  'yieldFeeUsd',
  'totalAfterFeeUsd',
] as const;
type Summed = (typeof SUMMED)[number];
type Tally = Record<Summed, { usd: Decimal; unknown: number }>;

interface Sums {
  count: number;
  readonly tally: Tally;
}

function noSums(): Sums {
  const none = () => ({ usd: ZERO, unknown: 0 });
  return {
    count: 0,
    tally: {
      depositedUsd: none(),
      netValueUsd: none(),
      divergentUsd: none(),
      incentivesUsd: none(),
      totalUsd: none(),
      yieldFeeUsd: none(),
      totalAfterFeeUsd: none(),
    },
  };
}

function totalsOf({ count, tally }: Sums): GroupTotals {
  return { count, ...tally };
}

/** Add a row to each of its groups. Its amounts are parsed once. */
function add({ item }: ItemRow, groups: readonly (Sums | undefined)[]): void {
  const amounts = SUMMED.map((name) => {
    const text = item.pnl[name];
    return [name, text === undefined ? null : new Decimal(text)] as const;
  });
  for (const group of groups) {
    if (!group) continue;
    group.count += 1;
    for (const [name, amount] of amounts) {
      const sum = group.tally[name];
      if (amount === null) sum.unknown += 1;
      else sum.usd = sum.usd.plus(amount);
    }
  }
}
