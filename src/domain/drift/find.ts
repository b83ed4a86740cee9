import type { MarketId, StrategyId } from '../../shared/ids.ts';
import type { RegisteredPosition } from '../portfolio/types.ts';
import type { HeldPosition, Position, PositionStatus, WalletHoldings } from '../position/types.ts';
import type { Drift, DriftKey, DriftKind, DriftSeverity, Sightings } from './types.ts';

export interface DriftInput {
  readonly held: HeldPosition;
  readonly position: Position;
  readonly block: WalletHoldings['block'];
  /** The row of this position; `null` = it has none. */
  readonly row: RegisteredPosition | null;
  /** Market of a row of the same index that is of another market; `null` = there is none. */
  readonly otherMarketId: MarketId | null;
  readonly vaultId: StrategyId | null;
  readonly sightings: Sightings;
}

/**
 * Compare a position on chain with its row; `null` = they agree. A liquidated position counts as ended, although the
 * contract's flag stays open.
 */
export function findDrift(input: DriftInput): Drift | null {
  const { position, row, sightings, otherMarketId } = input;
  const kind = kindOf(position.status, row);
  if (kind === null) return null;
  const { nowMs } = sightings;
  const seen = sightings.known.get(driftKey({ wallet: position.wallet, positionIndex: position.id, kind }));
  return {
    kind,
    severity: severityOf(kind, position.status),
    chainId: position.chainId,
    wallet: position.wallet,
    positionIndex: position.id,
    positionId: position.positionId,
    marketId: position.marketId,
    vaultId: input.vaultId,
    message: messageOf(kind, position.status, otherMarketId !== null),
    firstSeenMs: Math.min(seen?.firstSeenMs ?? nowMs, nowMs),
    lastSeenMs: nowMs,
    earlier: seen?.earlier ?? [],
    chain: chainEvidence(input),
    register: row && {
      isOpen: row.isOpen,
      depositedUsd: row.depositedUsd.plus(row.addedUsd).toFixed(),
      returnedUsd: row.returnedUsd.plus(row.removedUsd).toFixed(),
      createdAtMs: row.createdAtMs,
      updatedAtMs: row.updatedAtMs,
      closedAtMs: row.closedAtMs,
    },
    otherMarketId,
  };
}

/** Key of a disagreement, stable across readings. */
export function driftKey({ wallet, positionIndex, kind }: DriftKey): string {
  return `${wallet.toLowerCase()}-${positionIndex}-${kind}`;
}

function kindOf(status: PositionStatus, row: RegisteredPosition | null): DriftKind | null {
  if (row === null) return 'no_db_row';
  const isOpen = status === 'open';
  if (row.isOpen === isOpen) return null;
  return row.isOpen ? 'db_open_chain_closed' : 'db_closed_chain_open';
}

function severityOf(kind: DriftKind, status: PositionStatus): DriftSeverity {
  if (kind === 'db_closed_chain_open') return 'high';
  if (kind === 'no_db_row') return status === 'open' ? 'high' : 'low';
  return status === 'liquidated' ? 'high' : 'medium';
}

function messageOf(kind: DriftKind, status: PositionStatus, isOtherMarket: boolean): string {
  switch (kind) {
    case 'no_db_row':
      if (isOtherMarket)
        return `The position exists on the chain (${status}), and the row of its index in the register has another market.`;
      return `The position exists on the chain (${status}) and has no row in the register.`;
    case 'db_open_chain_closed':
      return `The position is open in the register and ${status} on the chain.`;
    case 'db_closed_chain_open':
      return 'The position is closed in the register and open on the chain.';
  }
}

function chainEvidence({ held, position, block }: DriftInput): Drift['chain'] {
  return {
    status: position.status,
    blockNumber: block.number,
    blockTimeMs: Number(block.timestamp) * 1_000,
    proxy: held.proxy,
    collateral: position.amountLeveragedCollateral,
    debt: position.amountLoan,
    netValueUsd: position.netValueUsd,
  };
}
