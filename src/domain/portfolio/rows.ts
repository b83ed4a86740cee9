import { type Address, type ChainId, EQUITY_PREFIX, type MarketId, type StrategyId } from '../../shared/ids.ts';
import type { DriftKind } from '../drift/types.ts';
import type { PositionStatus } from '../position/types.ts';
import { itemsOf, leastHeadroomPct } from './items.ts';
import type { Portfolio, PortfolioItem, PortfolioLoop } from './types.ts';

/** A loop or vault with its filter and sort keys. `null` = not known or not applicable. */
export interface ItemRow {
  readonly item: PortfolioItem;
  readonly chainId: ChainId;
  readonly wallet: Address;
  /** Distinguishes the items of one wallet. */
  readonly key: string;
  readonly status: PositionStatus;
  /** Its market; of a vault the stock market. */
  readonly marketId: MarketId;
  readonly strategyId: StrategyId;
  /** The vault itself, or the vault of a loop. */
  readonly vaultId: StrategyId | null;
  readonly driftKinds: readonly DriftKind[];
  /** Exact values as displayed. */
  readonly valueUsd: string | null;
  readonly pnlUsd: string | null;
  readonly headroomPct: string | null;
  readonly openedAtMs: number | null;
}

export interface WalletRows {
  readonly portfolio: Portfolio;
  readonly rows: readonly ItemRow[];
}

/** List the rows of one wallet: its items, and after each vault its loops. */
export function rowsOfWallet(portfolio: Portfolio): readonly ItemRow[] {
  return itemsOf(portfolio).flatMap((item) => {
    if (item.kind === 'loop') return [loopRow(item, item.row?.equityVaultId ?? null)];
    return [
      {
        item,
        chainId: item.chainId,
        wallet: item.wallet,
        key: `${item.vaultId}-${item.status}`,
        status: item.status,
        marketId: item.vaultId.replace(EQUITY_PREFIX, '') as MarketId,
        strategyId: item.vaultId,
        vaultId: item.vaultId,
        driftKinds: item.loops.flatMap(({ drift }) => (drift ? [drift.kind] : [])),
        valueUsd: item.pnl.netValueUsd ?? null,
        pnlUsd: item.pnl.totalUsd ?? null,
        headroomPct: leastHeadroomPct(item),
        openedAtMs: oldest(item.loops.map(({ row }) => row?.openedAtMs ?? null)),
      },
      ...item.loops.map((loop) => loopRow(loop, item.vaultId)),
    ];
  });
}

/** Leave out loops whose vault is among the rows, because its sums contain them. */
export function wholeOf(rows: readonly ItemRow[]): readonly ItemRow[] {
  const inside = new Set<PortfolioItem>(rows.flatMap(({ item }) => (item.kind === 'vault' ? item.loops : [])));
  return inside.size === 0 ? rows : rows.filter(({ item }) => !inside.has(item));
}

/** The earliest of several times; `null` when none is known. */
export function oldest(moments: readonly (number | null)[]): number | null {
  const given = moments.filter((moment) => moment !== null);
  return given.length === 0 ? null : Math.min(...given);
}

function loopRow(item: PortfolioLoop, vaultId: StrategyId | null): ItemRow {
  const { position, drift, pnl, row } = item;
  return {
    item,
    chainId: position.chainId,
    wallet: position.wallet,
    key: position.positionId,
    status: position.status,
    marketId: position.marketId,
    strategyId: position.strategyId,
    vaultId,
    driftKinds: drift ? [drift.kind] : [],
    valueUsd: pnl.netValueUsd ?? null,
    pnlUsd: pnl.totalUsd ?? null,
    headroomPct: position.ltvHeadroomPct ?? null,
    openedAtMs: row?.openedAtMs ?? null,
  };
}
