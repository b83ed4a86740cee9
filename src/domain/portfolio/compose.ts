import { ZERO } from '../../shared/decimal.ts';
import type { StrategyId } from '../../shared/ids.ts';
import { findDrift } from '../drift/find.ts';
import type { LoopTags } from '../equity/loops.ts';
import type { EquityPosition } from '../equity/position.ts';
import type { HeldPosition, Position, WalletHoldings } from '../position/types.ts';
import { composeWallet } from '../position/wallet.ts';
import type { PortfolioContext } from './context.ts';
import { observedRow } from './observed-row.ts';
import { loopParts, type PnlParts, sumPnl, toPnl } from './pnl.ts';
import { resolveRows } from './resolve.ts';
import type {
  Portfolio,
  PortfolioItem,
  PortfolioLoop,
  PortfolioVault,
  RegisteredPosition,
  RegisteredRow,
} from './types.ts';
import { closedVaultParts, openVaultParts, statusOfEnded } from './vault-pnl.ts';

/**
 * Compose one wallet's portfolio from its holdings and its rows of the register. `soldInPart`: the indexes of positions of which a
 * part was sold, by their history.
 */
export function composePortfolio(
  context: PortfolioContext,
  holdings: WalletHoldings,
  registered: readonly RegisteredRow[],
  soldInPart?: ReadonlySet<number>,
): Portfolio {
  const { chain, sightings } = context;
  const rows = registered.map((row) => observedRow(row, sightings.nowMs));
  const tags = tagsOf(rows);
  const values = context.marketsAt(holdings.markets);
  const wallet = composeWallet(chain, values, holdings, tags);
  const { rowOf, otherMarketOf, unresolved } = resolveRows(context, holdings.positions, rows);
  const heldById = new Map(holdings.positions.map((held) => [held.id, held] as const));

  const loopOf = (own: Position, vaultId: StrategyId | null): PortfolioLoop & { readonly parts: PnlParts } => {
    const held = heldById.get(own.id) as HeldPosition;
    const row = rowOf.get(own.id) ?? null;
    const otherMarketId = otherMarketOf.get(own.id) ?? null;
    const { timestamp } = holdings.block;
    const parts = loopParts({
      held,
      row,
      market: context.market(held.marketId),
      composed: values.get(held.marketId),
      rewards: context.rewards(held.marketId),
      timestamp,
      soldInPart: soldInPart?.has(own.id),
    });
    return {
      kind: 'loop',
      position: own,
      row,
      drift: findDrift({ held, position: own, block: holdings.block, row, otherMarketId, vaultId, sightings }),
      pnl: toPnl(parts),
      parts,
    };
  };
  const withoutParts = ({ parts: _parts, ...loop }: PortfolioLoop & { readonly parts: PnlParts }): PortfolioLoop =>
    loop;

  const openVault = (equity: EquityPosition): PortfolioVault => {
    const loops = equity.yieldLoops.map((loop) => loopOf(loop, equity.strategyId));
    return {
      kind: 'vault',
      chainId: chain.chainId,
      wallet: wallet.wallet,
      vaultId: equity.strategyId,
      status: 'open',
      stockSymbol: equity.stock.symbol,
      equity,
      loops: loops.map(withoutParts),
      pnl: toPnl(openVaultParts(context, holdings, equity, loops)),
    };
  };
  const closedVault = (
    vaultId: StrategyId,
    loops: readonly (PortfolioLoop & { parts: PnlParts })[],
  ): PortfolioVault => {
    const vault = chain.equityVaults.find(({ id }) => id === vaultId);
    return {
      kind: 'vault',
      chainId: chain.chainId,
      wallet: wallet.wallet,
      vaultId,
      status: statusOfEnded(loops),
      stockSymbol: vault?.stock.displaySymbol,
      equity: null,
      loops: loops.map(withoutParts),
      pnl: toPnl(closedVaultParts(loops)),
    };
  };

  const ended = wallet.positions
    .filter(({ status }) => status !== 'open')
    .map((loop) => loopOf(loop, rowOf.get(loop.id)?.equityVaultId ?? null));
  const positions = wallet.positions
    .filter(({ status }) => status === 'open')
    .map((loop) => withoutParts(loopOf(loop, null)));
  const equityPositions = wallet.equityPositions.map(openVault);
  const closed = groupByVault(ended).map(({ vaultId, loops }): PortfolioItem => {
    const [only] = loops;
    return vaultId === null && only ? withoutParts(only) : closedVault(vaultId as StrategyId, loops);
  });

  const open = [...positions, ...equityPositions];
  return {
    chainId: chain.chainId,
    wallet: wallet.wallet,
    block: wallet.block,
    header: { ...totalDeposited(open), openCount: open.length },
    leftAuthorizations: wallet.leftAuthorizations,
    positions,
    equityPositions,
    closed,
    unresolved,
    pnl: sumPnl([...open, ...closed].map(({ pnl }) => pnl)),
  };
}

/** The vaults of rows, by the index of the position. */
function tagsOf(rows: readonly RegisteredPosition[]): LoopTags {
  return new Map(
    rows.flatMap(({ positionIndex, equityVaultId, marketId }) =>
      equityVaultId === null ? [] : [[positionIndex, { vaultId: equityVaultId, marketId }] as const],
    ),
  );
}

/** Group the ended loops of one vault, at the place of the newest one. */
function groupByVault<L extends { readonly row: RegisteredPosition | null }>(
  loops: readonly L[],
): readonly { readonly vaultId: StrategyId | null; readonly loops: readonly L[] }[] {
  const groups: { vaultId: StrategyId | null; loops: L[] }[] = [];
  for (const loop of loops) {
    const vaultId = loop.row?.equityVaultId ?? null;
    const group = vaultId === null ? undefined : groups.find((candidate) => candidate.vaultId === vaultId);
    if (group) group.loops.push(loop);
    else groups.push({ vaultId, loops: [loop] });
  }
  return groups;
}

function totalDeposited(open: readonly PortfolioItem[]): { totalDepositedUsd?: string | undefined } {
  const deposits = open.map(({ pnl }) => pnl.depositedUsd);
  if (deposits.some((deposit) => deposit === undefined)) return {};
  return { totalDepositedUsd: deposits.reduce((sum, deposit) => sum.plus(deposit ?? ''), ZERO).toFixed() };
}
