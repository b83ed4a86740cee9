import { type Decimal, ZERO } from '../../shared/decimal.ts';
import type { ChainId, MarketId } from '../../shared/ids.ts';
import { DRIFT_KINDS, DRIFT_SEVERITIES, type DriftKind, type DriftSeverity } from '../drift/types.ts';
import { POSITION_STATUSES, type PositionStatus } from '../position/types.ts';
import { type ItemFilter, matcherOf } from './query.ts';
import { isFailed, type PortfolioReport } from './report.ts';
import { type ItemRow, rowsOf, wholeOf } from './rows.ts';
import { UNRESOLVED_REASONS, type UnresolvedReason } from './types.ts';

/** A sum that says of how many entries it does not speak. */
export interface Total {
  readonly usd: Decimal;
  /** Entries whose value is not known, and not in the sum. */
  readonly unknown: number;
}

export interface GroupTotals {
  readonly count: number;
  readonly depositedUsd: Total;
  readonly netValueUsd: Total;
  readonly incentivesUsd: Total;
  readonly totalUsd: Total;
}

export interface PortfolioAggregates {
  readonly wallets: number;
  /** Wallets that cannot be told, whatever the filter asks. */
  readonly failedWallets: number;
  /** Loops and vaults that match; a vault's loops are in the vault. */
  readonly all: GroupTotals;
  readonly byStatus: readonly ({ readonly status: PositionStatus } & GroupTotals)[];
  /** The largest net value first. */
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
  /** Of the wallets that match. */
  readonly byUnresolvedReason: readonly { readonly reason: UnresolvedReason; readonly count: number }[];
}

/** Sum everything that matches, over any number of chains. */
export function aggregate(reports: readonly PortfolioReport[], filter: ItemFilter): PortfolioAggregates {
  const matches = matcherOf(filter);
  const isOpenToAll = Object.keys(filter).length === 0;
  const wallets = reports.flatMap((report) =>
    rowsOf(report).flatMap(({ portfolio, rows }) => {
      const matching = rows.filter(matches);
      return matching.length > 0 || isOpenToAll ? [{ portfolio, matching }] : [];
    }),
  );
  const rows = wallets.flatMap(({ matching }) => matching);
  const whole = wallets.flatMap(({ matching }) => wholeOf(matching));
  const drift = rows.flatMap(({ item }) => (item.kind === 'loop' && item.drift ? [item.drift] : []));
  const unresolved = wallets.flatMap(({ portfolio }) => portfolio.unresolved);
  return {
    wallets: wallets.length,
    failedWallets: reports.reduce((sum, { entries }) => sum + entries.filter(isFailed).length, 0),
    all: totalsOf(whole),
    byStatus: POSITION_STATUSES.map((status) => ({
      status,
      ...totalsOf(whole.filter((row) => row.status === status)),
    })),
    byMarket: byMarket(whole),
    byDriftKind: DRIFT_KINDS.map((kind) => {
      const ofKind = drift.filter((entry) => entry.kind === kind);
      const count = (severity: DriftSeverity) => ofKind.filter((entry) => entry.severity === severity).length;
      const bySeverity = Object.fromEntries(DRIFT_SEVERITIES.map((severity) => [severity, count(severity)]));
      return { kind, count: ofKind.length, bySeverity: bySeverity as Record<DriftSeverity, number> };
    }),
    byUnresolvedReason: UNRESOLVED_REASONS.map((reason) => ({
      reason,
      count: unresolved.filter((row) => row.reason === reason).length,
    })),
  };
}

/** Sum a list of rows. */
export function totalsOf(rows: readonly ItemRow[]): GroupTotals {
  return {
    count: rows.length,
    depositedUsd: totalOf(rows, 'depositedUsd'),
    netValueUsd: totalOf(rows, 'netValueUsd'),
    incentivesUsd: totalOf(rows, 'incentivesUsd'),
    totalUsd: totalOf(rows, 'totalUsd'),
  };
}

function totalOf(
  rows: readonly ItemRow[],
  field: 'depositedUsd' | 'netValueUsd' | 'incentivesUsd' | 'totalUsd',
): Total {
  let usd: Decimal = ZERO;
  let unknown = 0;
  for (const { item } of rows) {
    const value = item.pnl[field];
    if (value === undefined) unknown += 1;
    else usd = usd.plus(value);
  }
  return { usd, unknown };
}

function byMarket(rows: readonly ItemRow[]): PortfolioAggregates['byMarket'] {
  const groups = new Map<string, ItemRow[]>();
  for (const row of rows) {
    const key = `${row.chainId} ${row.strategyId}`;
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      if (!first) return [];
      const { chainId, marketId, item } = first;
      return [{ chainId, marketId, isVault: item.kind === 'vault', ...totalsOf(group) }];
    })
    .sort((a, b) => b.netValueUsd.usd.comparedTo(a.netValueUsd.usd) ?? 0);
}
